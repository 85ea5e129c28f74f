"""Every panel writes a time in one way."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from widgets.assets import module

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_time_is_that_of_the_visitors_clock_and_names_the_day_where_it_is_not_today(
    browser: Browser,
) -> None:
    context = browser.new_context(timezone_id="America/New_York", locale="de-DE")
    page = context.new_page()
    page.clock.set_fixed_time("2026-12-01T18:00:00+00:00")
    page.add_script_tag(content=module())
    times = {
        "2026-12-01T14:05:00+00:00": ("09:05", "09:05"),
        "2026-12-01T04:59:00+00:00": ("30 Nov, 23:59", "30 Nov"),
        "2025-12-01T14:05:00+00:00": ("1 Dec 2025, 09:05", "1 Dec 2025"),
    }
    for iso, expected in times.items():
        assert tuple(page.evaluate("iso => [timeText(iso), timeText(iso, true)]", iso)) == expected
    context.close()
