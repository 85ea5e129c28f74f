from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench import InvalidInputError, MatchedReference, NotFoundError, Scope, UnmatchedReference, Workbench
from workbench.providers.fake_chat import FakeChat

Open = Callable[..., Workbench]

BIB = r"""
@article{muller2019arvenite,
  title = {A {S}tudy of Arvenite},
  author = {M{\"u}ller, {\"A}nne and {World Mineral Survey} and de Vries, Jan},
  journal = {Journal of \& for Minerals}, year = {2019}, pages = {10--20}, doi = {10.1000/ARV_1},
  file = {Full Text PDF:/home/someone/Zotero/storage/ABC/other-name.pdf:application/pdf}
}
@book{boltbook, title = {Everything on bolmarite}, author = {Bolt, Bo}, date = {2001-05},
  file = {Bolt:C\:\\Users\\bo\\bolmarite.pdf:application/pdf} }
@misc{stray, title = {A paper that nobody has}, year = 2020}
@article{broken, title = {never closed
"""
RIS = """\
TY  - CONF
AU  - Müller, Änne
TI  - A study of cendrite
T2  - Proceedings of the Mine
PY  - 2018/04//
SP  - 3
EP  - 9
UR  - https://doi.org/10.1000/cen
ID  - cen2018
ER  -
"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_bib_file_corrects_papers_matched_by_title_or_linked_file_and_lists_the_rest(
    wb: Workbench, tmp_path: Path
) -> None:
    report = wb.bibliography.add(written(tmp_path, "zotero.bib", BIB))
    assert report.matched == (
        MatchedReference("muller2019arvenite", "A Study of Arvenite", 1, "A study of arvenite", "title"),
        MatchedReference("boltbook", "Everything on bolmarite", 2, "A study of bolmarite", "file"),
    )
    assert report.unmatched == (
        UnmatchedReference("stray", "A paper that nobody has", "no paper fits by DOI, file or title"),
    )
    assert report.warnings == (
        "1 entry of the file could not be read: a brace, a quotation mark or an end is missing.",
    )
    assert len(report.to_frame()) == 3
    arvenite, bolmarite = wb.papers.get(1), wb.papers.get(2)
    assert (arvenite.title, arvenite.authors, arvenite.year, arvenite.doi) == (
        "A Study of Arvenite",
        ("Änne Müller", "World Mineral Survey", "Jan de Vries"),
        2019,
        "10.1000/arv_1",
    )
    assert (bolmarite.title, bolmarite.authors, bolmarite.year) == (
        "Everything on bolmarite",
        ("Bo Bolt",),
        2001,
    )
    row = wb.sql("SELECT title, authors, year, doi FROM papers WHERE paper_id = 1").iloc[0]
    assert (row["title"], list(row["authors"]), row["year"], row["doi"]) == (
        arvenite.title,
        list(arvenite.authors),
        2019,
        arvenite.doi,
    )
    citation = wb.ask("What is the melting point of arvenite?", scope=Scope.project(1)).citations[0]
    assert (citation.title, citation.authors, citation.year) == (
        arvenite.title,
        arvenite.authors,
        2019,
    )
    assert wb.doctor() == []


def test_a_ris_file_does_too_and_a_known_doi_is_surer_than_a_title(wb: Workbench, tmp_path: Path) -> None:
    file = written(tmp_path, "mendeley.ris", RIS)
    assert [(m.paper_id, m.by) for m in wb.bibliography.add(file).matched] == [(3, "title")]
    renamed = RIS.replace("A study of cendrite", "Another title for it")
    again = wb.bibliography.add(written(tmp_path, "again.ris", renamed))
    assert [(m.paper_id, m.by) for m in again.matched] == [(3, "doi")]
    paper = wb.papers.get(3)
    assert (paper.title, paper.authors, paper.year, paper.doi) == (
        "Another title for it",
        ("Änne Müller",),
        2018,
        "10.1000/cen",
    )


def test_what_a_user_imports_changes_no_other_users_papers(
    open_as: Open, mineral_files: list[Path], tmp_path: Path
) -> None:
    ann, bob = open_as("ann"), open_as("bob")
    bob.papers.add(mineral_files[0])
    before = bob.papers.get(1)
    ann.papers.share(3)
    file = written(tmp_path, "zotero.bib", BIB + "}}\n@misc{c, title={A study of cendrite}, year=1999}\n")
    ann.bibliography.add(file)
    assert bob.papers.get(1) == before
    assert list(bob.sql("SELECT year FROM papers ORDER BY paper_id")["year"].dropna()) == []
    assert bob.bibliography.add(written(tmp_path, "c.ris", RIS)).matched == (), "shared is not his own"


def test_a_title_given_by_the_user_stays_and_removing_the_paper_takes_the_data_with_it(
    wb: Workbench, tmp_path: Path, mineral_files: list[Path]
) -> None:
    paper = wb.papers.add(mineral_files[3], title="My dravosite")
    bib = "@article{d, title={A study of dravosite}, year={2011}, file={dravosite.pdf}}"
    assert wb.bibliography.add(written(tmp_path, "d.bib", bib)).matched[0].by == "file"
    assert (wb.papers.get(paper).title, wb.papers.get(paper).year) == ("My dravosite", 2011)
    wb.papers.remove(paper)
    assert wb.doctor() == []
    assert wb.papers.add(mineral_files[3]).year is None


@pytest.mark.parametrize("text", ["", "just words", "TY JOUR", "{}"])
def test_a_file_without_references_is_refused_and_changes_nothing(
    wb: Workbench, tmp_path: Path, text: str
) -> None:
    with pytest.raises(InvalidInputError, match="no references in this file"):
        wb.bibliography.add(written(tmp_path, "x.bib", text))
    with pytest.raises(InvalidInputError, match="cannot be read"):
        wb.bibliography.add(tmp_path / "missing.bib")


def test_a_project_goes_out_as_bibtex_that_comes_in_again_unchanged(wb: Workbench, tmp_path: Path) -> None:
    wb.bibliography.add(written(tmp_path, "zotero.bib", BIB))
    wb.notes.create("A thought", "Not a source.", project="Minerals")
    text = wb.bibliography.bibtex(Scope.project(1))
    assert text == (
        "@article{muller2019arvenite,\n"
        "  author = {Müller, Änne and {World Mineral Survey} and de Vries, Jan},\n"
        "  title = {A Study of Arvenite},\n"
        "  year = {2019},\n"
        "  doi = {10.1000/arv_1},\n"
        r"  journal = {Journal of \& for Minerals}," + "\n"
        "  pages = {10–20},\n"
        "  file = {arvenite.pdf},\n"
        "}\n"
        "\n"
        "@book{boltbook,\n"
        "  author = {Bolt, Bo},\n"
        "  title = {Everything on bolmarite},\n"
        "  year = {2001},\n"
        "  file = {bolmarite.pdf},\n"
        "}\n"
    )
    papers = wb.papers.list()
    report = wb.bibliography.add(written(tmp_path, "back.bib", text))
    assert [m.paper_id for m in report.matched] == [1, 2]
    assert (wb.papers.list(), wb.bibliography.bibtex(Scope.project(1))) == (papers, text)


def test_papers_without_an_import_get_keys_of_their_own_and_nothing_made_up(wb: Workbench) -> None:
    text = wb.bibliography.bibtex()
    assert text.count("@misc{") == 3
    assert "@misc{study,\n  title = {A study of arvenite},\n  file = {arvenite.pdf},\n}" in text
    assert "@misc{studya," in text
    assert "@misc{studyb," in text


def test_a_conversation_goes_out_as_markdown_with_pandocs_keys_and_its_bibtex(
    wb: Workbench, tmp_path: Path
) -> None:
    wb.bibliography.add(written(tmp_path, "zotero.bib", BIB))
    conversation = wb.conversations.create(Scope.project(1))
    answer = conversation.ask("What is the melting point of arvenite? Mail me@example.org")
    assert answer.citations[0].page == 2
    exported = wb.bibliography.conversation(conversation, name="talk.bib")
    assert exported.markdown.startswith('---\ntitle: "What is the melting point of arvenite?')
    assert 'bibliography: "talk.bib"\n---\n' in exported.markdown
    assert "## What is the melting point of arvenite? Mail me\\@example.org\n" in exported.markdown
    assert "[@muller2019arvenite, p. 2]" in exported.markdown
    assert "[1]" not in exported.markdown
    assert "@article{muller2019arvenite," in exported.bibtex
    assert wb.bibliography.conversation(conversation.id, name="talk.bib") == exported


def test_a_cited_paper_that_left_the_library_keeps_its_entry(wb: Workbench) -> None:
    conversation = wb.conversations.create(Scope.project(1))
    conversation.ask("What is the melting point of arvenite?")
    wb.papers.remove(1)
    exported = wb.bibliography.conversation(conversation)
    assert "[@study, p. 2]" in exported.markdown
    assert "@misc{study,\n  title = {A study of arvenite},\n  file = {arvenite.pdf},\n}\n" in exported.bibtex


def test_another_users_conversation_cannot_be_exported(open_as: Open) -> None:
    conversation = open_as("ann").conversations.create()
    with pytest.raises(NotFoundError, match="Conversation not found"):
        open_as("bob").bibliography.conversation(conversation.id)


def test_an_exported_conversation_says_where_each_answer_looked_whose_scope_is_not_its_own(
    open_as: Open,
) -> None:
    wb = open_as("ann", chat_model=FakeChat("It is hard. [1]"))
    ores = wb.projects.create("Ores")
    wb.papers.add_texts([{"title": "Zorblaxite", "text": "It is hard. Zorblaxite is hard."}], project=ores)
    talk = wb.conversations.create(Scope.project(ores), title="Ores")
    talk.ask("Is zorblaxite hard?")
    wb.conversations.update(talk, scope=Scope.ALL)
    talk.ask("Is zorblaxite very hard?")
    lines = wb.bibliography.conversation(talk).markdown.splitlines()
    told = [line for line in lines if line.startswith(("Asked in", "##"))]
    assert told == [
        "Asked in: All notes",
        "## Is zorblaxite hard?",
        "Asked in: Ores",
        "## Is zorblaxite very hard?",
    ]


def test_an_exported_or_shown_conversation_loads_and_runs_nothing_that_anybody_wrote_into_it(
    open_as: Open,
) -> None:
    hostile = (
        "![x](http://pixel.example/p.png) <script>alert(1)</script> \\input{/etc/hosts} "
        "\\![x](http://pixel.example) \\<img src=x> `x`{=latex}"
    )
    said = f"The hardness of zorblaxite is $7 \\pm \\frac{{1}}{{2}}$ units {hostile}."
    wb = open_as("ann", chat_model=FakeChat(f"{said} [1]"))
    wb.papers.add_texts([{"title": f"Zorblaxite {hostile}", "text": said}])
    talk = wb.conversations.create(Scope.ORPHANS, title=f"Ores {hostile[:90]}")
    answer = talk.ask(f"What is the hardness of zorblaxite? {hostile}")
    assert "\\input{/etc/hosts} \\![x]" in answer.text, "the words themselves stay as they are"
    exported = wb.bibliography.conversation(talk).markdown
    for shown in (exported, talk._repr_markdown_(), answer._repr_markdown_()):
        assert "zorblaxite" in shown
        assert "![" not in shown
        assert not re.search(r"<(?=[a-z/!?])", shown)
    assert "\\input" not in exported
    assert "{=" not in exported
    assert r"$7 \pm \frac{1}{2}$ units !&#91;x&#93;(http&#58;//pixel.example/p.png) &lt;script>" in exported
