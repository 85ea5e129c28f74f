"""Small PDFs about minerals that do not exist: every fact is known, and stands on a known page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from workbench import Answer

NAMES = (
    "arvenite bolmarite cendrite dravosite elbergite forsalite garnolite helvarite istrovite jandrolite "
    "kolmarite lunvorite morvanite nelsovite orvalite pelmorite quarnosite rosvenite sandovite tervolite "
    "ulmarite valdorite wexonite yarmolite"
).split()

_FILLER = (
    "Samples were washed, dried and weighed before each run of the furnace.",
    "Two laboratories repeated every measurement with instruments of their own.",
    "The deposit was mapped on foot over two summers, and cores were drilled at nine sites.",
    "Thin sections were cut from each core and studied under polarised light.",
    "We thank the keepers of the collection for the loan of reference material.",
)


@dataclass(frozen=True)
class Mineral:
    """The paper about one mineral: its name and its figures."""

    name: str
    melting_point: int
    density: str
    year: int

    @property
    def file(self) -> str:
        return f"{self.name}.pdf"

    @property
    def title(self) -> str:
        return f"A study of {self.name}"

    def pages(self) -> list[list[str]]:
        """Three pages, a sentence a line."""
        name, capital = self.name, self.name.capitalize()
        melting = f"The melting point of {name} is {self.melting_point} degrees Celsius."
        density = f"The density of {name} is {self.density} grams per cubic centimetre."
        described = f"{capital} was first described in {self.year}."
        return [
            [f"{capital} is a mineral of the northern mines.", *_FILLER[:3]],
            [*_FILLER[2:4], melting, _FILLER[0]],
            [density, described, _FILLER[4]],
        ]

    def write(self, folder: Path) -> Path:
        return write_pdf(folder / self.file, title=self.title, pages=self.pages())

    def questions(self) -> list[Question]:
        name = self.name
        return [
            Question(f"What is the melting point of {name}?", f"{self.melting_point} degrees", self.file, 2),
            Question(f"What is the density of {name}?", f"{self.density} grams", self.file, 3),
            Question(f"In which year was {name} first described?", f"in {self.year}", self.file, 3),
        ]


@dataclass(frozen=True)
class Question:
    """A question, what its right answer says, and where that stands."""

    text: str
    says: str
    file: str
    page: int

    def is_answered_by(self, answer: Answer) -> bool:
        """Whether the answer says it, and cites the page that says it for it."""
        return not answer.refused and any(
            self.says in c.quote
            and (c.file, c.page, c.support) == (self.file, self.page, "supported")
            and self.says in answer.text[c.claim_start : c.claim_end]
            for c in answer.citations
        )


def minerals(count: int) -> list[Mineral]:
    """The first ``count``; no two share a figure."""
    return [
        Mineral(name, 1013 + 37 * i, f"{2 + i // 10}.{i % 10}7", 1803 + 7 * i)
        for i, name in enumerate(NAMES[:count])
    ]


def write_pdf(path: Path, *, title: str, pages: list[list[str]]) -> Path:
    """A PDF of one sentence a line; a page without lines has no text layer."""
    canvas = Canvas(str(path), pagesize=A4, invariant=True)
    canvas.setTitle(title)
    for lines in pages:
        text = canvas.beginText(72, 760)
        text.setFont("Helvetica", 11)
        for line in lines:
            text.textLine(line)
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()
    return path
