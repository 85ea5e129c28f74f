"""The reading process: ``python -m workbench.ingest.worker MEMORY_MB``.

It reads requests from its standard input and answers on its standard output (see ``frames``), one at a
time, until the input ends. It never touches the library and needs nothing but the file it is given.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any, BinaryIO

from workbench.errors import DocumentError, InvalidInputError
from workbench.ingest.frames import document_to_wire, packed, read_frame

OUT_OF_MEMORY = 77  # exit status
_WATCH_SECONDS = 0.1
_ADDRESSES_MB = 768


def main() -> None:
    memory_mb = int(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a stop in the notebook is the notebook's business
    warnings.simplefilter("ignore")
    answers = _private_output()
    limit_memory(memory_mb)
    threading.Thread(target=_watch, args=(memory_mb, os.getppid()), daemon=True).start()
    while True:
        try:
            request, _ = read_frame(lambda count: _read_exactly(sys.stdin.buffer, count))
        except EOFError:
            return
        _answer(request, answers)


def limit_memory(megabytes: int) -> None:
    """Lets one huge allocation fail at once, where the system can; the watch keeps the limit itself.

    This bound is on addresses, of which a program takes far more than memory.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    wanted = (megabytes + _ADDRESSES_MB) * 1024 * 1024
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    except (ValueError, OSError):  # macOS does not keep this limit
        return


def _watch(memory_mb: int, parent: int) -> None:
    """Ends this process when it has grown too large, or when the one it works for has gone."""
    inherited = _memory()
    while True:
        time.sleep(_WATCH_SECONDS)
        if os.getppid() != parent:
            os._exit(1)
        held = _memory()
        if held > memory_mb * 1024 * 1024 and held > inherited:
            os._exit(OUT_OF_MEMORY)


def _memory() -> int:
    """Memory this process holds, in bytes; 0 where the system does not tell.

    Without ``/proc`` it is the most it has held so far, which can begin with what its parent held.
    """
    try:
        resident = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return resident * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _private_output() -> BinaryIO:
    """The answers' own copy of standard output; what a library prints goes to standard error instead."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def _read_exactly(stream: BinaryIO, count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError
    return data


def _answer(request: dict[str, Any], answers: BinaryIO) -> None:
    payload = b""
    try:
        if request["do"] == "read":
            message = _read(request, answers)
        else:
            message, payload = _page_view(request)
    except InvalidInputError as error:
        message = {"error": "input", "reason": str(error)}
    except DocumentError as error:
        message = {"error": "document", "reason": str(error)}
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except OSError as error:
        message = {"error": "document", "reason": f"the file cannot be opened: {error.strerror or error}"}
    except Exception as error:  # noqa: BLE001 - a parser's own fault is the file's fault here, and said so
        message = {"error": "document", "reason": f"the file cannot be read ({type(error).__name__})"}
    answers.write(packed(message, payload))
    answers.flush()


def _read(request: dict[str, Any], answers: BinaryIO) -> dict[str, Any]:
    from workbench.ingest.reading import read_document

    def at_page(number: int) -> None:
        answers.write(packed({"page": number}))
        answers.flush()

    document = read_document(
        Path(request["path"]), name=request["name"], skip_pages=set(request["skip"]), at_page=at_page
    )
    return {"document": document_to_wire(document)}


def _page_view(request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    from workbench.ingest.page_images import page_view

    view = page_view(
        Path(request["path"]),
        request["page"],
        width=request["width"],
        quote=request["quote"],
        between=tuple(between) if (between := request.get("between")) else None,
        paint=request.get("paint", True),
        with_text=request.get("with_text", False),
    )
    sizes = {"width": view.width, "height": view.height, "boxes": view.boxes, "found": view.found}
    runs = [[run.text, run.box, run.turn, run.glued] for run in view.runs]
    return {"view": sizes | {"runs": runs}}, view.png


if __name__ == "__main__":
    main()
