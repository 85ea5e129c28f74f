"""The libraries that are tortured: small, made once per run and copied for every case."""

from __future__ import annotations

import shutil
from pathlib import Path

import workbench
from tests.mineral_papers import minerals
from workbench import Scope, Settings, Workbench
from workbench.providers.fake_embedder import FakeEmbedder

USER = "ann"
NAME = "library.duckdb"
WORDS = ("graphene", "basalt", "willow", "comet", "ribosome", "harbour", "lichen", "isotope")


def text_of(word: str, *, sections: int = 3) -> str:
    """A Markdown paper about one word; its chunks all hold the word, and all know of graphene."""
    parts = [f"# A study of {word}"]
    for number in range(1, sections + 1):
        parts.append(f"## Part {number}")
        parts.append(
            f"The {word} was measured beside a graphene sheet in part {number}. "
            + f"Sample {number} of {word} weighed {number}.5 grams and stayed stable. " * 8
        )
    return "\n\n".join(parts)


def write_papers(folder: Path, *words: str) -> list[Path]:
    """One Markdown file for each word."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for word in words:
        path = folder / f"{word}.md"
        path.write_text(text_of(word), encoding="utf-8")
        paths.append(path)
    return paths


def opened(folder: Path, *, dimension: int = 64) -> Workbench:
    """The library in ``folder`` as a notebook has it, with nothing going on in the background."""
    settings = Settings.load(
        library=folder / NAME, user=USER, project_max_papers=0, chat="extractive", summaries="off",
        lock_timeout=20.0,
    )  # fmt: skip
    return workbench.open(folder / NAME, user=USER, settings=settings, embedder=FakeEmbedder(dimension))


def make_warm(folder: Path) -> Path:
    """A used library: papers, a project with a summary, a note, a conversation, a memory, indexes."""
    folder.mkdir(mode=0o700, parents=True)
    with opened(folder) as wb:
        project = wb.projects.create("Shelf", description="What was measured", goal="To compare")
        report = wb.papers.add_many(
            [*write_papers(folder / "papers", *WORDS[:4]), minerals(1)[0].write(folder / "papers")],
            project=project,
        )
        assert [outcome.status for outcome in report.files] == ["ready"] * 5
        wb.papers.add_texts([{"title": "A loose leaf", "text": text_of("orphan", sections=2)}])
        wb.notes.create("Filters", "A note on graphene filters that lose recall.", project=project)
        talk = wb.conversations.create(Scope.project(project), title="Weights")
        talk.ask("I use basalt. What did sample 2 of basalt weigh?")
        wb.summaries.refresh(project)
    shutil.rmtree(folder / "papers")
    return folder


def copied(source: Path, target: Path) -> Path:
    """The library in ``source`` and its indexes, once more in ``target``."""
    shutil.copytree(source, target)
    target.chmod(0o700)
    return target
