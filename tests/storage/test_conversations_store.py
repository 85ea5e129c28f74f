from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.storage import small_papers
from workbench.errors import ConflictError, InvalidInputError, NotFoundError
from workbench.records import Answer, Citation, Dropped, Evidence, Passage, SentenceVerdict
from workbench.scope import Scope
from workbench.storage import (
    conversations,
    maintenance,
    messages,
    papers,
    projects,
    readonly_sql,
    revisions,
)
from workbench.storage.answer_json import read_answer, write_answer
from workbench.storage.database import Database

AddPaper = Callable[..., int]


def answer(paper_id: int = 1, *, text: str = "It fell to 0.2 [1].", scope: Scope = Scope.ORPHANS) -> Answer:
    """An answer with every kind of record in it, citing the beginning of page 1 of a small paper."""
    passage = Passage(
        n=1, chunk_id=7, paper_id=paper_id, title="On mica", file="mica.txt", page_start=1, page_end=1,
        text="Page 1 of mica.", score=0.123456, vector_rank=1, keyword_rank=None, char_start=0, char_end=15,
        authors=("A. Author",), year=2020,
    )  # fmt: skip
    citation = Citation(
        n=1, paper_id=paper_id, title="On mica", file="mica.txt", page=1, quote="Page 1 of mica.",
        char_start=0, char_end=15, support="partly", claim_end=19, page_label="iii", authors=("A. Author",),
    )  # fmt: skip
    evidence = Evidence(
        query="How far did it fall?",
        scope=scope,
        scope_label="Orphan notes only",
        passages=(passage,),
        dropped=(Dropped(9, 2, 0.01, "below the minimum"),),
        papers_in_scope=2,
        parameters={"top_k": 15, "mode": "hybrid"},
        warnings=("A warning.",),
        timing={"vectors": 0.1234567890123},
    )
    verdict = SentenceVerdict("It fell to 0.2 [1].", "partly", "half its words", 1, "Page 1 of mica.", 0, 19)
    return Answer(
        "And how far?", text, (citation,), evidence, False, "fake-chat", "Orphan notes only", (verdict,),
        ("A warning.",), {"total": 0.5}, stopped=True,
    )  # fmt: skip


# --- one conversation ---------------------------------------------------------------------------


def test_a_new_conversation_sees_orphans_and_has_no_messages(database: Database) -> None:
    with database.write() as cursor:
        made = conversations.create(cursor, "ann")
    assert (made.kind, made.title, made.scope, made.scope_label, made.paper_id, made.messages) == (
        "thread",
        "New conversation",
        Scope.ORPHANS,
        "Orphan notes only",
        None,
        0,
    )
    with database.read() as cursor:
        assert conversations.get(cursor, "ann", made.id) == made


def test_the_first_question_is_the_title_until_one_is_given(database: Database) -> None:
    with database.write() as cursor:
        made = conversations.create(cursor, "ann")
        long = "Which of the many reasons that the authors give for the loss of recall " * 3
        messages.add_question(cursor, "ann", made.id, f"  {long}\n?", scope=made.scope)
        messages.add_question(cursor, "ann", made.id, "And then?", scope=made.scope)
        title = conversations.get(cursor, "ann", made.id).title
        assert title == "Which of the many reasons that the authors give for the loss of recall Which…"
        assert conversations.update(cursor, "ann", made.id, title=" Recall ").title == "Recall"
        assert conversations.update(cursor, "ann", made.id, title=None).title == title
        conversations.clear(cursor, "ann", made.id)
        assert conversations.get(cursor, "ann", made.id).title == "New conversation"


def test_small_talk_gives_no_title(database: Database) -> None:
    with database.write() as cursor:
        made = conversations.create(cursor, "ann")
        for text in ("Hello!", "thanks", "Guten Tag"):
            messages.add_question(cursor, "ann", made.id, text, scope=made.scope)
        assert conversations.get(cursor, "ann", made.id).title == "New conversation"
        messages.add_question(cursor, "ann", made.id, "Hi, how hard is mica?", scope=made.scope)
        messages.add_question(cursor, "ann", made.id, "And how dense?", scope=made.scope)
        assert conversations.get(cursor, "ann", made.id).title == "Hi, how hard is mica?"
        assert [c.title for c in conversations.list_conversations(cursor, "ann")] == ["Hi, how hard is mica?"]


