from __future__ import annotations

import numpy
import pytest

from tests.ollama_server import OllamaServer
from workbench.errors import ProviderError, ProviderUnavailableError, UnembeddableTextError
from workbench.providers.ollama_embedder import OllamaEmbedder
from workbench.providers.token_estimate import estimated_spans


@pytest.fixture
def nomic(ollama_server: OllamaServer) -> OllamaEmbedder:
    return OllamaEmbedder(ollama_server.url, "nomic-embed-text")


def inputs(server: OllamaServer) -> list[list[str]]:
    """The batches of texts sent so far, without the one that asked for the dimension."""
    return [body["input"] for body in server.sent("/api/embed") if body["input"] != ["dimension"]]


def test_nomic_gets_its_task_before_documents_and_queries_and_its_name_says_so(
    nomic: OllamaEmbedder, ollama_server: OllamaServer
) -> None:
    nomic.embed_documents(["p53 binds DNA"])
    nomic.embed_query("What binds DNA?")
    assert inputs(ollama_server) == [["search_document: p53 binds DNA"], ["search_query: What binds DNA?"]]
    assert nomic.name == "ollama/nomic-embed-text [search_document: |search_query: ]"


def test_other_models_get_the_bare_text(ollama_server: OllamaServer) -> None:
    ollama_server.models["all-minilm:latest"] = ("embedding",)
    embedder = OllamaEmbedder(ollama_server.url, "all-minilm")
    embedder.embed_documents(["p53 binds DNA"])
    embedder.embed_query("What binds DNA?")
    assert inputs(ollama_server) == [["p53 binds DNA"], ["What binds DNA?"]]
    assert embedder.name == "ollama/all-minilm"


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("nomic-embed-text:latest", "ollama/nomic-embed-text [search_document: |search_query: ]"),
        ("nomic-embed-text:v1.5", "ollama/nomic-embed-text:v1.5 [search_document: |search_query: ]"),
        ("someone/nomic-embed-text", "ollama/someone/nomic-embed-text [search_document: |search_query: ]"),
        ("mxbai-embed-large", "ollama/mxbai-embed-large"),
    ],
)
def test_the_name_holds_model_tag_and_prefixes(model: str, name: str) -> None:
    assert OllamaEmbedder("http://127.0.0.1:1", model).name == name


def test_other_prefixes_are_another_embedder() -> None:
    bare = OllamaEmbedder("http://127.0.0.1:1", "nomic-embed-text", document_prefix="", query_prefix="")
    assert bare.name == "ollama/nomic-embed-text"


def test_many_texts_go_in_bounded_batches_with_the_same_options_every_time(
    nomic: OllamaEmbedder, ollama_server: OllamaServer
) -> None:
    ollama_server.embed_faults.max_inputs = 16
    texts = [f"text number {n}" for n in range(40)]
    rows = nomic.embed_documents(texts)
    nomic.embed_query("which?")
    assert [len(batch) for batch in inputs(ollama_server)] == [16, 16, 8, 1]
    assert numpy.allclose(
        rows[[0, 17, 39]], nomic.embed_documents([texts[0], texts[17], texts[39]]), atol=1e-6
    )
    sent = ollama_server.sent("/api/embed")
    assert all(body["options"] == {"num_ctx": 2048} for body in sent)
    assert all(body["keep_alive"] == "15m" and body["truncate"] is False for body in sent)


def test_window_and_dimension_are_asked_for_once(nomic: OllamaEmbedder, ollama_server: OllamaServer) -> None:
    for _ in range(3):
        nomic.embed_documents(["p53"])
    assert nomic.dimension == 768
    assert nomic.max_tokens < 2048
    paths = [request.path for request in ollama_server.requests]
    assert paths == ["/api/show", *["/api/embed"] * 4]


def test_the_window_is_the_models_own_but_never_more_than_servers_read_by_default(
    ollama_server: OllamaServer,
) -> None:
    ollama_server.embed_context = 512
    assert 400 < OllamaEmbedder(ollama_server.url, "nomic-embed-text").max_tokens < 512
    ollama_server.embed_context = 32_768
    assert 1900 < OllamaEmbedder(ollama_server.url, "nomic-embed-text").max_tokens < 2048


def test_tokens_are_rather_counted_too_many_than_too_few() -> None:
    def pieces(text: str) -> list[str]:
        return [text[start:end] for start, end in estimated_spans(text)]

    assert pieces("hydroxychloroquine of 3.14") == [
        *("hyd", "ro", "xy", "ch", "lo", "ro", "qu", "in", "e"),
        *("of", "3", ".", "1", "4"),
    ]
    assert pieces("北京 é🚀") == ["北", "京", "é", "🚀"]
    assert pieces("  \n") == []


@pytest.mark.parametrize("text", ["漢字" * 1500, "0.123456789" * 200, "x" * 10_000])
def test_a_long_text_without_spaces_is_refused_before_it_is_sent(
    nomic: OllamaEmbedder, ollama_server: OllamaServer, text: str
) -> None:
    with pytest.raises(UnembeddableTextError, match="Text 1 has") as raised:
        nomic.embed_documents(["fine", text])
    assert raised.value.index == 1
    assert inputs(ollama_server) == []


# --- the server misbehaves --------------------------------------------------------------------


