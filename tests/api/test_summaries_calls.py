from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from workbench import (
    ConflictError,
    NotFoundError,
    ProviderError,
    ProviderUnavailableError,
    Settings,
    Workbench,
)
from workbench.interfaces import ChatMessage
from workbench.providers.fake_chat import FakeChat
from workbench.storage import summaries as summary_store

MINERALS = (
    "Two minerals. Goal: Compare them. It holds 2 papers: “A study of bolmarite” and “A study of arvenite”. "
    "Recurring terms: mineral, northern, mines, samples, washed, dried."
)


@pytest.fixture
def open_summing(library: Path, open_as: Callable[..., Workbench]) -> Callable[..., Workbench]:
    """Opens Ann's library, which has no summaries at first, with summaries in the background."""
    with open_as("ann")._database.write() as cursor:
        cursor.execute(
            "UPDATE projects SET auto_summary = NULL, summary_updated_at = NULL, summary_by = NULL"
        )

    def open_library(mode: str = "auto", *, user: str = "ann", **options: Any) -> Workbench:
        settings = Settings.load(library=library, user=user, chat="extractive", summaries=mode)
        return open_as(user, settings=settings, **options)

    return open_library


def settled(wb: Workbench) -> Workbench:
    assert wb._background.wait(20)
    return wb


def text_of(wb: Workbench, project: str = "Minerals") -> str | None:
    return settled(wb).summaries.get(project).text


def make_older(wb: Workbench, minutes: int) -> None:
    """As if everything had happened so much earlier."""
    with wb._database.write() as cursor:
        cursor.execute(f"UPDATE project_papers SET added_at = added_at - INTERVAL {minutes} MINUTE")
        cursor.execute(
            f"UPDATE projects SET summary_updated_at = summary_updated_at - INTERVAL {minutes} MINUTE"
        )


def test_opening_a_library_writes_the_summaries_that_are_missing(
    open_summing: Callable[..., Workbench],
) -> None:
    wb = open_summing()
    assert text_of(wb) == MINERALS
    found = wb.summaries.get("Minerals")
    assert (found.project_id, found.name, found.written_by) == (1, "Minerals", "extractive")
    assert found.updated_at is not None
    assert found.updated_at.tzinfo is not None
    assert wb.summaries.list() == [found]
    assert wb.summaries.list("archived") == []
    again = open_summing("auto", chat_model=FakeChat("Another."))
    assert settled(again).summaries.list() == [found], "what is there is not written again"


def test_a_chat_model_writes_the_summary_and_sees_the_projects_words_and_papers(
    open_summing: Callable[..., Workbench],
) -> None:
    model = FakeChat("It compares two minerals. It has two papers.")
    wb = open_summing(chat_model=model)
    assert text_of(wb) == "It compares two minerals. It has two papers."
    (asked,) = [messages[1].content for messages in model.received]
    assert asked.startswith(
        "Summarize this project in 3-4 sentences covering its purpose, themes, and content."
    )
    assert "Title: Minerals\nDescription: Two minerals\nGoal: Compare them\n" in asked
    assert "A study of arvenite\nArvenite is a mineral of the northern mines." in asked


def test_every_update_of_a_project_gives_a_new_summary_and_nobody_waits_for_it(
    open_summing: Callable[..., Workbench],
) -> None:
    asked, gate = threading.Event(), threading.Event()
    replies = iter(["Out of date when it came.", "Made up for.", "After the update.", "After another."])

    def reply(messages: Sequence[ChatMessage]) -> str:
        asked.set()
        assert gate.wait(20)
        return next(replies)

    wb = open_summing(chat_model=FakeChat(reply))
    assert asked.wait(20)
    assert wb.projects.update("Minerals", goal="Know them").goal == "Know them"
    assert wb.summaries.get("Minerals").text is None, "the call did not wait"
    gate.set()
    assert text_of(wb) == "After the update."
    wb.projects.update("Minerals", goal=None)
    assert text_of(wb) == "After another."


def test_papers_that_come_or_go_change_a_summary_that_is_missing_or_over_an_hour_old(
    open_summing: Callable[..., Workbench], mineral_files: list[Path]
) -> None:
    wb = settled(open_summing("extractive", chat_model=FakeChat("Never asked.")))  # it reads old projects
    wb.projects.create("Ores")
    assert text_of(wb, "Ores") is None
    wb.projects.add("Ores", 3)
    assert text_of(wb, "Ores") == ("A project on Ores. It holds 1 paper: “A study of cendrite”.")
    wb.papers.add(mineral_files[3], project="Ores")
    wb.papers.add_texts([{"title": "Box", "text": "A box of ores."}], project="Ores")
    wb.projects.remove("Ores", 4)
    assert "1 paper: “A study of cendrite”" in str(text_of(wb, "Ores")), "it is fresh"
    make_older(wb, 59)
    wb.projects.add("Ores", 4)
    assert "1 paper:" in str(text_of(wb, "Ores"))
    make_older(wb, 2)
    wb.projects.remove("Ores", 4)
    assert "2 papers: “Box” and “A study of cendrite”" in str(text_of(wb, "Ores"))