def test_what_is_not_given_stays_and_null_is_a_value(database: Database) -> None:
    with database.write() as cursor:
        project = projects.create(cursor, "ann", "Rocks")
        made = conversations.create(cursor, "ann", scope=Scope.project(project), title="Mica")
        assert (made.scope, made.scope_label) == (Scope.project(project), "Rocks")
        assert conversations.update(cursor, "ann", made.id).scope == Scope.project(project)
        renamed = conversations.update(cursor, "ann", made.id, title="Quartz")
        assert (renamed.title, renamed.scope) == ("Quartz", Scope.project(project))
        freed = conversations.update(cursor, "ann", made.id, scope=None)
        assert (freed.title, freed.scope, freed.scope_label) == ("Quartz", Scope.ORPHANS, "Orphan notes only")
        widened = conversations.update(cursor, "ann", made.id, scope=Scope.ALL)
        assert (widened.scope, widened.scope_label) == (Scope.ALL, "All notes")


@pytest.mark.parametrize("scope", [-1, 3, "all", True])
def test_what_is_no_scope_is_refused(database: Database, scope: object) -> None:
    with database.write() as cursor:
        made = conversations.create(cursor, "ann")
        with pytest.raises(InvalidInputError, match="is not a scope"):
            conversations.update(cursor, "ann", made.id, scope=scope)  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize(
    ("title", "complaint"), [("  ", "empty"), ("x" * 201, "201 characters"), (3, "not a title")]
)
def test_a_title_that_cannot_be_one_is_refused(database: Database, title: str, complaint: str) -> None:
    with database.write() as cursor, pytest.raises(InvalidInputError, match=complaint):
        conversations.create(cursor, "ann", title=title)


def test_conversations_are_listed_with_the_one_used_last_first(database: Database) -> None:
    ids = []
    for _ in range(3):
        with database.write() as cursor:
            ids.append(conversations.create(cursor, "ann").id)
    with database.write() as cursor:
        conversations.touch(cursor, "ann", ids[0])
    with database.read() as cursor:
        assert [c.id for c in conversations.list_conversations(cursor, "ann")] == [ids[0], ids[2], ids[1]]


def test_clearing_keeps_the_conversation_and_deleting_takes_it(
    database: Database, add_paper: AddPaper
) -> None:
    paper_id = add_paper("mica")
    with database.write() as cursor:
        made, other = (conversations.create(cursor, "ann") for _ in range(2))
        for one in (made, other):
            messages.add_question(cursor, "ann", one.id, "How far?", scope=one.scope)
            messages.add_answer(cursor, "ann", one.id, answer(paper_id), revision=99)
        conversations.clear(cursor, "ann", made.id)
        assert conversations.get(cursor, "ann", made.id).messages == 0
        conversations.delete(cursor, "ann", made.id)
        with pytest.raises(NotFoundError, match="Conversation not found"):
            conversations.get(cursor, "ann", made.id)
        assert len(messages.list_messages(cursor, "ann", other.id)) == 2
        assert cursor.execute("SELECT count(*) FROM message_papers").fetchone() == (1,)


# --- whose --------------------------------------------------------------------------------------


def test_another_users_conversation_does_not_exist_on_any_call(database: Database) -> None:
    with database.write() as cursor:
        project = projects.create(cursor, "ann", "Rocks")
        made = conversations.create(cursor, "ann")
        message = messages.add_question(cursor, "ann", made.id, "How far?", scope=made.scope)
        calls: list[Callable[[int], object]] = [
            lambda i: conversations.get(cursor, "bob", i),
            lambda i: conversations.update(cursor, "bob", i, title="Mine"),
            lambda i: conversations.notice(cursor, "bob", i),
            lambda i: conversations.clear(cursor, "bob", i),
            lambda i: conversations.delete(cursor, "bob", i),
            lambda i: messages.add_question(cursor, "bob", i, "?", scope=Scope.ALL),
            lambda i: messages.add_answer(cursor, "bob", i, answer(), revision=1),
            lambda i: messages.list_messages(cursor, "bob", i),
            lambda i: messages.latest_answers(cursor, "bob", i, limit=3),
        ]
        for number, call in enumerate(calls):
            for conversation_id in (made.id, 999, -1, 2**70):
                with pytest.raises(NotFoundError) as caught:
                    call(conversation_id)
                assert str(caught.value) == conversations.NOT_FOUND, number
        with pytest.raises(NotFoundError, match="Conversation not found"):
            messages.get(cursor, "bob", message)
        for scope in (Scope.project(project), Scope.project(999)):
            with pytest.raises(NotFoundError, match="Project not found"):
                conversations.create(cursor, "bob", scope=scope)
        with pytest.raises(NotFoundError, match="Project not found"):
            conversations.project_chat(cursor, "bob", project.id)
        assert conversations.list_conversations(cursor, "bob") == []
        assert conversations.get(cursor, "ann", made.id).messages == 1