def test_a_batch_that_fails_with_nan_is_narrowed_down_to_the_bad_text(
    nomic: OllamaEmbedder, ollama_server: OllamaServer
) -> None:
    ollama_server.embed_faults.nan_word = "Bitcoin"
    texts = [f"paper {n}" for n in range(20)]
    texts[18] = "Bitcoin: a peer-to-peer system"
    with pytest.raises(UnembeddableTextError, match="text 18: its vector is not a number") as raised:
        nomic.embed_documents(texts)
    assert raised.value.index == 18
    assert len(inputs(ollama_server)) <= 8
    del texts[18]
    assert nomic.embed_documents(texts).shape == (19, 768)


def test_a_vector_of_nan_with_a_good_status_is_an_error_too(
    nomic: OllamaEmbedder, ollama_server: OllamaServer
) -> None:
    ollama_server.embed_faults.nan_in_reply = "Bitcoin"
    with pytest.raises(UnembeddableTextError, match="no usable vector") as raised:
        nomic.embed_documents(["fine", "Bitcoin", "fine too"])
    assert raised.value.index == 1


def test_a_text_the_server_finds_too_long_is_named(
    nomic: OllamaEmbedder, ollama_server: OllamaServer
) -> None:
    assert nomic.max_tokens > 1000
    ollama_server.embed_context = 50  # the true limit is below the reported one
    with pytest.raises(UnembeddableTextError, match="text 2: it is longer than the model reads") as raised:
        nomic.embed_documents(["fine", "fine too", "of " * 100, "and this"])
    assert raised.value.index == 2


def test_a_server_that_cuts_in_silence_is_found_out(
    nomic: OllamaEmbedder, ollama_server: OllamaServer
) -> None:
    assert nomic.max_tokens > 1000
    ollama_server.embed_context = 50
    ollama_server.embed_faults.cut_silently = True
    with pytest.raises(
        UnembeddableTextError, match="the server read only 52 tokens of at least 101"
    ) as raised:
        nomic.embed_documents(["fine", "of " * 100, "fine too"])
    assert raised.value.index == 1


def test_missing_vectors_are_an_error(nomic: OllamaEmbedder, ollama_server: OllamaServer) -> None:
    assert nomic.dimension == 768
    ollama_server.embed_faults.lost_vectors = 1
    with pytest.raises(ProviderError, match="gave 2 vectors for 3 texts"):
        nomic.embed_documents(["a", "b", "c"])


def test_a_model_that_was_replaced_by_one_of_another_size_is_an_error(
    nomic: OllamaEmbedder, ollama_server: OllamaServer
) -> None:
    assert nomic.dimension == 768
    ollama_server.embed_dimension = 384
    with pytest.raises(ProviderError, match="vectors of 384 numbers and before of 768"):
        nomic.embed_documents(["a"])


def test_a_server_that_is_down_or_lacks_the_model_says_what_to_do(
    nomic: OllamaEmbedder, ollama_server: OllamaServer
) -> None:
    with pytest.raises(ProviderUnavailableError, match="get it with `ollama pull bge-m3`"):
        OllamaEmbedder(ollama_server.url, "bge-m3").embed_query("p53")
    ollama_server.stop()
    with pytest.raises(ProviderUnavailableError, match="start Ollama with `ollama serve`"):
        nomic.embed_documents(["p53"])


def test_it_works_again_when_the_server_is_back(nomic: OllamaEmbedder, ollama_server: OllamaServer) -> None:
    assert nomic.embed_documents(["p53"]).shape == (1, 768)
    ollama_server.stop()
    with pytest.raises(ProviderUnavailableError):
        nomic.embed_documents(["p53"])
    ollama_server.start()
    assert nomic.embed_documents(["p53"]).shape == (1, 768)


def test_other_failures_are_one_line_and_time_is_bounded(ollama_server: OllamaServer) -> None:
    hasty = OllamaEmbedder(ollama_server.url, "nomic-embed-text", timeout=1.0)
    assert hasty.dimension == 768
    ollama_server.embed_faults.delay = 5
    with pytest.raises(ProviderUnavailableError, match="did not answer in time"):
        hasty.embed_query("p53")
    ollama_server.embed_faults.delay = 0
    ollama_server.embed_faults.status = 500
    with pytest.raises(
        ProviderUnavailableError, match=r"could not run nomic-embed-text \(embedding failed\)"
    ):
        hasty.embed_query("p53")


def test_a_repeated_query_is_not_sent_again_and_a_failed_one_is(
    nomic: OllamaEmbedder, ollama_server: OllamaServer
) -> None:
    ollama_server.embed_faults.nan_word = "p53"
    with pytest.raises(UnembeddableTextError):
        nomic.embed_query("p53")
    ollama_server.embed_faults.nan_word = None
    first = nomic.embed_query("p53")
    before = len(ollama_server.requests)
    assert numpy.array_equal(nomic.embed_query("p53"), first)
    assert len(ollama_server.requests) == before


def test_a_closed_embedder_opens_again_when_used(nomic: OllamaEmbedder) -> None:
    assert nomic.embed_query("p53").shape == (768,)
    nomic.close()
    nomic.close()
    assert nomic.embed_query("another").shape == (768,)
