"""The open workbench: where rooms are wired together, and nowhere else."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Unpack

from workbench.answering import answer_stream
from workbench.asking import Asking, AskOptions, check_options, likeness_of
from workbench.background import Background
from workbench.bibliography import Bibliography
from workbench.chat.coverage import heard
from workbench.chat.judging import judged
from workbench.chat.tools import Tools
from workbench.comparing import Matrices
from workbench.conversing import Conversation, Conversations
from workbench.errors import InvalidInputError
from workbench.evaluations import Evaluations
from workbench.interfaces import ChatModel, Embedder
from workbench.labelling import Questions
from workbench.library import Chunks, Papers
from workbench.measuring import Measuring
from workbench.memory import Memories
from workbench.naming import PaperLike, ProjectLike
from workbench.notes import Notes
from workbench.pooling import Mode
from workbench.presets import Presets
from workbench.projects import Projects
from workbench.records import Answer, Event, Evidence, SentenceVerdict
from workbench.retrieval.audit import audit_text
from workbench.scope import Scope, as_scope
from workbench.serving import Choice, ServingEmbedder
from workbench.settings import Settings, library_path
from workbench.status import status_of
from workbench.storage import maintenance, readonly_sql
from workbench.storage.database import Database
from workbench.streaming import EventStream, events_async, last_answer, last_answer_async
from workbench.summaries import Summaries
from workbench.turns import Desk
from workbench.unfinished import Unfinished

if TYPE_CHECKING:
    import pandas

    from workbench.ingest.indexing import PaperIndexer
    from workbench.ingest.pipeline import Ingestor
    from workbench.ingest.sandbox import Reader


def open(
    path: str | Path | None = None,
    *,
    user: str | None = None,
    settings: Settings | None = None,
    embedder: Embedder | None = None,
    chat_model: Any | None = None,
) -> Workbench:
    """Opens a library, made where there is none, and returns its workbench (also a context manager).

    ``path`` is the library file (default: the user's data folder), ``user`` whose library links, projects
    and questions these are (default: the login). ``embedder`` and ``chat_model`` replace the ones that
    the settings would choose; ``chat_model`` may be any LlamaIndex ``LLM``. Raises SettingsError,
    LibraryLockedError, LibraryVersionError.
    """
    loaded = settings if settings is not None else Settings.load(library=path and Path(path), user=user)
    given = {"library": library_path(Path(path)) if path else None, "user": user}
    loaded = loaded.model_copy(update={name: value for name, value in given.items() if value is not None})
    return Workbench(loaded, embedder=embedder, chat_model=chat_model)


class Workbench:
    """One user's open library. Safe to use from several threads; ``close`` ends its helper process."""

    def __init__(self, settings: Settings, *, embedder: Embedder | None, chat_model: Any | None) -> None:
        self.settings = settings
        self.user = settings.user
        self._database = Database(settings.library, lock_timeout=settings.lock_timeout)
        self._embedder = ServingEmbedder(self._database, settings, embedder)
        self._asking = Asking(self._database, settings, self._embedder, chat_model=chat_model)
        self._background = Background()
        never_chats = settings.chat == "extractive" and chat_model is None
        self.summaries = Summaries(
            self._database,
            self.user,
            background=self._background,
            chat_model=lambda scope: self._asking.chat_model(None, scope)[0],
            mode="extractive" if never_chats and settings.summaries == "auto" else settings.summaries,
        )
        unfinished = Unfinished(
            self._database,
            self.user,
            lacking=self._ingestor_of_what_lacks,
            refresh_indexes=self._asking.refresh_indexes,
            background=self._background,
        )
        self.papers = Papers(
            self._database,
            self.user,
            ingestor=self._ingestor_and_notes,
            renewer=lambda everything: self._ingestor(self._embedder.for_renewing(everything=everything)),
            unfinished=unfinished,
            reader=lambda: self._reader,
            refresh_indexes=self._asking.refresh_indexes,
            background=self._background,
            summaries=self.summaries,
        )
        self.projects = Projects(
            self._database,
            self.user,
            self.papers,
            max_papers=settings.project_max_papers,
            summaries=self.summaries,
        )
        self.notes = Notes(
            self._database,
            self.user,
            self.projects,
            indexer=self._indexer_and_notes,
            refresh_indexes=self._asking.refresh_indexes,
            max_papers=settings.project_max_papers,
            summaries=self.summaries,
        )
        self.chunks = Chunks(self._database, self.user)
        self.questions = Questions(self._database, self.user)
        self.presets = Presets(self._database, self.user)
        self.evaluations = Evaluations(self._database, self.user)
        measuring = Measuring(
            self._asking,
            self.projects,
            reader=lambda: self._reader,
            embedder=lambda: self._embedder.for_searching().embedder,
        )
        self.evaluate, self.evaluate_chunk_sizes = measuring.evaluate, measuring.evaluate_chunk_sizes
        self.evaluate_audit = measuring.evaluate_audit
        self.past_searches, self.replay = measuring.past_searches, measuring.replay
        self.matrices = Matrices(self._asking, self.projects)
        self.matrix = self.matrices.ask
        self.memory = Memories(
            self._database,
            self.user,
            embedder=lambda: self._embedder.for_searching().embedder,
            papers_like=self._asking.papers_like,
        )
        self.tools = Tools(self._database, self.user, find_projects=self.projects.search)
        self.conversations = Conversations(Desk(asking=self._asking, tools=self.tools, memory=self.memory))
        self.bibliography = Bibliography(self._database, self.user, conversation=self.conversations.get)
        unfinished.go_on()
        self.summaries.backfill()

    def __enter__(self) -> Workbench:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Workbench({str(self.settings.library)!r}, user={self.user!r})"

    def close(self) -> None:
        """Ends the process that reads files and what is done in the background. The library itself is never
        left open between calls."""
        self._background.close()
        if "_reader" in self.__dict__:
            self._reader.close()
        self._database.close()

    # --- asking ------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        scope: Scope = Scope.ORPHANS,
        top_k: int | None = None,
        max_per_paper: int | None = None,
        min_relevance: float | None = None,
        mode: Mode = "hybrid",
    ) -> Evidence:
        """The numbered passages for a question, at most ``top_k``, best first.

        ``mode`` is ``"hybrid"``, ``"vector"`` or ``"keyword"``. What was left out, and why, is in
        ``Evidence.dropped``; times in seconds are in ``Evidence.timing``.
        """
        scope = as_scope(scope)
        given = self._asking.given(top_k, max_per_paper, min_relevance)
        return self._asking.find(query, scope=scope, given=given, mode=mode).evidence

    def ask(self, question: str, *, scope: Scope = Scope.ORPHANS, **options: Unpack[AskOptions]) -> Answer:
        """A cited answer from the scope's papers, or a refusal with the nearest passages.

        The options are those of ``stream``: ``top_k``, ``max_per_paper``, ``min_relevance``, ``mode`` and
        ``provider``.
        """
        check_options("ask", options)
        return last_answer(self.stream(question, scope=scope, **options))

    async def aask(
        self, question: str, *, scope: Scope = Scope.ORPHANS, **options: Unpack[AskOptions]
    ) -> Answer:
        """``ask`` for a running event loop: the work goes on in threads, and cancelling it stops them."""
        check_options("aask", options)
        return await last_answer_async(self.astream(question, scope=scope, **options))

    def astream(
        self, question: str, *, scope: Scope = Scope.ORPHANS, **options: Unpack[AskOptions]
    ) -> AsyncGenerator[Event, None]:
        """``stream`` for ``async for``. Leaving the loop stops the chat model."""
        check_options("astream", options)
        return events_async(lambda: self.stream(question, scope=scope, **options))

    def stream(
        self,
        question: str,
        *,
        scope: Scope = Scope.ORPHANS,
        top_k: int | None = None,
        max_per_paper: int | None = None,
        min_relevance: float | None = None,
        mode: Mode = "hybrid",
        provider: str | None = None,
    ) -> EventStream:
        """Events of an answer as it is made: EvidenceFound, TextDelta and Notice, and last AnswerDone.

        ``provider`` is ``"extractive"`` (the papers' own sentences, no chat model), ``"ollama"``, or None
        for what the settings choose. Closing the stream, from any thread, stops the chat model. A greeting or
        thanks alone gets a reply without a search.
        """
        scope = as_scope(scope)
        given = self._asking.given(top_k, max_per_paper, min_relevance)
        return answer_stream(self._asking, question, scope=scope, given=given, mode=mode, provider=provider)

    def ask_silent(self, answer: Answer, **options: Unpack[AskOptions]) -> Answer:
        """The same question to the papers of its scope that gave no passage, now or in an answer before.

        ``scope_label`` and ``warnings`` of the result say which papers were asked; where none was silent, its
        text says so. Options are those of ``stream``.
        """
        check_options("ask_silent", options)
        return last_answer(self.stream_silent(answer, **options))

    def stream_silent(
        self,
        answer: Answer,
        *,
        top_k: int | None = None,
        max_per_paper: int | None = None,
        min_relevance: float | None = None,
        mode: Mode = "hybrid",
        provider: str | None = None,
    ) -> EventStream:
        """``ask_silent`` as events, like ``stream``."""
        if not isinstance(answer, Answer):
            raise InvalidInputError(f"{answer!r} is no answer: give what ask() returned.")
        given = self._asking.given(top_k, max_per_paper, min_relevance)
        found = answer.evidence
        return answer_stream(
            self._asking,
            found.query,
            scope=found.scope,
            given=given,
            mode=mode,
            provider=provider,
            paper=found.parameters.get("paper"),
            without=heard(found),
        )

    def project_chat(self, project: ProjectLike) -> Conversation:
        """The project's one rolling chat: its scope is fixed, it never expires, and it goes with its project.
        Raises NotFoundError."""
        return self.conversations.of_project(self.projects.get(project).id)

    def paper_chat(self, paper: PaperLike) -> Conversation:
        """The chat about one paper, gone 24 hours after its last use.

        A chat model reads the whole paper where its window holds it, else the best passages. Raises
        NotFoundError.
        """
        return self.conversations.of_paper(self.papers.get(paper).id)

    def audit(
        self,
        text: str,
        evidence: Evidence,
        *,
        embedder: Embedder | None = None,
        judge: ChatModel | None = None,
    ) -> tuple[SentenceVerdict, ...]:
        """What the evidence says of each sentence of ``text``: supported, partly, unsupported, uncited.

        An ``embedder`` is asked about sentences in other words; a ``judge`` (one call a sentence) may lower
        a verdict, never raise it. Raises ProviderError where the embedder fails, InvalidInputError for
        what is no text or no evidence.
        """
        if not isinstance(text, str) or not isinstance(evidence, Evidence):
            raise InvalidInputError("Give the text of an answer, and the evidence that search() returned.")
        likeness = likeness_of(embedder) if embedder is not None else None
        verdicts = audit_text(text, evidence.passages, likeness=likeness)
        return judged(text, verdicts, evidence.passages, judge) if judge is not None else verdicts

    def retriever(self, scope: Scope = Scope.ORPHANS) -> Any:
        """A LlamaIndex ``BaseRetriever`` over the scope; its nodes carry title, file and pages."""
        from workbench.providers.llama_index_bridge import make_retriever

        return make_retriever(lambda query: self.search(query, scope=scope))

    def query_engine(self, scope: Scope = Scope.ORPHANS) -> Any:
        """A LlamaIndex query engine whose responses are this workbench's cited answers."""
        from workbench.providers.llama_index_bridge import make_query_engine

        return make_query_engine(lambda query: self.ask(query, scope=scope))

    # --- the library as data -----------------------------------------------------------------

    def sql(
        self, query: str, parameters: Sequence[Any] | Mapping[str, Any] | None = None
    ) -> pandas.DataFrame:
        """The rows of one SELECT over this user's papers, pages, chunks, projects, project_papers,
        retrievals, retrieval_passages, ledger, conversations, messages, memories, questions, question_gold,
        evaluations, evaluation_results, evaluation_scores, presets, matrices and matrix_cells. Read
        only; ``parameters`` are bound to ``?`` or ``$name``. Raises InvalidInputError for anything else."""
        with self._database.read() as cursor:
            return readonly_sql.run(cursor, self.user, query, parameters)

    def status(self) -> dict[str, Any]:
        """Where the library is, what it holds for this user, which embedder and chat model serve it, and in
        ``"warnings"`` what they lack and which papers could not be indexed. ``"generation"`` numbers the set
        of vectors that answers searches, None before the first; each new embedder begins another."""
        return status_of(self._asking, self._embedder, self.papers, self.projects)

    def doctor(self) -> list[str]:
        """What is wrong with the library, one line each; empty for a healthy one. A derived index that says
        something else than the library is made again."""
        return maintenance.doctor(self._database) or self._asking.mended_indexes()

    def compact(self) -> None:
        """Rewrites the library file without the space that deleted papers left behind."""
        maintenance.compact(self._database)

    def backup(self, path: str | Path) -> Path:
        """Writes a checked copy of the library to ``path`` and returns it."""
        return maintenance.backup(self._database, Path(path))

    # --- wiring ------------------------------------------------------------------------------

    @cached_property
    def _reader(self) -> Reader:
        from workbench.ingest.sandbox import Reader

        return Reader(timeout=self.settings.read_timeout, memory_mb=self.settings.read_memory_mb)

    def _ingestor_and_notes(self) -> tuple[Ingestor, tuple[str, ...]]:
        """For new papers, and what to say of papers that get no vectors."""
        self.papers.go_on_moving()
        choice = self._embedder.for_adding()
        return self._ingestor(choice), _words_only(choice)

    def _indexer_and_notes(self) -> tuple[PaperIndexer, tuple[str, ...]]:
        """The same for notes."""
        from workbench.ingest.indexing import PaperIndexer

        self.papers.go_on_moving()
        choice = self._embedder.for_adding()
        return PaperIndexer(choice.embedder), _words_only(choice)

    def _ingestor_of_what_lacks(self) -> Ingestor | None:
        """With the embedder that serves the library, for papers without vectors; None where it is not at
        hand. Raises ProviderError where one is set by name and cannot be had."""
        choice = self._embedder.for_searching()
        return self._ingestor(choice) if choice.embedder is not None else None

    def _ingestor(self, choice: Choice) -> Ingestor:
        from workbench.ingest.pipeline import Ingestor

        return Ingestor(
            self._database,
            self._reader,
            choice.embedder,
            project_max_papers=self.settings.project_max_papers,
            max_file_mb=self.settings.max_file_mb,
        )


def _words_only(choice: Choice) -> tuple[str, ...]:
    """What to say of papers that get no vectors for want of an embedder."""
    again = "New papers are found by words only until they are reprocessed."
    return () if choice.embedder is not None else (" ".join([*choice.warnings, again]),)
