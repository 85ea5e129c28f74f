from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy
import pytest

from workbench import ConflictError, InvalidInputError, Memory, NotFoundError, ProviderError, Scope, Workbench
from workbench.providers.fake_embedder import FakeEmbedder

Open = Callable[..., Workbench]


def texts(memories: Sequence[Memory]) -> list[str]:
    return [memory.text for memory in memories]


def test_what_is_said_is_remembered_recalled_listed_and_forgotten(wb: Workbench) -> None:
    kept = wb.memory.remember("I use mice. We care about recall@10. What do they use?", message_id=7)
    assert texts(kept) == ["I use mice.", "We care about recall@10."]
    assert [(m.id, m.project_id, m.message_id) for m in kept] == [(1, None, 7), (2, None, 7)]
    assert wb.memory.list() == [kept[1], kept[0]]
    assert texts(wb.memory.recall("What dose is safe for mice?")) == ["I use mice."]
    wb.memory.forget(kept[0])
    assert wb.memory.list() == [kept[1]]
    assert wb.memory.recall("What dose is safe for mice?") == []
    wb.memory.forget(2)
    assert wb.memory.list() == []


def test_a_memory_can_be_put_into_other_words(wb: Workbench) -> None:
    first, second = wb.memory.remember("I use mice. I use rats.", message_id=7)
    changed = wb.memory.update(first, " I use\n old mice. ")
    assert (changed.id, changed.text, changed.created_at, changed.message_id) == (
        first.id, "I use old mice.", first.created_at, 7,
    )  # fmt: skip
    assert wb.memory.list() == [changed, second]
    with pytest.raises(ConflictError, match=f"Memory {second.id} says that already"):
        wb.memory.update(changed, "We use rats")
    assert wb.memory.update(second, "We use rats").text == "We use rats"
    assert texts(wb.memory.remember("I use mice.")) == ["I use mice."], "the old words are free again"


def test_a_memory_lasts_longer_than_the_workbench_that_kept_it(wb: Workbench, open_as: Open) -> None:
    wb.memory.remember("I use mice.")
    wb.close()
    assert texts(open_as("ann").memory.recall("mice")) == ["I use mice."]


@pytest.mark.parametrize(
    "said", ["Do I use mice?", "Suppose I use mice.", "They use mice.", "", "Compare them."]
)
def test_a_question_or_a_supposition_is_not_remembered(wb: Workbench, said: str) -> None:
    assert wb.memory.remember(said) == []
    assert wb.memory.list() == []


def test_the_same_said_twice_or_recalled_five_times_is_one_memory(wb: Workbench) -> None:
    (first,) = wb.memory.remember("I use mice.")
    for number in range(5):
        recalled = texts(wb.memory.recall("Which dose is safe for mice?"))
        said = f"Which dose number {number} is safe for mice?"
        assert wb.memory.remember(said, shown=recalled) == []
    (again,) = wb.memory.remember("We use mice")
    assert (again.id, again.text, again.created_at) == (first.id, "I use mice.", first.created_at)
    assert again.seen_at > first.seen_at
    assert wb.memory.list() == [again]


def test_what_a_passage_said_is_not_remembered_as_the_users_word(wb: Workbench) -> None:
    passage = "We measured the melting point of arvenite at nine sites. Then we left."
    said = "We measured the melting point of arvenite at nine sites. I doubt nine."
    assert texts(wb.memory.remember(said, shown=[passage])) == ["I doubt nine."]


def test_what_was_pasted_from_a_paper_that_no_passage_showed_is_not_remembered(wb: Workbench) -> None:
    text = "Fish sleep.\n\nWe recorded the sleep of forty zebrafish with infra-\nred cameras at night."
    filed = wb.papers.add_texts([{"title": "Sleep of fish", "text": text}], project="Minerals")
    wb.notes.create("Mine", "We keep our forty zebrafish in the cellar of building nine.")
    assert filed.files[0].status == "ready"
    pasted = "We recorded the sleep of forty zebrafish with infrared cameras at night."
    nearly = "So, we recorded sleep of forty zebrafish with infra-red cameras at night!"
    own = "We recorded the sleep of mice. We keep our forty zebrafish in the cellar of building nine."
    talk = wb.conversations.create()  # which sees neither the paper nor the note's project
    talk.ask(f"{pasted} What is the density of cendrite?")
    assert wb.memory.list() == []
    assert wb.memory.remember(nearly) == []
    assert texts(wb.memory.remember(own)) == own.replace(". ", ".|").split("|")


