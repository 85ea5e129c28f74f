"""The search numbers that several verbs take as options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

_OPTIONS = (
    click.option("--top-k", type=int, metavar="N", help="How many passages at most."),
    click.option(
        "--max-per-paper",
        type=int,
        metavar="N",
        help="How many of one paper while others have some to offer.",
    ),
    click.option(
        "--min-relevance",
        type=float,
        metavar="R",
        help="Relevance below which a passage never counts, 0 to 1.",
    ),
    click.option(
        "--qualify-fraction",
        type=float,
        metavar="F",
        help="Part of the best relevance, 0 to 1, from which a passage speaks for its paper.",
    ),
    click.option(
        "--keyword-weight", type=float, metavar="W", help="Part of the words in the relevance, 0 to 1."
    ),
)


def number_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """One option for each number of a search that can be tuned."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