# --- projects -----------------------------------------------------------------------------------


def test_a_project_has_one_chat_whose_scope_is_fixed(database: Database) -> None:
    with database.write() as cursor:
        project = projects.create(cursor, "ann", "Rocks")
        chat = conversations.project_chat(cursor, "ann", project.id)
        assert (chat.kind, chat.title, chat.scope, chat.scope_label) == (
            "project",
            "Rocks",
            Scope.project(project),
            "Rocks",
        )
        assert conversations.project_chat(cursor, "ann", project.id) == chat
        for scope in (None, Scope.ORPHANS, Scope.ALL):
            with pytest.raises(ConflictError, match="its scope is fixed"):
                conversations.update(cursor, "ann", chat.id, scope=scope)
        assert conversations.update(cursor, "ann", chat.id, scope=Scope.project(project)) == chat
        assert conversations.list_conversations(cursor, "ann") == []
        assert conversations.list_conversations(cursor, "ann", kinds=("project",)) == [chat]
        cursor.execute("UPDATE conversations SET used_at = now() - INTERVAL 400 DAY")
        assert conversations.project_chat(cursor, "ann", project.id).id == chat.id


def test_the_label_follows_a_project_that_is_renamed_or_archived(database: Database) -> None:
    with database.write() as cursor:
        project = projects.create(cursor, "ann", "Rocks")
        made = conversations.create(cursor, "ann", scope=Scope.project(project))
        projects.update(cursor, "ann", project.id, name="Stones", status="archived")
        found = conversations.get(cursor, "ann", made.id)
        assert (found.scope, found.scope_label) == (Scope.project(project), "Stones")
        assert conversations.notice(cursor, "ann", made.id) is None


def test_a_deleted_project_takes_its_chat_and_frees_the_threads_that_saw_it(database: Database) -> None:
    with database.write() as cursor:
        project, kept = (projects.create(cursor, "ann", name) for name in ("Rocks", "Kept"))
        theirs = projects.create(cursor, "bob", "Rocks")
        thread = conversations.create(cursor, "ann", scope=Scope.project(project))
        other = conversations.create(cursor, "ann", scope=Scope.project(kept))
        chat = conversations.project_chat(cursor, "ann", project.id)
        bobs = conversations.project_chat(cursor, "bob", theirs.id)
        messages.add_question(cursor, "ann", chat.id, "How far?", scope=chat.scope)
        projects.delete(cursor, "ann", project.id)
        with pytest.raises(NotFoundError):
            conversations.get(cursor, "ann", chat.id)
        assert cursor.execute("SELECT count(*) FROM messages").fetchone() == (0,)
        freed = conversations.get(cursor, "ann", thread.id)
        assert (freed.scope, freed.scope_label) == (Scope.ORPHANS, "Orphan notes only")
        notice = conversations.notice(cursor, "ann", thread.id)
        assert notice is not None
        assert notice.startswith("Project “Rocks” was deleted")
        conversations.forget_notice(cursor, "ann", thread.id)
        assert conversations.notice(cursor, "ann", thread.id) is None
        assert conversations.get(cursor, "ann", other.id) == other
        assert conversations.get(cursor, "bob", bobs.id) == bobs


# --- papers -------------------------------------------------------------------------------------


def test_a_papers_chat_expires_a_day_after_its_last_use(database: Database, add_paper: AddPaper) -> None:
    paper_id = add_paper("mica")
    with database.write() as cursor:
        chat = conversations.paper_chat(cursor, "ann", paper_id)
        assert (chat.kind, chat.title, chat.scope_label, chat.paper_id) == ("paper", "On mica", "On mica", 1)
        messages.add_question(cursor, "ann", chat.id, "How far?", scope=chat.scope)
        cursor.execute("UPDATE conversations SET used_at = now() - INTERVAL 23 HOUR")
        again = conversations.paper_chat(cursor, "ann", paper_id)
        assert (again.id, again.messages) == (chat.id, 1)
        cursor.execute("UPDATE conversations SET used_at = now() - INTERVAL 25 HOUR")
        with pytest.raises(NotFoundError, match="Conversation not found"):
            conversations.get(cursor, "ann", chat.id)
        assert conversations.list_conversations(cursor, "ann", kinds=("paper",)) == []
        fresh = conversations.paper_chat(cursor, "ann", paper_id)
        assert fresh.id != chat.id
        assert fresh.messages == 0
        assert cursor.execute("SELECT count(*) FROM messages").fetchone() == (0,)
        with pytest.raises(ConflictError, match="its scope is fixed"):
            conversations.update(cursor, "ann", fresh.id, scope=Scope.ALL)
        with pytest.raises(NotFoundError, match="Paper not found"):
            conversations.paper_chat(cursor, "bob", paper_id)


