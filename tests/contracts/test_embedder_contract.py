"""What every embedder promises, whatever makes its vectors."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import pytest

from tests.ollama_server import OllamaServer
from tests.providers.tiny_onnx import write_model
from workbench.errors import UnembeddableTextError
from workbench.interfaces import Embedder
from workbench.providers.fake_embedder import FakeEmbedder
from workbench.providers.ollama_embedder import OllamaEmbedder
from workbench.providers.onnx_embedder import OnnxEmbedder

REPAIR = "The protein repairs damaged DNA in human cells."
REPAIR_TOO = "Human cells need the protein for repairs of DNA."
BANK = "Revenue of the bank grew by ten percent last year."
WORDS = f"{REPAIR} {REPAIR_TOO} {BANK}".lower().replace(".", "").split()
STRANGE = [
    "",
    " \n",
    "a\x00b",
    "\ud800 lone",
    "🚀🚀",
    "北京大学的研究",
    "Mu\u0308ller",
    "<|endoftext|> [SEP]",
]

MakeEmbedder = Callable[[], Embedder]


@pytest.fixture(params=["onnx", "onnx folder", "ollama", "fake"])
def make_embedder(
    request: pytest.FixtureRequest, tmp_path: Path, ollama_server: OllamaServer
) -> MakeEmbedder:
    kind = request.param
    if kind == "onnx":
        return OnnxEmbedder
    if kind == "onnx folder":
        folder = write_model(tmp_path / "model", sorted(set(WORDS)), dimension=64, window=200)
        return lambda: OnnxEmbedder(folder)
    if kind == "ollama":
        return lambda: OllamaEmbedder(ollama_server.url, "nomic-embed-text")
    return lambda: FakeEmbedder(64)


@pytest.fixture
def embedder(make_embedder: MakeEmbedder) -> Embedder:
    return make_embedder()


def text_of_tokens(embedder: Embedder, tokens: int) -> str:
    """A text that the embedder counts as exactly so many tokens."""
    special = embedder.count_tokens("")
    per_word = embedder.count_tokens("of") - special
    assert per_word == 1
    return " ".join(["of"] * (tokens - special))


def test_documents_become_unit_float32_rows_in_the_order_given(embedder: Embedder) -> None:
    texts = [BANK, REPAIR, BANK, REPAIR_TOO]
    rows = embedder.embed_documents(texts)
    assert (rows.shape, rows.dtype) == ((4, embedder.dimension), numpy.dtype("float32"))
    assert numpy.allclose(numpy.linalg.norm(rows, axis=1), 1, atol=1e-5)
    singly = numpy.vstack([embedder.embed_documents([text]) for text in texts])
    assert numpy.allclose(rows, singly, atol=1e-3)


def test_no_texts_give_no_rows_of_the_right_width(embedder: Embedder) -> None:
    rows = embedder.embed_documents([])
    assert (rows.shape, rows.dtype) == ((0, embedder.dimension), numpy.dtype("float32"))


def test_a_query_becomes_one_unit_vector_and_the_same_again(embedder: Embedder) -> None:
    first = embedder.embed_query("Which protein repairs DNA?")
    assert (first.shape, first.dtype) == ((embedder.dimension,), numpy.dtype("float32"))
    assert numpy.isclose(numpy.linalg.norm(first), 1, atol=1e-5)
    kept = first.copy()
    first[:] = 0  # the caller's own copy
    assert numpy.allclose(embedder.embed_query("Which protein repairs DNA?"), kept, atol=1e-6)


def test_texts_on_one_subject_are_nearer_than_texts_on_two(embedder: Embedder) -> None:
    query = embedder.embed_query("the protein that repairs DNA in cells")
    repair, repair_too, bank = embedder.embed_documents([REPAIR, REPAIR_TOO, BANK])
    assert min(query @ repair, query @ repair_too) > query @ bank
    assert repair @ repair_too > repair @ bank


def test_a_text_that_fills_the_window_is_read_to_its_last_word(embedder: Embedder) -> None:
    filler = text_of_tokens(embedder, embedder.max_tokens - embedder.count_tokens("protein"))
    tail, other_tail = embedder.embed_documents([f"{filler} protein", f"{filler} bank"])
    assert not numpy.allclose(tail, other_tail, atol=1e-4)


def test_a_text_over_the_window_is_refused_by_its_index_and_never_cut(embedder: Embedder) -> None:
    longest = text_of_tokens(embedder, embedder.max_tokens)
    assert embedder.count_tokens(longest) == embedder.max_tokens
    assert embedder.embed_documents([longest]).shape == (1, embedder.dimension)
    with pytest.raises(UnembeddableTextError, match=f"Text 2 has {embedder.max_tokens + 1} tokens") as raised:
        embedder.embed_documents([REPAIR, longest, f"{longest} of", BANK])
    assert raised.value.index == 2
    with pytest.raises(UnembeddableTextError, match=r"The question has 500\d tokens .*: shorten it"):
        embedder.embed_query(" ".join(["of"] * 5000))


def test_token_spans_stand_in_order_inside_the_text(embedder: Embedder) -> None:
    for text in [REPAIR, "IL-6 rose 3.14-fold\n(p<0.05); see Mu\u0308ller 北京大学 🚀", *STRANGE]:
        spans = list(embedder.token_spans(text))
        edges = [edge for span in spans for edge in span]
        assert edges == sorted(edges)
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert len(spans) <= embedder.count_tokens(text)


def test_every_word_is_inside_some_token_span(embedder: Embedder) -> None:
    spans = embedder.token_spans(REPAIR)
    covered = "".join(REPAIR[start:end] for start, end in spans)
    assert covered == REPAIR.replace(" ", "")


def test_strange_texts_get_vectors_too(embedder: Embedder) -> None:
    rows = embedder.embed_documents(STRANGE)
    assert rows.shape == (len(STRANGE), embedder.dimension)
    assert numpy.allclose(numpy.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_threads_may_share_one_embedder(embedder: Embedder) -> None:
    texts = [f"{word} {other}" for word in WORDS[:4] for other in WORDS[4:9]]
    alone = embedder.embed_documents(texts)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: embedder.embed_documents([text])[0], texts))
    assert numpy.allclose(alone, numpy.vstack(together), atol=1e-3)


def test_two_objects_for_one_model_have_one_name_and_the_same_vectors(make_embedder: MakeEmbedder) -> None:
    first, second = make_embedder(), make_embedder()
    assert first.name == second.name
    assert (first.dimension, first.max_tokens) == (second.dimension, second.max_tokens)
    assert numpy.allclose(first.embed_documents([REPAIR]), second.embed_documents([REPAIR]), atol=1e-6)
