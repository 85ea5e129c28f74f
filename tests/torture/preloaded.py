"""What a forked process finds imported: nothing here opens a library or starts a thread."""

from __future__ import annotations

import llama_index.core.base.llms.types  # noqa: F401

import tests.torture.checking
import tests.torture.child  # noqa: F401
import workbench.api
import workbench.ingest.pipeline
import workbench.ingest.sandbox
import workbench.providers.fake_embedder  # noqa: F401
