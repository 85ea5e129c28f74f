"""The two drawings of the sample papers: bars and lines, in the fonts every PDF reader has."""

from __future__ import annotations

import math
from typing import Any

from reportlab.graphics.shapes import Circle, Drawing, Line, PolyLine, Rect, String
from reportlab.lib.colors import Color, HexColor
from reportlab.pdfbase.pdfmetrics import stringWidth

INKS = [HexColor("#2f6fde"), HexColor("#9bb8ea"), HexColor("#d08a2e"), HexColor("#6b7280")]
TEXT = HexColor("#1a1a1a")
GREY = HexColor("#5f6368")
FONT = "Helvetica"
SIZE = 7.8


def draw(figure: dict[str, Any], width: float) -> Drawing:
    """The drawing that a figure's TOML asks for, ``width`` points wide."""
    return _bars(figure, width) if "bars" in figure else _lines(figure, width)


def _text(x: float, y: float, text: str, *, anchor: str = "start", ink: Color = TEXT) -> String:
    return String(x, y, text, textAnchor=anchor, fontName=FONT, fontSize=SIZE, fillColor=ink)


def _legend(drawing: Drawing, series: list[str], x: float, y: float) -> None:
    for ink, name in zip(INKS, series, strict=False):
        drawing.add(Rect(x, y, 7, 7, fillColor=ink, strokeColor=None))
        drawing.add(_text(x + 10, y + 0.5, name))
        x += 10 + stringWidth(name, FONT, SIZE) + 16


def _bars(figure: dict[str, Any], width: float) -> Drawing:
    """Horizontal bars, one group a row; ``scale = "log"`` for values that span decades."""
    rows: list[list[Any]] = figure["bars"]
    series: list[str] = figure.get("series", [])
    thick, gap = (9.0, 5.0) if len(rows[0]) == 2 else (7.5, 6.0)
    group = thick * (len(rows[0]) - 1) + gap
    top = 14 if series else 0
    drawing = Drawing(width, group * len(rows) + top + 6)
    left = max(stringWidth(str(row[0]), FONT, SIZE) for row in rows) + 10
    values = [v for row in rows for v in row[1:]]
    number = figure.get("number", "")  # a format, where the plain number will not do
    length = _scale(values, width - left - 62, log=figure.get("scale") == "log")
    for place, (label, *numbers) in enumerate(rows):
        base = drawing.height - top - (place + 1) * group + gap / 2
        middle = base + thick * len(numbers) / 2 - SIZE / 3
        drawing.add(_text(left - 7, middle, str(label), anchor="end"))
        for nth, value in enumerate(numbers):
            y = base + thick * (len(numbers) - 1 - nth)
            drawing.add(
                Rect(left, y + 0.6, length(value), thick - 1.2, fillColor=INKS[nth], strokeColor=None)
            )
            note = f"{value:{number}} {figure['unit']}".strip()
            drawing.add(_text(left + length(value) + 4, y + thick / 2 - SIZE / 3, note, ink=GREY))
    drawing.add(Line(left, 3, left, drawing.height - top, strokeColor=GREY, strokeWidth=0.6))
    _legend(drawing, series, left, drawing.height - 9)
    return drawing


def _scale(values: list[float], room: float, *, log: bool) -> Any:
    if not log:
        return lambda value: room * value / max(values)
    low, high = math.log10(min(values)) - 0.35, math.log10(max(values))
    return lambda value: room * (math.log10(value) - low) / (high - low)


def _lines(figure: dict[str, Any], width: float) -> Drawing:
    """One line a series over named steps; the upright scale runs from ``low`` to ``high``."""
    steps: list[str] = figure["steps"]
    low, high = figure["low"], figure["high"]
    height, left, bottom, top = 150.0, 34.0, 30.0, 16.0
    drawing = Drawing(width, height)

    def place(step: int, value: float) -> tuple[float, float]:
        share = (value - low) / (high - low)
        x = left + 20 + step * (width - left - 50) / (len(steps) - 1)
        return x, bottom + share * (height - bottom - top)

    for tick in figure["ticks"]:
        y = place(0, tick)[1]
        drawing.add(Line(left, y, width - 8, y, strokeColor=HexColor("#dfe1e5"), strokeWidth=0.5))
        drawing.add(_text(left - 4, y - SIZE / 3, f"{tick:g}", anchor="end", ink=GREY))
    for nth, step in enumerate(steps):
        drawing.add(_text(place(nth, low)[0], bottom - 11, step, anchor="middle"))
    drawing.add(_text((width + left) / 2, 4, figure["unit"], anchor="middle", ink=GREY))
    for ink, numbers in zip(INKS[::2] + INKS[1::2], figure["lines"], strict=False):
        points = [place(nth, value) for nth, value in enumerate(numbers)]
        drawing.add(PolyLine([c for p in points for c in p], strokeColor=ink, strokeWidth=1.4))
        for x, y in points:
            drawing.add(Circle(x, y, 1.9, fillColor=ink, strokeColor=None))
    _line_legend(drawing, figure["series"], left + 6, height - 9)
    return drawing


def _line_legend(drawing: Drawing, series: list[str], x: float, y: float) -> None:
    for ink, name in zip(INKS[::2] + INKS[1::2], series, strict=False):
        drawing.add(Line(x, y + 3, x + 12, y + 3, strokeColor=ink, strokeWidth=1.4))
        drawing.add(_text(x + 16, y + 0.5, name))
        x += 16 + stringWidth(name, FONT, SIZE) + 16
