"""What a forked process finds imported: nothing here opens a library or starts a thread."""

# ruff: noqa: F401
from __future__ import annotations

import pandas  # by DuckDB, when a value is bound

import tests.torture.checking
import tests.torture.child
import workbench.api
import workbench.ingest.frames
import workbench.ingest.pipeline
import workbench.ingest.sandbox
import workbench.providers.choose
import workbench.providers.fake_embedder
