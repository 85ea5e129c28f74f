"""Build the sample papers: every ``data/papers/NAME.md`` becomes ``data/NAME.pdf``.

    python data/build_papers.py [FOLDER]

The same sources give the same bytes: no day of the build, no random names, no compression (builds of
zlib differ), and only the fonts every PDF reader has. A test builds them again and compares.

A source is Markdown with a few ``name: value`` lines on top (title, short, year, keywords). A fence named
``figure`` holds TOML: ``caption``, ``unit``, ``series`` and either ``bars`` or ``lines``.
"""

from __future__ import annotations

import calendar
import os
import sys
import tomllib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from figures import draw
from markdown_it import MarkdownIt
from markdown_it.token import Token
from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    CondPageBreak,
    Flowable,
    Frame,
    HRFlowable,
    KeepTogether,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
)

HERE = Path(__file__).resolve().parent
AUTHOR = "Research Workbench project"
MARGIN = 31 * mm
WIDTH = A4[0] - 2 * MARGIN
GREY = HexColor("#5f6368")
INK = HexColor("#1a1a1a")
MARKDOWN = MarkdownIt("commonmark", {"typographer": True}).enable(["table", "smartquotes"])

BODY = ParagraphStyle(
    "body",
    bulletFontName="Times-Roman",
    fontName="Times-Roman",
    fontSize=10.6,
    leading=14.4,
    spaceAfter=6,
    alignment=TA_JUSTIFY,
    textColor=INK,
)
STYLES = {
    "title": ParagraphStyle(
        "title", fontName="Times-Bold", fontSize=19, leading=23, spaceAfter=7, textColor=INK
    ),
    "byline": ParagraphStyle("byline", parent=BODY, fontName="Times-Italic", textColor=GREY, spaceAfter=10),
    "abstract": ParagraphStyle(
        "abstract", parent=BODY, leftIndent=16, rightIndent=16, fontSize=10, leading=13.4
    ),
    "keywords": ParagraphStyle(
        "keywords", parent=BODY, leftIndent=16, rightIndent=16, fontSize=9, leading=12, textColor=GREY
    ),
    "h2": ParagraphStyle(
        "h2",
        fontName="Helvetica-Bold",
        fontSize=11.5,
        leading=15,
        spaceBefore=10,
        spaceAfter=4,
        textColor=INK,
    ),
    "h3": ParagraphStyle(
        "h3", fontName="Helvetica-Bold", fontSize=9.8, leading=13, spaceBefore=5, spaceAfter=3, textColor=INK
    ),
    "list": ParagraphStyle("list", parent=BODY, leftIndent=15, bulletIndent=3, spaceAfter=3),
    "caption": ParagraphStyle(
        "caption", parent=BODY, fontSize=9.2, leading=12, spaceBefore=6, spaceAfter=4, alignment=0
    ),
    "cell": ParagraphStyle("cell", parent=BODY, fontSize=9, leading=11.4, spaceAfter=0, alignment=0),
    "cell-right": ParagraphStyle(
        "cell-right", parent=BODY, fontSize=9, leading=11.4, spaceAfter=0, alignment=2
    ),
    "reference": ParagraphStyle(
        "reference", parent=BODY, fontSize=9.4, leading=12.2, leftIndent=17, spaceAfter=2, alignment=0
    ),
}


@dataclass(frozen=True)
class Source:
    """One paper's front lines and its Markdown."""

    title: str
    short: str
    year: str
    keywords: str
    body: str


def read_source(path: Path) -> Source:
    head, body = path.read_text(encoding="utf-8").split("\n\n", 1)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    return Source(body=body, **fields)