def test_each_project_recalls_its_own_orphans_recall_no_projects_and_all_recalls_all(wb: Workbench) -> None:
    minerals = Scope.project(wb.projects.get("Minerals"))
    other = Scope.project(wb.projects.create("Other"))
    wb.memory.remember("I study mice at home.")
    wb.memory.remember("We study mice in the north.", scope=minerals)
    assert texts(wb.memory.recall("mice")) == ["I study mice at home."]
    assert texts(wb.memory.recall("mice", scope=minerals)) == ["We study mice in the north."]
    assert wb.memory.recall("mice", scope=other) == []
    both = ["We study mice in the north.", "I study mice at home."]
    assert sorted(texts(wb.memory.recall("mice", scope=Scope.ALL))) == sorted(both)
    assert texts(wb.memory.list()) == texts(wb.memory.list(Scope.ALL)) == both
    assert texts(wb.memory.list(minerals)) == both[:1]
    wb.projects.delete("Minerals")
    assert texts(wb.memory.list()) == both[1:], "a project's memories go with it"


def test_another_users_memories_do_not_exist(wb: Workbench, open_as: Open) -> None:
    (mine,) = wb.memory.remember("I use mice.", scope=Scope.project(1))
    bob = open_as("bob")
    bob.memory.remember("I use rats.")
    assert texts(bob.memory.list()) == ["I use rats."]
    assert bob.memory.recall("mice", scope=Scope.ALL) == []
    with pytest.raises(NotFoundError, match="Memory not found: 1. List your memories to see their ids"):
        bob.memory.forget(2, mine.id)
    with pytest.raises(NotFoundError, match="Memory not found: 1"):
        bob.memory.update(mine, "I use cats.")
    for call in (
        lambda: bob.memory.list(Scope.project(1)),
        lambda: bob.memory.recall("mice", scope=Scope.project(1)),
        lambda: bob.memory.remember("I use cats.", scope=Scope.project(1)),
    ):
        with pytest.raises(NotFoundError, match="Project not found"):
            call()
    assert texts(bob.memory.list()) == ["I use rats."], "of several ids all are forgotten or none"
    assert texts(wb.memory.list()) == ["I use mice."]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda wb: wb.memory.forget(9), NotFoundError, "Memory not found: 9"),
        (lambda wb: wb.memory.forget(10**40), NotFoundError, "Memory not found"),
        (lambda wb: wb.memory.forget("mice"), InvalidInputError, "neither a memory nor a memory's id"),
        (lambda wb: wb.memory.forget(True), InvalidInputError, "neither a memory nor a memory's id"),
        (lambda wb: wb.memory.update(9, "I use cats."), NotFoundError, "Memory not found: 9"),
        (lambda wb: wb.memory.update(1, " the "), InvalidInputError, "a sentence of up to 300 characters"),
        (
            lambda wb: wb.memory.update(1, "cat " * 99),
            InvalidInputError,
            "a sentence of up to 300 characters",
        ),
        (lambda wb: wb.memory.recall("mice", limit=-1), InvalidInputError, "limit=-1"),
        (lambda wb: wb.memory.list("Minerals"), InvalidInputError, "not a scope"),
        (lambda wb: wb.memory.list(Scope.project(9)), NotFoundError, "Project not found"),
    ],
)
def test_what_cannot_be_done_says_why(
    wb: Workbench, call: Callable[[Workbench], object], error: type[Exception], says: str
) -> None:
    wb.memory.remember("I use mice.")
    with pytest.raises(error, match=says):
        call(wb)
    assert texts(wb.memory.list()) == ["I use mice."]


class Likeness(FakeEmbedder):
    """Takes mouse and rodent for the same; fails where it is told to."""

    broken = False
    embedded = 0

    def embed_documents(self, texts: Sequence[str]) -> numpy.ndarray:
        if self.broken:
            raise ProviderError("out of order")
        self.embedded += len(texts)
        return super().embed_documents([text.replace("rodents", "mice") for text in texts])


def test_the_embedder_recalls_what_no_word_does_embeds_each_memory_once_and_may_fail(open_as: Open) -> None:
    embedder = Likeness()
    wb = open_as("ann", embedder=embedder)
    wb.memory.remember("I keep rodents. Our budget is small.")
    before = embedder.embedded
    for _ in range(3):
        assert texts(wb.memory.recall("mice keep")) == ["I keep rodents."]
    assert embedder.embedded == before + 2 + 3, "two memories once, the question each time"
    embedder.broken = True
    assert texts(wb.memory.recall("rodents")) == ["I keep rodents."]
    assert texts(open_as("ann", embedder=embedder).memory.recall("budget")) == ["Our budget is small."]


def test_forgetting_leaves_a_healthy_library(wb: Workbench) -> None:
    wb.memory.remember("I use mice.", scope=Scope.project(1))
    wb.memory.forget(1)
    assert wb.doctor() == []
