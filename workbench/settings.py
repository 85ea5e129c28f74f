"""Settings: the one place that reads the environment and ``workbench.toml``.

From weakest to strongest: defaults, ``workbench.toml`` beside the library, environment, arguments.
"""

from __future__ import annotations

import getpass
import os
import re
import tomllib
from collections.abc import Set
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import AliasChoices, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from workbench.errors import SettingsError

DEFAULT_CHAT_MODEL = "llama3.1"
DEFAULT_EMBED_MODEL = "nomic-embed-text"
_PASSWORD = re.compile(r"(?:(?<=//)|(?<![^\s'\"]))[^/\s'\"@]*:[^/\s'\"]*@")


def default_library() -> Path:
    """The library of this user, in the operating system's folder for a program's data."""
    return user_data_path("research-workbench") / "library.duckdb"


def default_user() -> str:
    """The Jupyter user where a hub names one, else the login."""
    return os.environ.get("JUPYTERHUB_USER") or getpass.getuser()


class Settings(BaseSettings):
    """Every setting, its default and its range. A bad value is a ``SettingsError`` that names it.

    Make one with ``Settings.load``; fields are also accepted by their Python names as arguments.
    """

    # The prefix keeps a field's bare name from being one more variable: every shell has a USER.
    model_config = SettingsConfigDict(
        frozen=True,
        extra="ignore",
        populate_by_name=True,
        env_prefix="WORKBENCH_",
        env_ignore_empty=True,
        case_sensitive=True,
    )

    library: Path = Field(default_factory=default_library, validation_alias=AliasChoices("WORKBENCH_LIBRARY"))
    user: str = Field(
        default_factory=default_user,
        min_length=1,
        max_length=200,
        validation_alias=AliasChoices("WORKBENCH_USER"),
    )

    project_max_papers: int = Field(
        10,
        ge=0,
        le=100_000,
        validation_alias=AliasChoices("WORKBENCH_PROJECT_MAX_PAPERS", "PROJECT_MAX_PAPERS"),
    )
    top_k: int = Field(
        15, ge=1, le=200, validation_alias=AliasChoices("WORKBENCH_TOP_K", "PROJECT_CHAT_TOP_K")
    )
    max_chunks_per_paper: int = Field(
        5,
        ge=1,
        le=200,
        validation_alias=AliasChoices("WORKBENCH_MAX_CHUNKS_PER_PAPER", "PROJECT_CHAT_MAX_CHUNKS_PER_PAPER"),
    )
    min_relevance: float = Field(
        0.05,
        ge=0.0,
        le=1.0,
        validation_alias=AliasChoices("WORKBENCH_MIN_RELEVANCE", "PROJECT_CHAT_MIN_RELEVANCE"),
    )

    embedder: str = Field("auto", min_length=1, validation_alias=AliasChoices("WORKBENCH_EMBEDDER"))
    chat: str = Field("auto", min_length=1, validation_alias=AliasChoices("WORKBENCH_CHAT"))
    embed_model: str = Field(
        DEFAULT_EMBED_MODEL, min_length=1, validation_alias=AliasChoices("WORKBENCH_EMBED_MODEL")
    )
    chat_model: str = Field(
        DEFAULT_CHAT_MODEL, min_length=1, validation_alias=AliasChoices("WORKBENCH_CHAT_MODEL")
    )
    project_chat_model: str | None = Field(
        None, validation_alias=AliasChoices("WORKBENCH_PROJECT_CHAT_MODEL")
    )
    ollama_host: str = Field(  # may hold a password
        "http://127.0.0.1:11434", min_length=1, repr=False, validation_alias=AliasChoices("OLLAMA_HOST")
    )
    context_window: int = Field(
        8192, ge=1024, le=1_000_000, validation_alias=AliasChoices("WORKBENCH_CONTEXT_WINDOW")
    )
    shared_share: float = Field(0.0, ge=0.0, le=0.9, validation_alias=AliasChoices("WORKBENCH_SHARED_SHARE"))

    summaries: Literal["auto", "extractive", "off"] = Field(
        "auto", validation_alias=AliasChoices("WORKBENCH_SUMMARIES")
    )
    vector_index: Literal["exact", "hnsw"] = Field(
        "exact", validation_alias=AliasChoices("WORKBENCH_VECTOR_INDEX")
    )
    lock_timeout: float = Field(30.0, gt=0, le=3600, validation_alias=AliasChoices("WORKBENCH_LOCK_TIMEOUT"))
    read_timeout: float = Field(60.0, gt=0, le=3600, validation_alias=AliasChoices("WORKBENCH_READ_TIMEOUT"))
    read_memory_mb: int = Field(
        1536, ge=256, le=1_000_000, validation_alias=AliasChoices("WORKBENCH_READ_MEMORY_MB")
    )
    max_file_mb: int = Field(512, ge=1, le=100_000, validation_alias=AliasChoices("WORKBENCH_MAX_FILE_MB"))

    @field_validator("chat")
    @classmethod
    def _known_chat(cls, value: str) -> str:
        if value not in {"auto", "ollama", "extractive"}:
            raise ValueError("allowed: auto, ollama, extractive")
        return value

    @field_validator("ollama_host")
    @classmethod
    def _parsed_host(cls, value: str) -> str:
        try:
            _ = urlsplit(value if "://" in value else f"//{value}").port  # raises for what is no number
        except ValueError as error:
            raise ValueError("allowed is an address such as http://127.0.0.1:11434") from error
        return value

    @field_validator("embedder")
    @classmethod
    def _known_home(cls, value: str) -> str:
        try:
            Path(value).expanduser()
        except RuntimeError as error:
            raise ValueError("there is no such home folder") from error
        return value

    @classmethod
    def load(cls, **arguments: Any) -> Settings:
        """Settings for one library; ``None`` arguments count as not given."""
        given = {name: value for name, value in arguments.items() if value is not None}
        _refuse_unknown(given, "setting")
        library = library_path(cls._checked(given).library)
        from_file = _read_toml(library.parent / "workbench.toml")
        below = {name: value for name, value in from_file.items() if not _in_environment(name)}
        return cls._checked({**below, **given, "library": library}, from_file=set(below) - set(given))

    @classmethod
    def _checked(cls, values: dict[str, Any], *, from_file: Set[str] = frozenset()) -> Settings:
        try:
            return cls(**values)
        except ValidationError as error:
            raise SettingsError(_explain(error, from_file)) from error


