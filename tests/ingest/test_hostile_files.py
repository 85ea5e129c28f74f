"""Files made to be slow, or to hide text: read in time and whole, or refused with the reason."""

from __future__ import annotations

import time
import zipfile
from pathlib import Path

import docx
import pytest

from workbench.errors import DocumentError
from workbench.ingest.chunking import chunk_document
from workbench.ingest.reading import read_document, read_text_document
from workbench.providers.token_estimate import estimated_spans

QUICK = 10.0  # seconds; what is mended here took minutes


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("spaces.txt", " " * 1_000_000 + "A sentence here."),
        ("tabs.bib", "@article{x,\n" + "\t" * 1_000_000 + "A sentence here.}"),
        ("heading.md", "# A" + " " * 200_000 + "sentence here."),
        ("comments.html", "<!---->" * 1100 + "A sentence here."),
    ],
)
def test_a_long_run_of_one_sign_takes_no_longer_than_prose(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    start = time.perf_counter()
    document = read_document(path, name=name)
    chunks = chunk_document(document, token_spans=estimated_spans)
    assert time.perf_counter() - start < QUICK
    assert "sentence here." in chunks[-1].text


@pytest.mark.parametrize("tag", ["div", "span", "custom-tag", "TABLE"])
def test_html_that_no_parser_gets_through_in_time_is_refused_at_once(tmp_path: Path, tag: str) -> None:
    path = tmp_path / "deep.html"
    path.write_text("<html><body>" + f"<{tag}>" * 200_000 + "A sentence here.", "utf-8")
    start = time.perf_counter()
    with pytest.raises(DocumentError, match="^the page is nested too deeply to be read$"):
        read_document(path, name="deep.html")
    assert time.perf_counter() - start < QUICK


def test_html_that_leaves_tags_open_as_it_may_is_no_deep_nesting(tmp_path: Path) -> None:
    path = tmp_path / "old.html"
    path.write_text("<html><body>" + "<p>One paragraph.<br><img>" * 20_000 + "<p>The last one.", "utf-8")
    assert read_document(path, name="old.html").pages[-1].text.endswith("The last one.")


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("# Plain", "Plain"),
        ("   ### Closed ###  ", "Closed"),
        ("# C#", "C#"),
        ("## ", None),
        ("#none", None),
        ("    # code", None),
        ("# #", "#"),
    ],
)
def test_a_markdown_heading_is_its_line_without_number_signs(line: str, heading: str | None) -> None:
    assert read_text_document(f"{line}\n\nText below.", kind="md").title == heading


def test_every_column_of_a_wide_table_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    names = [f"c{n}" for n in range(3000)]
    path.write_text(",".join(names) + "\n" + ",".join(f"v{n}" for n in range(3000)) + ",beyond\n", "utf-8")
    document = read_document(path, name="wide.csv")
    text = " ".join(page.text for page in document.pages)
    assert "; c2999: v2999; beyond" in " ".join(text.split())


def word_file(path: Path, *, doctype: str, text: str) -> None:
    """A Word file whose only paragraph holds ``text``, XML as it is, below a document type."""
    plain = path.with_suffix(".plain")
    made = docx.Document()
    made.add_paragraph("PLACE")
    made.save(str(plain))
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w") as target:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename == "word/document.xml":
                head, rest = data.decode("utf-8").split("?>", 1)
                data = f"{head}?>{doctype}{rest}".replace("PLACE", text).encode("utf-8")
            target.writestr(entry, data)


def test_a_word_file_with_entities_is_refused_and_not_cut(tmp_path: Path) -> None:
    path = tmp_path / "entities.docx"
    doctype = '<!DOCTYPE w:document [<!ENTITY x "expanded">]>'
    word_file(path, doctype=doctype, text="Before &x; behind.")
    with pytest.raises(DocumentError, match="declares a document type") as refused:
        read_document(path, name="entities.docx")
    assert "\n" not in str(refused.value)


def test_text_behind_a_comment_in_a_word_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "comment.docx"
    word_file(path, doctype="", text="Before <!-- remark -->and <?mark?>behind.")
    assert [page.text for page in read_document(path, name="comment.docx").pages] == ["Before and behind."]
