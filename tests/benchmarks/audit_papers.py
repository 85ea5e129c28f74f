"""The papers and paraphrases that the audit is measured on: the sample papers, and the shared ones."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from workbench.evaluation.audit_set import AuditPaper, Paraphrase
from workbench.ingest.chunking import chunk_document
from workbench.ingest.reading import read_document
from workbench.providers.onnx_embedder import OnnxEmbedder
from workbench.records import Passage

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "data"
TUNED = frozenset({"samples", "rag-retrieval", "sec-filings"})
"""The groups that the audit was tuned on; the others were held out."""


def sample_papers() -> list[AuditPaper]:
    """The sample papers in ``data``, one group."""
    return _read("samples", sorted(SAMPLES.glob("*.pdf")), first=1)


def shared_papers(shared: Path, *, groups: Iterable[str] | None = None) -> list[AuditPaper]:
    """The papers of each folder in ``shared/papers``, one group a folder."""
    papers: list[AuditPaper] = []
    for folder in sorted(path for path in (shared / "papers").iterdir() if path.is_dir()):
        if groups is None or folder.name in groups:
            papers += _read(folder.name, sorted(folder.glob("*.pdf")), first=1000 + len(papers))
    return papers


def paraphrases() -> list[Paraphrase]:
    """Sentences in other words; of shared papers only a phrase of at most eight words tells the original."""
    lines = (Path(__file__).parent / "audit_paraphrases.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        Paraphrase(row["folder"], row["file"], row.get("original") or row["phrase"], row["paraphrase"])
        for row in rows
    ]


def _read(group: str, files: Iterable[Path], *, first: int) -> list[AuditPaper]:
    token_spans = OnnxEmbedder(None).token_spans
    papers = []
    for paper_id, path in enumerate(files, start=first):
        document = read_document(path, name=path.name)
        chunks = chunk_document(document, token_spans=token_spans)
        passages = tuple(
            Passage(
                n=number,
                chunk_id=paper_id * 10_000 + number,
                paper_id=paper_id,
                title=document.title or path.name,
                file=path.name,
                page_start=chunk.page_start,
                page_end=chunk.page_end,
                text=chunk.text,
                score=1.0,
                vector_rank=None,
                keyword_rank=None,
                char_start=chunk.char_start,
                char_end=chunk.char_end,
                year=document.year,
            )
            for number, chunk in enumerate(chunks, start=1)
        )
        papers.append(AuditPaper(group, path.name, passages))
    return papers
