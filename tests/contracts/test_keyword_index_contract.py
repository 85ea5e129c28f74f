"""What every keyword index promises, over a library in memory and over a real one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.contracts.index_libraries import DuckDBLibrary, Library, MemoryLibrary
from workbench.indexes.keyword import KeywordTantivyIndex
from workbench.interfaces import KeywordIndex
from workbench.retrieval.terms import query_terms, terms

Open = Callable[[], KeywordIndex]

KINDS = ["tantivy", "tantivy without a folder", "tantivy over DuckDB"]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def library(kind: str, tmp_path: Path) -> Library:
    return DuckDBLibrary(tmp_path / "library.duckdb") if "DuckDB" in kind else MemoryLibrary()


@pytest.fixture
def open_index(kind: str, library: Library, tmp_path: Path) -> Open:
    """Opens one more index object over the same folder, as another process would."""
    if kind == "tantivy without a folder":
        (tmp_path / "a file").touch()
        return lambda: KeywordTantivyIndex(library.source, tmp_path / "a file" / "derived")
    return lambda: KeywordTantivyIndex(library.source, tmp_path / "derived")


def found(index: KeywordIndex, query: str, papers: list[int] | None = None, limit: int = 1000) -> list[int]:
    """Papers of the hits, each once, best first."""
    return list(dict.fromkeys(hit.paper_id for hit in index.search(query, papers=papers, limit=limit)))


def test_a_chunk_is_found_by_the_words_it_holds(library: Library, open_index: Open) -> None:
    ducks = library.add(["The mallard is a duck.", "It swims."])
    cells = library.add(["Mitochondria make energy.", "A duck does not."])
    index = open_index()
    [hit] = index.search("mallards", papers=None, limit=10)
    assert (hit.paper_id, hit.chunk_id) == (ducks, library.source.chunk_ids(ducks)[0])
    assert hit.score > 0
    assert sorted(found(index, "ducks")) == [ducks, cells]
    assert found(index, "mitochondrial energy") == [cells]
    assert found(index, "quasar") == []


def test_the_rarer_and_denser_match_comes_first(library: Library, open_index: Open) -> None:
    library.add_all(([f"protein folding study number {n} of many"], None) for n in range(20))
    dense = library.add(["chaperone chaperone protein"])
    sparse = library.add(["a chaperone among a great many other unrelated words in a long sentence, protein"])
    assert found(open_index(), "chaperone protein")[:2] == [dense, sparse]


def test_title_and_heading_count_like_the_text_and_a_word_of_both_is_best(
    library: Library, open_index: Open
) -> None:
    library.add(["more of the same here"], title="On ducks")
    titled = library.add(["nothing of note here"], title="On telomeres")
    texted = library.add(["telomeres of note"], title="On geese here")
    both = library.add(["telomeres of note"], title="On telomeres")
    index = open_index()
    assert found(index, "telomere")[0] == both
    assert sorted(found(index, "telomere")[1:]) == sorted([titled, texted])


IDENTIFIERS = [
    "IL-6 was measured.",
    "IL-2 was given.",
    "p53 is mutated.",
    "CO2 rose.",
    "In 2019.",
    "GPT-3",
    "GPT-4",
]


@pytest.mark.parametrize(
    ("query", "place"),
    [("IL-6", 0), ("IL-2", 1), ("p53", 2), ("CO2", 3), ("2019", 4), ("GPT-3", 5), ("GPT-4", 6)],
)
def test_an_identifier_finds_only_its_own_paper(
    library: Library, open_index: Open, query: str, place: int
) -> None:
    papers = library.add_all(([text], None) for text in IDENTIFIERS)
    assert found(open_index(), query) == [papers[place]]


def test_scripts_without_spaces_and_accents_are_found(library: Library, open_index: Open) -> None:
    chinese, german, korean = library.add_all(
        (text, None) for text in (["北京大学的研究"], ["Mu\u0308ller et al."], ["서울대학교의 연구"])
    )
    index = open_index()
    assert found(index, "大学") == [chinese]
    assert found(index, "Muller") == found(index, "Müller") == [german]
    assert found(index, "대학교") == [korean]


def test_hits_stay_inside_the_scope_however_good_the_others_are(library: Library, open_index: Open) -> None:
    inside = library.add(["one passing mention of graphene among other words in this text"])
    outside = library.add_all((["graphene graphene"], None) for _ in range(40))
    index = open_index()
    assert found(index, "graphene", [inside]) == [inside]
    assert found(index, "graphene", [inside], limit=1) == [inside]
    assert set(found(index, "graphene", [inside, *outside[:3]])) == {inside, *outside[:3]}
    assert len(found(index, "graphene", None)) == 41


def test_an_empty_scope_and_unknown_papers_have_no_hits(library: Library, open_index: Open) -> None:
    paper = library.add(["graphene"])
    index = open_index()
    assert index.search("graphene", papers=[], limit=5) == []
    assert index.search("graphene", papers=[paper + 1000, -1, 0], limit=5) == []
    assert found(index, "graphene", [paper + 1000, -1, paper, paper]) == [paper]


def test_the_limit_cuts_and_may_be_larger_than_the_library(library: Library, open_index: Open) -> None:
    library.add(["graphene"] * 5)
    index = open_index()
    assert index.search("graphene", papers=None, limit=0) == []
    assert len(index.search("graphene", papers=None, limit=3)) == 3
    assert len(index.search("graphene", papers=None, limit=10_000_000)) == 5


@pytest.mark.parametrize(
    "query", ["", "  ", "…?!", "\x00", "\ud83d", "the of and", 'a" OR (b', "*", "a:b -c +d"]
)
def test_any_query_is_answered(library: Library, open_index: Open, query: str) -> None:
    library.add(["plain words alone"])
    assert open_index().search(query, papers=None, limit=5) == []


def test_a_query_of_stop_words_alone_is_searched(library: Library, open_index: Open) -> None:
    paper = library.add(["to whom it may concern"])
    assert found(open_index(), "it is") == [paper]


def test_equal_scores_are_ordered_by_chunk_id(library: Library, open_index: Open) -> None:
    library.add_all((["graphene oxide"] * copies, None) for copies in (3, 9, 1, 60))
    index = open_index()
    everything = index.search("graphene", papers=None, limit=100)
    assert [hit.chunk_id for hit in everything] == sorted(hit.chunk_id for hit in everything)
    assert len(everything) == 73
    for limit in (1, 5, 20, 72):
        assert index.search("graphene", papers=None, limit=limit) == everything[:limit]


def test_an_empty_library_answers_and_the_first_paper_is_found_at_once(
    library: Library, open_index: Open
) -> None:
    index = open_index()
    assert index.search("mallard", papers=None, limit=5) == []
    assert index.search("mallard", papers=[1], limit=5) == []
    paper = library.add(["a mallard"])
    assert found(index, "mallard") == [paper]


def test_every_change_is_seen_by_the_next_search(library: Library, open_index: Open) -> None:
    index = open_index()
    first = library.add(["the mallard"])
    assert found(index, "mallard") == [first]
    second = library.add(["the mitochondria"])
    assert (found(index, "mallard"), found(index, "mitochondria")) == ([first], [second])
    library.replace(first, ["the quasar"])
    assert (found(index, "mallard"), found(index, "quasar")) == ([], [first])
    library.remove(second)
    assert (found(index, "mitochondria"), found(index, "the")) == ([], [first])
    again = library.add(["the mitochondria"])
    assert found(index, "mitochondria") == [again]


def test_a_replaced_paper_gives_its_new_chunks_only(library: Library, open_index: Open) -> None:
    paper = library.add(["quasar one", "quasar two"])
    index = open_index()
    index.search("quasar", papers=None, limit=9)
    library.replace(paper, ["quasar three"])
    assert [
        hit.chunk_id for hit in index.search("quasar", papers=[paper], limit=9)
    ] == library.source.chunk_ids(paper)


def test_removed_text_is_found_nowhere(library: Library, open_index: Open) -> None:
    secret = library.add(["the xylophonesecret word"], title="xylophonesecret")
    library.add(["another paper"])
    index = open_index()
    assert found(index, "xylophonesecret") == [secret]
    library.remove(secret)
    for scope in (None, [secret]):
        assert found(index, "xylophonesecret", scope) == []


def test_a_known_revision_saves_asking_and_changes_nothing(library: Library, open_index: Open) -> None:
    papers = library.add_all(([f"graphene {n}"], None) for n in range(4))
    index = open_index()
    library.remove(papers[0])
    revision = library.source.revision()
    expected = index.search("graphene", papers=None, limit=8)
    for known in (revision, revision - 1, 0, None):
        hits = index.search("graphene", papers=None, limit=8, revision=known)
        assert hits == expected


def test_two_objects_over_one_folder_see_every_change(library: Library, open_index: Open) -> None:
    first, second = open_index(), open_index()
    papers: list[int] = []
    for n in range(6):
        papers.append(library.add([f"graphene and number{n}"]))
        if n % 3 == 2:
            library.remove(papers.pop(0))
        for index in (first, second) if n % 2 else (second, first):
            assert sorted(found(index, "graphene")) == papers
            assert found(index, f"number{n}") == papers[-1:]


def test_what_is_found_is_what_holds_a_term_of_the_query(library: Library, open_index: Open) -> None:
    texts = [
        "TNF-α and IFN-γ in COVID-19 patients",
        "A state-of-the-art model with 64.6 GB of memory",
        "FlashAttention, RoBERTa and HNSW",
        "21,015,324 rows; 78.4% accuracy; p < 0.05",
        "Исследование клеток",
        "oﬃce eﬀect ﬁeld",
    ]
    papers = dict(zip(library.add_all(([text], None) for text in texts), texts, strict=True))
    index = open_index()
    queries = [
        "TNFα",
        "covid",
        "state of the art",
        "64.6GB",
        "attention",
        "roberta",
        "21015324",
        "office",
        "клеток",
    ]
    for query in queries:
        asked = set(query_terms(query))
        expected = {paper for paper, text in papers.items() if asked & set(terms(text))}
        assert expected
        assert set(found(index, query)) == expected


def test_threads_get_complete_answers_while_the_library_changes(library: Library, open_index: Open) -> None:
    kept = library.add_all(([f"graphene {n}"], None) for n in range(5))
    index = open_index()

    def search(_: int) -> list[int]:
        return sorted(found(index, "graphene", kept))

    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(search, range(24))
        for n in range(3):
            library.remove(library.add([f"graphene too {n}"]))
        assert list(answers) == [kept] * 24