class PaperTemplate(BaseDocTemplate):
    """A4, one column, a running head, an outline entry per heading."""

    def __init__(self, target: Path, source: Source) -> None:
        super().__init__(
            str(target),
            pagesize=A4,
            leftMargin=MARGIN,
            rightMargin=MARGIN,
            topMargin=25 * mm,
            bottomMargin=25 * mm,
            title=source.title,
            author=AUTHOR,
            subject=f"Sample paper of the Research Workbench, {source.year}",
            keywords=source.keywords,
            creator=AUTHOR,
            invariant=1,
            pageCompression=0,
        )
        self.source = source
        frame = Frame(MARGIN, 25 * mm, WIDTH, A4[1] - 50 * mm, 0, 0, 0, 0)
        self.addPageTemplates(
            PageTemplate("page", [frame], onPage=self.running_head, onPageEnd=self.page_number)
        )

    def running_head(self, canvas: Canvas, _doc: BaseDocTemplate) -> None:
        canvas.saveState()
        canvas.setFillColor(GREY)
        canvas.setFont("Times-Italic", 9)
        canvas.drawString(MARGIN, A4[1] - 17 * mm, self.source.short)
        canvas.drawRightString(A4[0] - MARGIN, A4[1] - 17 * mm, AUTHOR)
        canvas.restoreState()

    def page_number(self, canvas: Canvas, _doc: BaseDocTemplate) -> None:
        canvas.saveState()
        canvas.setFillColor(GREY)
        canvas.setFont("Times-Roman", 9)
        canvas.drawCentredString(A4[0] / 2, 14 * mm, str(canvas.getPageNumber()))
        canvas.restoreState()

    def afterFlowable(self, flowable: Flowable) -> None:  # noqa: N802 - reportlab's hook
        if isinstance(flowable, Paragraph) and flowable.style.name in ("h2", "h3"):
            title = flowable.getPlainText()
            self.canv.bookmarkPage(title)
            self.canv.addOutlineEntry(title, title, level=int(flowable.style.name[1]) - 2)


def inline(token: Token) -> str:
    """reportlab's own small markup for the children of an inline token."""
    tags = {"em": "i", "strong": "b"}
    out: list[str] = []
    for child in token.children or []:
        name = child.type.rsplit("_", 1)[0]
        if child.type == "text":
            out.append(_escape(child.content))
        elif child.type == "code_inline":
            out.append(f'<font face="Courier" size="-1">{_escape(child.content)}</font>')
        elif child.type == "softbreak":
            out.append(" ")
        elif name in tags:
            out.append(f"<{tags[name]}>" if child.nesting == 1 else f"</{tags[name]}>")
        else:
            raise ValueError(f"the builder does not set {child.type}")
    return "".join(out)


def _escape(text: str) -> str:
    text.encode("cp1252")  # the base fonts hold no other character: fail here, not in print
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def flowables(source: Source) -> list[Flowable]:
    """The whole paper, in order."""
    story: list[Flowable] = [
        Paragraph(_escape(source.title), STYLES["title"]),
        Paragraph(f"{AUTHOR}, published {source.year}", STYLES["byline"]),
    ]
    tokens = MARKDOWN.parse(source.body)
    section, at = "", 0
    while at < len(tokens):
        token = tokens[at]
        if token.type == "heading_open":
            section = inline(tokens[at + 1])
            story += [CondPageBreak(58), Paragraph(section, STYLES[token.tag])]
            at += 3
        elif token.type == "fence" and token.info == "figure":
            story.append(_figure(token.content))
            at += 1
        elif token.type == "table_open":
            end = _closing(tokens, at)
            caption = story.pop()  # the paragraph before a table is its caption
            story.append(_table(tokens[at:end], [*_pop_heading(story), caption]))
            at = end + 1
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            end = _closing(tokens, at)
            story += [*_list(tokens[at:end], section), Spacer(1, 4)]
            at = end + 1
        elif token.type == "paragraph_open":
            story.append(_paragraph(inline(tokens[at + 1]), section))
            if section == "Abstract":
                story += _keywords(source.keywords)
            at += 3
        else:
            raise ValueError(f"the builder does not set {token.type}")
    return story