# --- answers ------------------------------------------------------------------------------------


def test_an_answer_comes_back_equal_in_every_field(database: Database, add_paper: AddPaper) -> None:
    stored = answer(add_paper("mica"), scope=Scope.ALL)
    with database.write() as cursor:
        made = conversations.create(cursor, "ann", scope=Scope.ALL)
        asked = messages.add_question(cursor, "ann", made.id, "And how far?", scope=Scope.ALL)
        said = messages.add_answer(cursor, "ann", made.id, stored, revision=revisions.latest(cursor))
    with database.read() as cursor:
        question, reply = messages.list_messages(cursor, "ann", made.id)
        assert messages.get(cursor, "ann", said) == reply
        assert messages.latest_answers(cursor, "ann", made.id, limit=5) == [stored]
    assert (question.id, question.role, question.text, question.scope, question.answer, question.changed) == (
        asked,
        "user",
        "And how far?",
        Scope.ALL,
        None,
        (),
    )
    assert (reply.id, reply.role, reply.text, reply.scope, reply.answer, reply.changed) == (
        said,
        "assistant",
        stored.text,
        Scope.ALL,
        stored,
        (),
    )


def test_text_that_no_library_can_hold_keeps_its_length() -> None:
    odd = replace(answer(), text="A\x00B \ud800 C [1].")
    assert read_answer(write_answer(odd)) == replace(odd, text="A\ufffdB \ufffd C [1].")


def test_an_answer_of_another_version_is_read_as_far_as_it_is_known() -> None:
    written = write_answer(answer())
    newer = written.replace('"refused": false', '"refused": false, "mood": "calm"', 1)
    assert read_answer(newer) == answer()
    older = written.replace(', "stopped": true', "", 1)
    assert read_answer(older) == replace(answer(), stopped=False)


def test_each_answer_stands_behind_its_question_whichever_was_ready_first(database: Database) -> None:
    with database.write() as cursor:
        made = conversations.create(cursor, "ann")
        asked = {
            text: messages.add_question(cursor, "ann", made.id, text, scope=made.scope)
            for text in ("How hard is mica?", "How dense is it?", "Why?")
        }
        for text in ("How dense is it?", "How hard is mica?"):
            given = replace(answer(text=f"To “{text}”: 3 [1]."), question=text)
            messages.add_answer(cursor, "ann", made.id, given, revision=0, question_id=asked[text])
        found = messages.list_messages(cursor, "ann", made.id)
    assert [m.text for m in found] == [
        "How hard is mica?",
        "To “How hard is mica?”: 3 [1].",
        "How dense is it?",
        "To “How dense is it?”: 3 [1].",
        "Why?",
    ]


def test_a_question_asked_again_gets_the_answer_and_the_one_that_failed_stays_without(
    database: Database,
) -> None:
    with database.write() as cursor:
        made = conversations.create(cursor, "ann")
        for _ in range(2):
            asked = messages.add_question(cursor, "ann", made.id, "And how far?", scope=made.scope)
        messages.add_answer(cursor, "ann", made.id, answer(), revision=0, question_id=asked)
        found = messages.list_messages(cursor, "ann", made.id)
    assert [m.role for m in found] == ["user", "user", "assistant"]


def test_no_answer_comes_into_a_conversation_whose_question_was_cleared(database: Database) -> None:
    with database.write() as cursor:
        made, other = conversations.create(cursor, "ann"), conversations.create(cursor, "ann")
        asked = messages.add_question(cursor, "ann", made.id, "How far?", scope=made.scope)
        with pytest.raises(NotFoundError, match="removed meanwhile"):
            messages.add_answer(cursor, "ann", other.id, answer(), revision=0, question_id=asked)
        conversations.clear(cursor, "ann", made.id)
        with pytest.raises(NotFoundError, match="removed meanwhile"):
            messages.add_answer(cursor, "ann", made.id, answer(), revision=0, question_id=asked)
        assert messages.list_messages(cursor, "ann", made.id) == []


def test_the_last_answers_come_oldest_first(database: Database) -> None:
    with database.write() as cursor:
        made = conversations.create(cursor, "ann")
        for n in range(4):
            messages.add_answer(cursor, "ann", made.id, answer(text=f"Answer {n} [1]."), revision=1)
        found = messages.latest_answers(cursor, "ann", made.id, limit=2)
    assert [a.text for a in found] == ["Answer 2 [1].", "Answer 3 [1]."]


