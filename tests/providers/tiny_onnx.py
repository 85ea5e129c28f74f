"""Writes small ONNX sentence models to a folder, byte by byte: no package that exports models is needed.

Each is a table of word vectors: Gather, and for a model with its own sentence output a mean over the tokens.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

FLOAT, INT64 = 1, 7
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def write_model(
    folder: Path,
    words: Sequence[str],
    *,
    dimension: int = 16,
    sentence_output: bool = False,
    nan_word: str | None = None,
    window: int | None = 64,
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
) -> Path:
    """A model that knows ``words``, with random vectors that are the same every time; returns ``folder``.

    Its tokenizer file asks for truncation after 8 tokens and for padding, as real ones do. ``nan_word``
    has a vector of NaN. ``window`` is written to sentence_bert_config.json.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *words])}
    table = numpy.random.default_rng(1).standard_normal((len(vocabulary), dimension)).astype(numpy.float32)
    if nan_word is not None:
        table[vocabulary[nan_word]] = numpy.nan
    (folder / "model.onnx").write_bytes(_model(table, sentence_output, inputs))
    _tokenizer(vocabulary).save(str(folder / "tokenizer.json"))
    if window is not None:
        (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": window}))
    return folder


def _tokenizer(vocabulary: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    return tokenizer


def _model(table: numpy.ndarray, sentence_output: bool, inputs: Sequence[str]) -> bytes:
    hidden = "last_hidden_state"
    nodes = [_node("Gather", ["table", "input_ids"], hidden)]
    output = _value(hidden, FLOAT, ["batch", "sequence", table.shape[1]])
    if sentence_output:
        over_tokens = _text(1, "axes") + _number(8, 1) + _number(20, 7)
        keep = _text(1, "keepdims") + _number(3, 0) + _number(20, 2)
        nodes.append(_node("ReduceMean", [hidden], "sentence_embedding", over_tokens, keep))
        output = _value("sentence_embedding", FLOAT, ["batch", table.shape[1]])
    graph = b"".join(_bytes(1, node) for node in nodes) + _text(2, "words") + _bytes(5, _tensor(table))
    graph += b"".join(_bytes(11, _value(name, INT64, ["batch", "sequence"])) for name in inputs)
    graph += _bytes(12, output)
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _text(1, "") + _number(2, 13))


def _node(kind: str, inputs: Sequence[str], output: str, *attributes: bytes) -> bytes:
    node = b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(4, kind)
    return node + b"".join(_bytes(5, attribute) for attribute in attributes)


def _tensor(table: numpy.ndarray) -> bytes:
    sizes = b"".join(_number(1, size) for size in table.shape)
    return sizes + _number(2, FLOAT) + _text(8, "table") + _bytes(9, table.astype("<f4").tobytes())


def _value(name: str, kind: int, sizes: Sequence[str | int]) -> bytes:
    parts = [_text(2, size) if isinstance(size, str) else _number(1, size) for size in sizes]
    shape = b"".join(_bytes(1, part) for part in parts)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += struct.pack("B", value & 127 | 128)
        value >>= 7
    return out + struct.pack("B", value)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())
