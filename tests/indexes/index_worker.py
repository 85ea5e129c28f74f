"""One process's work on a library and its indexes: ``python -m tests.indexes.index_worker VERB LIBRARY …``.

``search LIBRARY`` prints what each index finds · ``watch LIBRARY PAPERS ROUNDS`` searches again and again and
expects papers 1 to PAPERS to be found whole each time · ``refresh LIBRARY`` brings all indexes up to date ·
``add LIBRARY SEED`` adds one paper
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from tests.contracts.index_libraries import DuckDBLibrary, unit_rows
from workbench.indexes.exact_vectors import ExactVectorIndex
from workbench.indexes.hnsw_vectors import HnswVectorIndex
from workbench.indexes.keyword import KeywordTantivyIndex

CHUNKS = 20
QUERY = unit_rows(999, 1)[0]


class Indexes:
    """The three indexes of one library, in the folders the product uses."""

    def __init__(self, library: DuckDBLibrary) -> None:
        derived = library.database.derived
        self.exact = ExactVectorIndex(library.source, derived / "vectors")
        self.hnsw = HnswVectorIndex(library.source, derived / "hnsw", self.exact, rows_per_hit=1)
        self.keyword = KeywordTantivyIndex(library.source, derived / "keywords")

    def refresh(self) -> bool:
        return all([self.exact.refresh(), self.keyword.refresh(), self.hnsw.refresh()])

    def problems(self) -> list[str]:
        return [*self.hnsw.problems(), *self.keyword.problems()]

    def found(self, papers: list[int] | None, limit: int) -> dict[str, list[tuple[int, int]]]:
        """Paper and chunk ids of each index's hits, in order."""
        hits = {
            "exact": self.exact.search(QUERY, papers=papers, limit=limit),
            "hnsw": self.hnsw.search(QUERY, papers=papers, limit=limit),
            "keyword": self.keyword.search("graphene", papers=papers, limit=limit),
        }
        return {name: [(hit.paper_id, hit.chunk_id) for hit in list_] for name, list_ in hits.items()}


def paper(seed: int) -> tuple[list[str], np.ndarray]:
    """Texts and vectors of one paper."""
    return [f"graphene part {n} of paper {seed}" for n in range(CHUNKS)], unit_rows(seed, CHUNKS)


def main(verb: str, path: str, *arguments: str) -> None:
    library = DuckDBLibrary(Path(path))
    indexes = Indexes(library)
    if verb == "search":
        print(json.dumps(indexes.found(None, 10)))
    elif verb == "watch":
        papers = list(range(1, int(arguments[0]) + 1))
        for _ in range(int(arguments[1])):
            for name, found in indexes.found(papers, 10**6).items():
                assert sorted({paper for paper, _ in found}) == papers, name
                assert len({chunk for _, chunk in found}) == len(found) == CHUNKS * len(papers), name
        print("complete")
    elif verb == "refresh":
        print("ready", flush=True)
        print(indexes.refresh())
    else:
        print(library.add(*paper(int(arguments[0]))))


if __name__ == "__main__":
    main(*sys.argv[1:])