def test_answers_that_were_moved_are_read_and_deleted_like_the_others(database: Database) -> None:
    asked = messages.MOST_RECENT + 3
    with database.write() as cursor:
        made, other = (conversations.create(cursor, "ann") for _ in range(2))
        messages.add_answer(cursor, "ann", other.id, answer(text="Another's [1]."), revision=1)
        for n in range(asked):
            messages.add_answer(cursor, "ann", made.id, answer(text=f"Answer {n} [1]."), revision=1)
    with database.read() as cursor:
        found = messages.list_messages(cursor, "ann", made.id)
        assert [m.answer for m in found] == [answer(text=f"Answer {n} [1].") for n in range(asked)]
        latest = messages.latest_answers(cursor, "ann", made.id, limit=asked - 1)
        assert [a.text for a in latest] == [f"Answer {n} [1]." for n in range(1, asked)]
        recent = cursor.execute("SELECT count(answer) FROM messages").fetchone()
        assert recent is not None
        assert recent[0] <= messages.MOST_RECENT
        rows = readonly_sql.run(
            cursor, "ann", "SELECT json_extract_string(answer, '$.text') AS t FROM messages"
        )
        assert set(rows["t"]) == {"Another's [1].", *(m.text for m in found)}
    with database.write() as cursor:
        conversations.delete(cursor, "ann", made.id)
        assert cursor.execute("SELECT count(*) FROM kept_answers").fetchone() == (1,)
        assert [m.text for m in messages.list_messages(cursor, "ann", other.id)] == ["Another's [1]."]


def test_an_old_answer_says_which_of_its_papers_changed_or_left(
    database: Database, add_paper: AddPaper
) -> None:
    def changed() -> tuple[str, ...]:
        with database.read() as cursor:
            return messages.list_messages(cursor, "ann", made.id)[0].changed

    paper_id = add_paper("mica")
    with database.write() as cursor:
        made = conversations.create(cursor, "ann")
        messages.add_answer(cursor, "ann", made.id, answer(paper_id), revision=revisions.latest(cursor))
    add_paper("quartz")
    assert changed() == ()
    with database.write() as cursor:
        papers.replace_index(cursor, paper_id, small_papers.draft("mica", dimension=None), generation=None)
    assert changed() == ("“On mica” was indexed again since; its quotes still stand on their pages.",)
    with database.write() as cursor:
        papers.replace_index(cursor, paper_id, small_papers.draft("beryl", dimension=None), generation=None)
    assert changed() == ("“On mica” has changed since: what [1] cites is not there any more.",)
    with database.write() as cursor:
        papers.unlink(cursor, "ann", paper_id)
    assert changed() == ("“On mica” has left your library.",)


def test_a_paper_that_changed_while_the_answer_was_written_counts_as_changed(
    database: Database, add_paper: AddPaper
) -> None:
    paper_id = add_paper("mica")
    with database.read() as cursor:
        before = revisions.latest(cursor)
    with database.write() as cursor:
        papers.replace_index(cursor, paper_id, small_papers.draft("beryl", dimension=None), generation=None)
        made = conversations.create(cursor, "ann")
        messages.add_answer(cursor, "ann", made.id, answer(paper_id), revision=before)
        found = messages.list_messages(cursor, "ann", made.id)
    assert found[0].changed == ("“On mica” has changed since: what [1] cites is not there any more.",)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("DELETE FROM conversations", "messages of no conversation: 2"),
        (
            "UPDATE messages SET answer = NULL",
            "answers of no message, and messages with no answer or two: 1",
        ),
        (
            "INSERT INTO kept_answers SELECT message_id, answer FROM messages WHERE answer IS NOT NULL",
            "answers of no message, and messages with no answer or two: 1",
        ),
        (
            "UPDATE conversations SET rag_project_id = 99",
            "conversations in a project that is not their user's: 1",
        ),
    ],
)
def test_the_doctor_finds_conversations_that_are_not_whole(
    database: Database, damage: str, problem: str
) -> None:
    with database.write() as cursor:
        made = conversations.create(cursor, "ann")
        messages.add_question(cursor, "ann", made.id, "How far?", scope=made.scope)
        messages.add_answer(cursor, "ann", made.id, answer(), revision=1)
    assert maintenance.doctor(database) == []
    with database.write() as cursor:
        cursor.execute(damage)
    assert maintenance.doctor(database) == [f"{problem} found"]
