"""Times as they leave the database."""

from __future__ import annotations

from datetime import UTC, datetime


def utc(moment: datetime) -> datetime:
    """A time read ``AT TIME ZONE 'UTC'``, marked as such.

    DuckDB's own conversion of zoned times to Python needs a package (pytz) that nothing else here needs.
    """
    return moment.replace(tzinfo=UTC)