def test_a_change_that_came_too_early_for_a_summary_is_made_up_for_when_the_library_opens_again(
    open_summing: Callable[..., Workbench],
) -> None:
    wb = settled(open_summing())
    wb.projects.add("Minerals", 3)
    assert text_of(wb) == MINERALS
    make_older(wb, 61)
    wb.close()
    assert "3 papers" in str(text_of(open_summing()))


def test_a_paper_that_leaves_the_library_leaves_the_summaries_at_once(
    open_summing: Callable[..., Workbench],
) -> None:
    wb = settled(open_summing())
    assert "bolmarite" in str(wb.summaries.get(1).text)
    wb.papers.remove(2)
    assert "bolmarite" not in str(text_of(wb))
    assert "1 paper: “A study of arvenite”" in str(text_of(wb))


@pytest.mark.parametrize("script", [ProviderUnavailableError("no server"), ProviderError("broke off"), ""])
def test_a_chat_model_that_fails_keeps_the_old_summary_and_is_no_error(
    open_summing: Callable[..., Workbench], caplog: pytest.LogCaptureFixture, script: str | ProviderError
) -> None:
    settled(open_summing()).close()
    wb = open_summing(chat_model=FakeChat([[script]]))
    with caplog.at_level("DEBUG", logger="workbench"):
        assert wb.projects.update("Minerals", name="Rocks").name == "Rocks"
        assert text_of(wb, "Rocks") == MINERALS
    assert {record.levelname for record in caplog.records} <= {"DEBUG"}
    with pytest.raises(ProviderError):
        wb.summaries.refresh("Rocks")
    assert text_of(wb, "Rocks") == MINERALS


def test_summaries_can_be_switched_off_and_written_by_hand(open_summing: Callable[..., Workbench]) -> None:
    model = FakeChat("Asked for.")
    wb = open_summing("off", chat_model=model)
    wb.projects.update(1, goal="Compare them")
    wb.projects.add(1, 3)
    wb.projects.remove(1, 3)
    assert (text_of(wb), model.received) == (None, [])
    assert wb.summaries.refresh("minerals").text == "Asked for."
    assert wb.summaries.get("minerals").text == "Asked for."


def test_refreshing_a_project_that_changes_all_the_time_says_so(
    open_summing: Callable[..., Workbench], open_as: Callable[..., Workbench]
) -> None:
    other = open_as("ann")

    def reply(messages: Sequence[ChatMessage]) -> str:
        other.projects.update("Minerals", goal=f"{len(model.received)} goals")
        return "Old already."

    model = FakeChat(reply)
    wb = open_summing("off", chat_model=model)
    with pytest.raises(ConflictError, match="“Minerals” is changing: refresh its summary again in a moment"):
        wb.summaries.refresh("Minerals")
    assert (len(model.received), wb.summaries.get(1).text) == (3, None)


def test_a_project_deleted_while_its_summary_is_written_leaves_nothing_and_no_error(
    open_summing: Callable[..., Workbench], open_as: Callable[..., Workbench]
) -> None:
    other = open_as("ann")

    def reply(messages: Sequence[ChatMessage]) -> str:
        other.projects.delete("Minerals")
        return "Too late."

    wb = settled(open_summing(chat_model=FakeChat(reply)))
    assert wb.summaries.list(None) == []
    assert wb.doctor() == []


def test_another_users_summaries_do_not_exist(
    open_summing: Callable[..., Workbench], open_as: Callable[..., Workbench]
) -> None:
    settled(open_summing())
    bob = open_as("bob")
    assert bob.summaries.list(None) == []
    for call in (bob.summaries.get, bob.summaries.refresh):
        with pytest.raises(NotFoundError, match="Project not found"):
            call(1)
    assert bob.projects.search("minerals") == []


def test_closing_does_not_wait_for_a_slow_chat_model(open_summing: Callable[..., Workbench]) -> None:
    gate = threading.Event()
    wb = open_summing(chat_model=FakeChat(lambda messages: str(gate.wait(20))))
    wb.projects.update(1, goal="Know them")
    wb._background.close(patience=0.1)
    wb.close()
    gate.set()
    assert wb._background.wait(20)


def test_projects_are_found_by_name_description_and_summary_archived_ones_too(
    open_summing: Callable[..., Workbench],
) -> None:
    wb = open_summing()
    wb.projects.create("Sleep of mice", "Slow waves")
    wb.projects.update(wb.projects.create("Old vectors"), status="archived")
    settled(wb)
    found = {query: wb.projects.search(query) for query in ("sleeping mouse waves", "vectors", "bolmarite")}
    assert [matches[0].title for matches in found.values()] == ["Sleep of mice", "Old vectors", "Minerals"]
    assert found["bolmarite"][0].summary_snippet == MINERALS[:200]
    with wb._database.read() as cursor:
        assert len(summary_store.described_projects(cursor, "ann")) == 3


