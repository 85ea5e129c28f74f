"""How this product talks to an Ollama server: its client, its models, its errors in plain words."""

from __future__ import annotations

import functools
import ipaddress
import queue
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from workbench.errors import ProviderError, ProviderUnavailableError
from workbench.providers.wording import one_line
from workbench.settings import without_password

if TYPE_CHECKING:
    import ollama

T = TypeVar("T")

KEEP_ALIVE = "15m"  # sent with every call, so that no call lets another's model be unloaded
CONNECT_TIMEOUT = 5.0  # s
PROBE_TIMEOUT = 0.9  # s


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a server says of one of its models. ``context_length`` is in tokens."""

    capabilities: tuple[str, ...]
    context_length: int | None


def full_name(model: str) -> str:
    """A model's name with its tag, as the server lists it: ``llama3.1`` is ``llama3.1:latest``."""
    return model if ":" in model.rsplit("/", 1)[-1] else f"{model}:latest"


def is_loopback(host: str) -> bool:
    """Whether the host is this computer."""
    name = urlsplit(host if "://" in host else f"//{host}").hostname or "localhost"
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def reachable_host(host: str) -> str:
    """``0.0.0.0`` is where a server listens, not an address to call; users set OLLAMA_HOST to it for both."""
    return host.replace("0.0.0.0", "127.0.0.1", 1)


def open_client(host: str, *, timeout: float, **httpx_options: Any) -> ollama.Client:
    """The real client; ``timeout`` (s) is for each read. This computer is never asked through a proxy.

    A host that is no address is a ProviderUnavailableError.
    """
    import httpx
    import ollama

    try:
        return ollama.Client(
            reachable_host(host),
            timeout=httpx.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT)),
            trust_env=not is_loopback(host),
            verify=_certificates(),
            **httpx_options,
        )
    except (ValueError, httpx.InvalidURL) as error:
        raise ProviderUnavailableError(
            f"OLLAMA_HOST={without_password(host)!r} is not an address: use one like http://127.0.0.1:11434."
        ) from error


@functools.cache
def _certificates() -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context()  # 20 ms: once a process, not once a client


def failures() -> tuple[type[Exception], ...]:
    """What the client raises when the server is away, refuses, breaks off or talks nonsense."""
    import httpx
    import ollama

    return (ollama.ResponseError, ollama.RequestError, httpx.HTTPError, OSError, ValueError, KeyError)


def explain(error: Exception, *, host: str, model: str, begun: bool = False) -> ProviderError:
    """The same failure as one line that says what to do. ``begun``: the answer had already started."""
    import httpx
    import ollama

    if begun:
        reason = f": {one_line(error.error)}" if isinstance(error, ollama.ResponseError) else ""
        return ProviderError(f"Ollama broke off in the middle of its answer{reason}. Ask again.")
    if isinstance(error, ollama.ResponseError):
        return ProviderUnavailableError(_refusal(error, model))
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | ConnectionError):
        return ProviderUnavailableError(not_answering(host))
    if isinstance(error, httpx.TimeoutException):
        return ProviderUnavailableError(
            f"Ollama did not answer in time; {model} may still be loading. Ask again, or use a smaller one."
        )
    reason = without_password(one_line(error)) or type(error).__name__
    return ProviderUnavailableError(
        f"Ollama at {without_password(host)} gave no proper answer ({reason}). Restart it and try again."
    )


def not_answering(host: str) -> str:
    shown = without_password(host)
    return f"Ollama does not answer at {shown}: start Ollama with `ollama serve`, or correct OLLAMA_HOST."


def not_pulled(model: str) -> str:
    return f"Ollama has no model {model}: get it with `ollama pull {model}`."


def _refusal(error: ollama.ResponseError, model: str) -> str:
    reason = one_line(error.error)
    if error.status_code == 404:
        return not_pulled(model)
    if "does not support chat" in reason:
        return f"{model} cannot chat: set WORKBENCH_CHAT_MODEL to a chat model."
    if "memory" in reason:
        return (
            f"Ollama could not load {model} ({reason})."
            " Lower WORKBENCH_CONTEXT_WINDOW (num_ctx) or choose a smaller model."
        )
    return f"Ollama could not run {model} ({reason}). Try again, or look at the log of `ollama serve`."


# --- short questions to the server ------------------------------------------------------------


def installed_models(host: str, *, timeout: float = PROBE_TIMEOUT) -> tuple[str, ...] | None:
    """Full names of the models a server has; ``None`` where none answers within ``timeout`` seconds."""

    def ask(client: ollama.Client) -> tuple[str, ...]:
        return tuple(listed.model for listed in client.list().models if listed.model)

    return _within(timeout, host, ask)


def model_facts(host: str, model: str, *, timeout: float = PROBE_TIMEOUT) -> ModelFacts | None:
    """What the server says of a model, or ``None`` where it does not say within ``timeout`` seconds."""

    return _within(timeout, host, lambda client: facts_of(client, model))


def facts_of(client: ollama.Client, model: str) -> ModelFacts:
    """What the server says of a model. Raises what ``failures`` lists."""
    shown = client.show(model)
    lengths = [v for k, v in (shown.modelinfo or {}).items() if k.endswith(".context_length")]
    length = next((v for v in lengths if isinstance(v, int) and v > 0), None)
    return ModelFacts(tuple(shown.capabilities or ()), length)


def _within(seconds: float, host: str, ask: Callable[[ollama.Client], T]) -> T | None:
    """The answer, or ``None`` after so many seconds or a failure.

    In a thread of its own, because looking up a host's name knows no time-out.
    """
    client = open_client(host, timeout=seconds)
    answers: queue.SimpleQueue[T | None] = queue.SimpleQueue()

    def run() -> None:
        with client:
            try:
                answers.put(ask(client))
            except failures():
                answers.put(None)

    threading.Thread(target=run, name="ollama-probe", daemon=True).start()
    try:
        return answers.get(timeout=seconds)
    except queue.Empty:
        return None
