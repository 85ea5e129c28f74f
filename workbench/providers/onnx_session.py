"""One loaded ONNX sentence model: texts to token ids, token ids to vectors."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy
from tokenizers import Tokenizer

from workbench.errors import ProviderError, ProviderUnavailableError
from workbench.providers.onnx_files import OnnxFiles, read_file
from workbench.providers.wording import encodable, one_line

# Before the import: from 1.29 on it starts to write down what is run here and to send it to its maker, and
# its own disable_telemetry_events() comes after the first files and look-ups.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as runtime_errors

READY = "sentence_embedding"
PER_TOKEN = ("last_hidden_state", "token_embeddings")
KNOWN_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
SEVERE = 3  # onnxruntime's warnings go to standard error and say nothing a user can act on

_RUNTIME_ERRORS = (
    runtime_errors.Fail,
    runtime_errors.InvalidArgument,
    runtime_errors.InvalidGraph,
    runtime_errors.InvalidProtobuf,
    runtime_errors.NoSuchFile,
    runtime_errors.NotImplemented,
    runtime_errors.RuntimeException,
)


_loading = threading.Lock()


def load_session(files: OnnxFiles) -> SentenceSession:
    """The model, loaded and verified once per process however many embedders use it."""
    with _loading:
        return _load(files)


@functools.lru_cache(maxsize=4)
def _load(files: OnnxFiles) -> SentenceSession:
    return SentenceSession(files)


class SentenceSession:
    """Loads the files of a sentence model. Safe to use from several threads at once.

    Raises ProviderUnavailableError for files that are damaged or no sentence model.
    """

    def __init__(self, files: OnnxFiles) -> None:
        self._files = files
        self._tokenizer = _tokenizer(files)
        self._padding = self._tokenizer.token_to_id("[PAD]") or self._tokenizer.token_to_id("<pad>") or 0
        self._session = _session(files)
        self._inputs = {
            given.name: numpy.int32 if given.type == "tensor(int32)" else numpy.int64
            for given in self._session.get_inputs()
        }
        if unknown := sorted(set(self._inputs) - KNOWN_INPUTS):
            raise ProviderUnavailableError(
                f"{files.weights} needs unknown inputs ({', '.join(unknown)}): choose another model."
            )
        self._output, self._is_ready = self._choose_output()
        self.dimension = len(self.vectors([self.token_ids("a")])[0])

    def token_ids(self, text: str) -> list[int]:
        """Ids of the text's tokens, special tokens included; never cut."""
        ids: list[int] = self._tokenizer.encode(encodable(text)).ids
        return ids

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end character of each token, without special tokens."""
        offsets = self._tokenizer.encode(encodable(text), add_special_tokens=False).offsets
        return [(start, end) for start, end in offsets if end > start]

    def vectors(self, sequences: Sequence[Sequence[int]]) -> numpy.ndarray:
        """Array of shape (len(sequences), dimension), not yet of length 1.

        Mean over the tokens' last hidden states where the model has no sentence output of its own
        (Reimers & Gurevych 2019, Sentence-BERT).
        """
        longest = max(map(len, sequences))
        ids = numpy.full((len(sequences), longest), self._padding, numpy.int64)
        mask = numpy.zeros_like(ids)
        for row, sequence in enumerate(sequences):
            ids[row, : len(sequence)] = sequence
            mask[row, : len(sequence)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        feed = {name: given[name].astype(kind, copy=False) for name, kind in self._inputs.items()}
        try:
            output: numpy.ndarray = self._session.run([self._output], feed)[0]
        except _RUNTIME_ERRORS as error:
            raise ProviderError(
                f"The embedding model failed: {one_line(error)}. Choose another model."
            ) from error
        return output if self._is_ready else self._pool(output, mask)

    def _pool(self, hidden: numpy.ndarray, mask: numpy.ndarray) -> numpy.ndarray:
        if self._files.pooling == "cls":
            return hidden[:, 0]
        weights = mask[:, None, :].astype(numpy.float32)
        pooled: numpy.ndarray = (weights @ hidden)[:, 0] / mask.sum(axis=1, keepdims=True)
        return pooled

    def _choose_output(self) -> tuple[str, bool]:
        """The output to read, and whether it is one vector per text already."""
        ranks = {output.name: len(output.shape) for output in self._session.get_outputs()}
        if ranks.get(READY) == 2:
            return READY, True
        for name in (*PER_TOKEN, *ranks):
            if ranks.get(name) == 3:
                return name, False
        for name, rank in ranks.items():
            if rank == 2:
                return name, True
        raise ProviderUnavailableError(
            f"{self._files.weights} is no sentence model: it has no vectors to give."
        )


def _tokenizer(files: OnnxFiles) -> Any:
    content = read_file(files.tokenizer, sha256=files.tokenizer_sha256)
    try:
        tokenizer = Tokenizer.from_buffer(content)
    # The library raises nothing more exact than Exception for a file that is no tokenizer.
    except Exception as error:
        raise ProviderUnavailableError(f"{files.tokenizer} is no tokenizer: {one_line(error)}.") from error
    # The file carries its own limits (128 for MiniLM), which would cut texts in silence.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _session(files: OnnxFiles) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = SEVERE
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # A folder's model is loaded by path, because it may keep its weights in files beside it.
    source = (
        read_file(files.weights, sha256=files.weights_sha256) if files.weights_sha256 else str(files.weights)
    )
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except _RUNTIME_ERRORS as error:
        raise ProviderUnavailableError(f"{files.weights} is no usable model: {one_line(error)}.") from error