def _paragraph(text: str, section: str) -> Paragraph:
    if text.startswith("<b>Table"):
        return Paragraph(text, STYLES["caption"])
    return Paragraph(text, STYLES["abstract"] if section == "Abstract" else BODY)


def _keywords(words: str) -> list[Flowable]:
    rule = HRFlowable(width="100%", thickness=0.5, color=HexColor("#c4c7cc"), spaceBefore=4, spaceAfter=2)
    return [Paragraph(f"Keywords: {_escape(words)}", STYLES["keywords"]), rule]


def _closing(tokens: list[Token], at: int) -> int:
    level, kind = tokens[at].level, tokens[at].type.replace("_open", "_close")
    return next(i for i in range(at, len(tokens)) if tokens[i].type == kind and tokens[i].level == level)


def _list(tokens: list[Token], section: str) -> list[Flowable]:
    ordered = tokens[0].type == "ordered_list_open"
    style = STYLES["reference" if section == "References" else "list"]
    texts = [inline(t) for t in tokens if t.type == "inline"]
    mark = "[{}]" if section == "References" else "{}."
    bullets = [mark.format(n) if ordered else "\u2022" for n in range(1, len(texts) + 1)]
    return [Paragraph(text, style, bulletText=bullet) for text, bullet in zip(texts, bullets, strict=True)]


def _pop_heading(story: list[Flowable]) -> list[Flowable]:
    """A heading that would stand alone above a table moves with it."""
    last = story[-1]
    return [story.pop()] if isinstance(last, Paragraph) and last.style.name in ("h2", "h3") else []


def _table(tokens: list[Token], above: list[Flowable]) -> Flowable:
    """A ruled table; a column is set right where the Markdown says so (``---:``)."""
    rows: list[list[Paragraph]] = []
    bold = False
    for token, cell in pairwise(tokens):
        if token.type == "tr_open":
            rows.append([])
            bold = not rows[:-1]
        elif token.type in ("th_open", "td_open"):
            style = STYLES["cell-right" if "right" in str(token.attrGet("style")) else "cell"]
            text = inline(cell)
            rows[-1].append(Paragraph(f"<b>{text}</b>" if bold else text, style))
    columns = len(rows[0])
    first = {2: 0.5, 3: 0.52, 4: 0.40}.get(columns, 0.32)
    widths = [WIDTH * first] + [WIDTH * (1 - first) / (columns - 1)] * (columns - 1)
    table = Table(rows, colWidths=widths, repeatRows=1)
    table.setStyle(
        [
            ("LINEABOVE", (0, 0), (-1, 0), 0.9, INK),
            ("LINEBELOW", (0, 0), (-1, 0), 0.5, INK),
            ("LINEBELOW", (0, -1), (-1, -1), 0.9, INK),
            ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
            ("TOPPADDING", (0, 0), (-1, -1), 2),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 2.6),
            ("LEFTPADDING", (0, 0), (-1, -1), 3),
            ("RIGHTPADDING", (0, 0), (-1, -1), 3),
        ]
    )
    return KeepTogether([*above, table, Spacer(1, 9)])


def _figure(content: str) -> Flowable:
    figure = tomllib.loads(content)
    caption = Paragraph(inline(MARKDOWN.parseInline(figure["caption"])[0]), STYLES["caption"])
    return KeepTogether([Spacer(1, 4), draw(figure, WIDTH), caption, Spacer(1, 5)])


def build(target: Path) -> list[Path]:
    """Write every sample paper into ``target`` and return the files."""
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for path in sorted((HERE / "papers").glob("*.md")):
        source = read_source(path)
        # reportlab's date for the file: the first day of the paper's year, not the day of the build
        os.environ["SOURCE_DATE_EPOCH"] = str(calendar.timegm((int(source.year), 1, 1, 0, 0, 0)))
        pdf = target / f"{path.stem}.pdf"
        PaperTemplate(pdf, source).build(flowables(source))
        written.append(pdf)
    return written


if __name__ == "__main__":
    for pdf in build(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE):
        print(pdf.name)