def without_password(text: str) -> str:
    """``text`` without the name and password of an address in it: it may be shown and logged."""
    return _PASSWORD.sub("", text)


def library_path(path: Path) -> Path:
    """The path with its home folder filled in. Raises SettingsError for one that no file can have."""
    shown = _variable_with("library", str(path)) or "library"
    try:
        expanded = path.expanduser()
        expanded.resolve()
        expanded.exists()  # a name that is too long
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a home nobody has, a link to itself
        reason = (error.strerror if isinstance(error, OSError) and error.strerror else str(error)).rstrip(".")
        raise SettingsError(f"{shown}={str(path)!r} cannot be used: {reason}. Give another path.") from error
    return expanded


def variables(name: str) -> list[str]:
    """The environment variables of one setting, the preferred one first."""
    alias = Settings.model_fields[name].validation_alias
    return [str(choice) for choice in alias.choices] if isinstance(alias, AliasChoices) else []


def _in_environment(name: str) -> bool:
    return any(os.environ.get(variable) for variable in variables(name))


def _refuse_unknown(values: dict[str, Any], what: str) -> None:
    unknown = sorted(set(values) - set(Settings.model_fields))
    if unknown:
        known = ", ".join(Settings.model_fields)
        raise SettingsError(f"No such {what}: {', '.join(unknown)}. Known: {known}.")


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        if path.exists() and not path.is_file():
            raise SettingsError(f"{path} is not a file that can be read. Mend or remove it.")
        values = tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}. Mend or remove it.") from error
    _refuse_unknown(values, f"setting in {path.name}")
    if "library" in values:
        raise SettingsError(
            f"library cannot be set in {path}: the file stands beside its library. Use WORKBENCH_LIBRARY."
        )
    return values


def _explain(error: ValidationError, from_file: Set[str]) -> str:
    """One line: each bad value, where it was set, and what is allowed."""
    lines = []
    for problem in error.errors(include_url=False):
        place = str(problem["loc"][0]) if problem["loc"] else "settings"
        name = next((n for n in Settings.model_fields if place == n or place in variables(n)), place)
        value = problem["input"]
        shown = name if name in from_file else _variable_with(name, value) or name
        where = " in workbench.toml" if name in from_file else ""
        if name == "ollama_host":  # where a password has a / in it there is no telling where it begins
            value = str(value).rpartition("@")[2]
        wanted = _allowed(name) or problem["msg"].removeprefix("Value error, ")
        lines.append(f"{shown}={without_password(repr(value))}{where}: {wanted}")
    return "; ".join(lines) + "."


def _variable_with(name: str, value: object) -> str | None:
    """The environment variable that gave a setting this value."""
    return next((v for v in variables(name) if v in os.environ and os.environ[v] == value), None)


def _allowed(name: str) -> str | None:
    """The allowed range of a setting that is a number."""
    field = Settings.model_fields.get(name)
    if field is None or field.annotation not in (int, float):
        return None
    parts = ("ge", "gt", "le")
    bounds = {part: f"{getattr(m, part):,.9g}" for m in field.metadata for part in parts if hasattr(m, part)}
    kind = "a whole number" if field.annotation is int else "a number"
    least = f"from {bounds['ge']}" if "ge" in bounds else f"above {bounds['gt']}"
    return f"allowed is {kind} {least} to {bounds['le']}"
