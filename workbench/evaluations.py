"""``wb.evaluations``: what was measured before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import InvalidInputError
from workbench.rendering import Listing
from workbench.storage import evaluations as store
from workbench.storage.database import Database
from workbench.tuning import Evaluation

if TYPE_CHECKING:
    import pandas


class Evaluations:
    """``wb.evaluations``: this user's kept evaluations. Another user's do not exist here."""

    def __init__(self, database: Database, user: str) -> None:
        self._database, self._user = database, user

    def list(self) -> Listing[Evaluation]:
        """All of them, the latest first."""
        with self._database.read() as cursor:
            return Listing(Evaluation, store.list_evaluations(cursor, self._user))

    def figures(self, evaluation: Evaluation | int) -> pandas.DataFrame:
        """The figures as ``Workbench.evaluate`` returned them. Raises NotFoundError."""
        from workbench.evaluation.sweep import COLUMNS

        number = _id(evaluation)
        with self._database.read() as cursor:
            rows = store.results(cursor, self._user, number)
        import pandas

        chunked = ["chunk_tokens"] if any("chunk_tokens" in row["parameters"] for row in rows) else []
        columns = ["set", *chunked, *COLUMNS[1:]]
        frame = pandas.DataFrame([row | row["parameters"] for row in rows], columns=columns)
        frame["keyword_weight"] = frame["keyword_weight"].astype("float64")
        frame.attrs = {"evaluation": number, "warnings": ()}
        return frame

    def delete(self, *evaluations: Evaluation | int) -> None:
        """Deletes evaluations with all their figures, all or none. Raises NotFoundError."""
        numbers = [_id(evaluation) for evaluation in evaluations]
        with self._database.write() as cursor:
            for number in numbers:
                store.delete(cursor, self._user, number)


def _id(evaluation: Evaluation | int) -> int:
    given = evaluation.id if isinstance(evaluation, Evaluation) else evaluation
    if isinstance(given, bool) or not isinstance(given, int):
        raise InvalidInputError(f"{given!r} is neither an evaluation nor its id: list them to see the ids.")
    return given