def test_a_note_that_comes_moves_or_goes_counts_as_a_paper_of_its_projects(
    open_summing: Callable[..., Workbench],
) -> None:
    wb = open_summing("extractive")
    for name in ("Ores", "Caves"):
        wb.projects.create(name)
    note = wb.notes.create("Field trip", "We found ore.", project="Ores")
    assert text_of(wb, "Ores") == "A project on Ores. It holds 1 paper: “Field trip”."
    wb.notes.update(note, project="Caves")
    assert text_of(wb, "Caves") == "A project on Caves. It holds 1 paper: “Field trip”."
    long = "We found ore. " * 20
    wb.notes.update(note, title="Long trip", body=long)
    assert "“Long trip”" in str(text_of(wb, "Caves"))
    written = wb.summaries.get("Caves").updated_at
    wb.notes.update(note, body=f"{long} And coal.")
    assert settled(wb).summaries.get("Caves").updated_at == written, "it is fresh, and tells only the opening"
    make_older(wb, 61)
    wb.notes.update(note, body=f"{long} And coal and gold.")
    assert settled(wb).summaries.get("Caves").updated_at > written
    assert text_of(wb, "Caves") == "A project on Caves. It holds 1 paper: “Long trip”."
    wb.notes.delete(note)
    assert text_of(wb, "Caves") == "A project on Caves. It holds no papers yet."


def modes(messages: Sequence[ChatMessage]) -> str:
    """A chat model's summary of what it is shown."""
    return f"It has {4 if '4 modes' in messages[1].content else 3} modes."


def test_what_only_the_old_text_of_a_note_said_leaves_the_summary_at_once(
    open_summing: Callable[..., Workbench],
) -> None:
    wb = open_summing(chat_model=FakeChat(modes))
    wb.projects.create("Modes")
    note = wb.notes.create("Device", "The device has 4 modes.", project="Modes")
    assert text_of(wb, "Modes") == "It has 4 modes."
    wb.notes.update(note, body="The device has 3 modes.")
    assert text_of(wb, "Modes") == "It has 3 modes."


@pytest.mark.parametrize("everything", [False, True])
def test_what_only_the_old_text_of_a_paper_said_leaves_all_summaries_of_it_when_it_is_read_again(
    open_summing: Callable[..., Workbench], open_as: Callable[..., Workbench], everything: bool
) -> None:
    wb, bob = open_summing(chat_model=FakeChat(modes)), open_as("bob")
    bob.projects.add(bob.projects.create("Rocks"), wb.papers.share(1))
    bob.summaries.refresh("Rocks")
    with wb._database.write() as cursor:  # as a reader of earlier times had understood the file
        cursor.execute("UPDATE pages SET text = 'It has 4 modes.' WHERE page = 1 AND paper_id = 1")
    wb.projects.update("Minerals", status="archived")
    assert text_of(wb) == "It has 4 modes."
    if everything:
        wb.papers.reprocess_all()
    else:
        wb.papers.reprocess(1)
    assert text_of(wb) == "It has 3 modes."
    assert bob.summaries.get("Rocks").updated_at is None, "outdated until it is written anew"
    assert bob.doctor() == []
    again = open_summing(user="bob")
    assert settled(again).summaries.get("Rocks").updated_at is not None
    written = wb.summaries.get("Minerals")
    wb.papers.reprocess(1)
    assert settled(wb).summaries.get("Minerals") == written, "its text is the same"


def test_an_outdated_summary_stays_while_the_chat_model_fails_and_gives_way_where_there_is_none(
    open_summing: Callable[..., Workbench],
) -> None:
    model = FakeChat([["It has 4 modes."], [ProviderError("broke off")]])
    wb = open_summing("off", chat_model=model)
    wb.projects.create("Modes")
    note = wb.notes.create("Device", "The device has 4 modes.", project="Modes")
    wb.summaries.refresh("Modes")
    wb.notes.update(note, body="The device has 3 modes.")
    wb = open_summing(chat_model=model)
    assert text_of(wb, "Modes") == "It has 4 modes."
    assert wb.summaries.get("Modes").updated_at is None
    assert text_of(open_summing(), "Modes") == "A project on Modes. It holds 1 paper: “Device”."


def test_a_summary_of_an_empty_project_gives_way_to_the_first_paper(
    open_summing: Callable[..., Workbench],
) -> None:
    wb = open_summing("extractive")
    wb.projects.update(wb.projects.create("Ores"), description="Of the north")
    assert text_of(wb, "Ores") == "Of the north. It holds no papers yet."
    wb.projects.add("Ores", 3)
    assert text_of(wb, "Ores") == "Of the north. It holds 1 paper: “A study of cendrite”."
