from __future__ import annotations

import sys

import pytest

from tests.torture.kills import Workshop


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """Libraries to copy and rehearsals, made once for all tests that do harm."""
    if not sys.platform.startswith("linux"):
        pytest.skip("processes are forked, killed and limited here as only Linux does it")
    return Workshop(tmp_path_factory.mktemp("torture"))
