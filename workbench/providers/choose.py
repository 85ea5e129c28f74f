"""Which embedder and which chat model a workbench uses, and what to tell the user about it."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from workbench.errors import InvalidInputError, ProviderUnavailableError, SettingsError
from workbench.interfaces import ChatModel, Embedder
from workbench.providers.ollama_connection import (
    PROBE_TIMEOUT,
    full_name,
    installed_models,
    model_facts,
    not_answering,
    not_pulled,
)
from workbench.settings import Settings

FAKE_DIMENSION = 64
PATIENT_TIMEOUT = 3.0  # s, where Ollama was asked for by name; a busy server answers late

Choice = tuple[Embedder | None, tuple[str, ...]]
ChatChoice = tuple[ChatModel | None, tuple[str, ...]]


def choose_embedder(settings: Settings, *, recorded: str | None) -> Choice:
    """The embedder for a library, and warnings.

    ``recorded`` is the name of the embedder the library's vectors were made by, if it has any. Then only
    that embedder will do, whatever the settings say: where it cannot be had the result is ``None``, for
    searching by keywords. Without one the settings decide: ``auto`` takes Ollama's model where a server
    answers and has it, else the built-in one.

    Raises SettingsError or ProviderUnavailableError for an explicit setting that cannot be met.
    """
    setting = settings.embedder
    if setting not in {"auto", "onnx", "ollama", "fake"} and not Path(setting).expanduser().is_dir():
        raise SettingsError(
            f"WORKBENCH_EMBEDDER={setting!r}: allowed are auto, onnx, ollama, fake, or the folder of a model."
        )
    if recorded is not None:
        return _recorded_embedder(settings, recorded)
    if setting == "auto":
        return _automatic_embedder(settings)
    if setting == "ollama":
        problem = _ollama_problem(settings, settings.embed_model, patient=True)
        if problem:
            raise ProviderUnavailableError(problem)
    return _set_embedder(settings), ()


def choose_chat(settings: Settings, *, project: bool) -> ChatChoice:
    """The chat model for a question (of a project, or another), and warnings.

    ``None`` means answers in the papers' own sentences: by ``extractive``, or by ``auto`` where no Ollama
    answers or it lacks the model. Raises ProviderUnavailableError where ``ollama`` is set and cannot be had.
    """
    if settings.chat == "extractive":
        return None, ()
    model = (settings.project_chat_model if project else None) or settings.chat_model
    problem = _ollama_problem(settings, model, patient=settings.chat == "ollama")
    facts = None if problem else model_facts(settings.ollama_host, model)
    if facts and facts.capabilities and "completion" not in facts.capabilities:
        problem = f"{model} cannot chat: set WORKBENCH_CHAT_MODEL to a chat model."
    if problem and settings.chat == "ollama":
        raise ProviderUnavailableError(problem)
    if problem:
        return None, (f"No chat model, so answers are the papers' own sentences. {problem}",)
    length = facts.context_length if facts else None
    window = min(settings.context_window, length or settings.context_window)
    return _ollama_chat(settings.ollama_host, model, window), ()


def as_chat_model(given: Any) -> ChatModel:
    """A ChatModel as it is, and any LlamaIndex ``LLM`` object wrapped as one.

    Raises InvalidInputError for anything else.
    """
    if all(hasattr(given, part) for part in ("stream", "name", "context_window")):
        model: ChatModel = given
        return model
    if hasattr(given, "stream_chat") and hasattr(given, "metadata"):
        from workbench.providers.llama_index_chat import LlamaIndexChat

        return LlamaIndexChat(given)
    raise InvalidInputError(
        f"A {type(given).__name__} is no chat model: pass a LlamaIndex LLM, or an object with stream(),"
        " name and context_window."
    )


@functools.lru_cache(maxsize=8)
def _ollama_chat(host: str, model: str, window: int) -> ChatModel:
    """One object per model, because it remembers how the model marks its reasoning."""
    from workbench.providers.ollama_chat import OllamaChat

    return OllamaChat(host, model, context_window=window)


def _ollama_problem(settings: Settings, model: str, *, patient: bool) -> str | None:
    """Why the server cannot serve the model, or ``None`` where it can."""
    timeout = PATIENT_TIMEOUT if patient else PROBE_TIMEOUT
    installed = installed_models(settings.ollama_host, timeout=timeout)
    if installed is None:
        return not_answering(settings.ollama_host)
    return None if full_name(model) in installed else not_pulled(model)


def _automatic_embedder(settings: Settings) -> Choice:
    from workbench.providers.onnx_embedder import OnnxEmbedder

    problem = _ollama_problem(settings, settings.embed_model, patient=False)
    if problem is None:
        return _ollama_embedder(settings, settings.embed_model), ()
    try:
        return OnnxEmbedder(), ()
    except ProviderUnavailableError as error:
        return None, (f"No embedder, so search is by keywords only. {problem} Or: {error}",)


def _recorded_embedder(settings: Settings, recorded: str) -> Choice:
    try:
        embedder = _embedder_named(settings, recorded)
    except ProviderUnavailableError as error:
        return None, (_keywords_only(recorded, str(error)),)
    if embedder is None:
        return None, (_keywords_only(recorded, _how_to_get(recorded)),)
    warnings = []
    if settings.embedder != "auto" and not _may_be_set_as(settings.embedder, recorded):
        warnings.append(
            f"This library was indexed with {recorded}, which is used although WORKBENCH_EMBEDDER is"
            f" {settings.embedder}. Reprocess its papers to change that."
        )
    return embedder, tuple(warnings)


def _embedder_named(settings: Settings, recorded: str) -> Embedder | None:
    """The embedder with exactly this name, or ``None``. Raises ProviderUnavailableError."""
    from workbench.providers.fake_embedder import FakeEmbedder
    from workbench.providers.ollama_embedder import model_in
    from workbench.providers.onnx_embedder import OnnxEmbedder
    from workbench.providers.onnx_files import PACKAGED_NAME

    embedder: Embedder | None = None
    model = model_in(recorded)
    if recorded == PACKAGED_NAME:
        embedder = OnnxEmbedder()
    elif model is not None:
        problem = _ollama_problem(settings, model, patient=True)
        if problem:
            raise ProviderUnavailableError(problem)
        embedder = _ollama_embedder(settings, model)
    elif found := re.fullmatch(r"fake-words-(\d{1,4})", recorded):
        embedder = FakeEmbedder(int(found[1]))
    elif Path(settings.embedder).expanduser().is_dir():
        embedder = OnnxEmbedder(Path(settings.embedder).expanduser())
    return embedder if embedder is not None and embedder.name == recorded else None


def _set_embedder(settings: Settings) -> Embedder:
    from workbench.providers.fake_embedder import FakeEmbedder
    from workbench.providers.onnx_embedder import OnnxEmbedder

    if settings.embedder == "ollama":
        return _ollama_embedder(settings, settings.embed_model)
    if settings.embedder == "fake":
        return FakeEmbedder(FAKE_DIMENSION)
    return OnnxEmbedder(None if settings.embedder == "onnx" else Path(settings.embedder).expanduser())


def _ollama_embedder(settings: Settings, model: str) -> Embedder:
    from workbench.providers.ollama_embedder import OllamaEmbedder

    return OllamaEmbedder(settings.ollama_host, model)


def _may_be_set_as(setting: str, recorded: str) -> bool:
    kinds = {"ollama": "ollama/", "fake": "fake-words-", "onnx": "all-MiniLM-L6-v2-int8@"}
    return recorded.startswith(kinds[setting]) if setting in kinds else "@" in recorded


def _keywords_only(recorded: str, reason: str) -> str:
    return f"Searching by keywords only: this library was indexed with {recorded}. {reason}"


def _how_to_get(recorded: str) -> str:
    if "@" in recorded:
        return "Set WORKBENCH_EMBEDDER to the folder of that model, or reprocess the papers with another one."
    return "This workbench does not have it: reprocess the papers with another embedder."
