from __future__ import annotations

import numpy
import pytest

from workbench.errors import ProviderError
from workbench.interfaces import ChatMessage, ChatUsage
from workbench.providers.fake_chat import FakeChat
from workbench.providers.fake_embedder import FakeEmbedder

FIRST = (ChatMessage("system", "Rules."), ChatMessage("user", "What does p53 bind?"))
SECOND = (ChatMessage("user", "And BRCA1?"),)


def test_a_text_is_one_reply_and_a_list_is_its_pieces() -> None:
    assert list(FakeChat("It binds DNA [1].").stream(FIRST)) == ["It binds DNA [1].", ChatUsage()]
    assert list(FakeChat(["It ", "binds [1", "]."]).stream(FIRST)) == ["It ", "binds [1", "].", ChatUsage()]


def test_a_list_of_lists_is_one_reply_after_another_and_the_last_repeats() -> None:
    fake = FakeChat([["one"], ["two", "!"]])
    answers = [[p for p in fake.stream(FIRST) if isinstance(p, str)] for _ in range(3)]
    assert answers == [["one"], ["two", "!"], ["two", "!"]]


def test_a_function_sees_the_messages() -> None:
    fake = FakeChat(lambda messages: f"You said: {messages[-1].content}")
    assert next(fake.stream(SECOND)) == "You said: And BRCA1?"


def test_it_keeps_the_messages_it_got_and_counts_answers_that_were_stopped() -> None:
    fake = FakeChat(["a", "b"], prompt_tokens=12)
    assert list(fake.stream(FIRST))[-1] == ChatUsage(12)
    stream = fake.stream(SECOND)
    next(stream)
    stream.close()
    assert fake.received == [FIRST, SECOND]
    assert fake.closed == 1


def test_an_error_in_the_script_is_raised_in_its_place() -> None:
    script: list[str | ProviderError] = ["half", ProviderError("broke off"), "never"]
    stream = FakeChat(script).stream(FIRST)
    assert next(stream) == "half"
    with pytest.raises(ProviderError, match="broke off"):
        next(stream)


def test_fake_vectors_are_the_same_in_every_process_and_of_the_size_asked_for() -> None:
    assert FakeEmbedder().name == "fake-words-64"
    vector = FakeEmbedder(8).embed_query("p53 binds DNA")
    assert numpy.allclose(vector, FakeEmbedder(8).embed_documents(["p53 binds DNA", "x"])[0], atol=1e-6)
    signs = "".join("+" if value > 0 else "-" for value in FakeEmbedder(8).embed_query("mitochondria"))
    assert signs == "++--+-++"


def test_fake_vectors_find_the_text_with_the_querys_words_among_many() -> None:
    fake = FakeEmbedder()
    subjects = [
        "protein folding",
        "bank revenue",
        "vector search",
        "gene repair",
        "airline traffic",
        "蛋白质",
    ]
    texts = [f"This paper of ours is about {subject}, and says so in the text." for subject in subjects]
    rows = fake.embed_documents(texts)
    for number, subject in enumerate(subjects):
        assert int((rows @ fake.embed_query(f"What is said about {subject}?")).argmax()) == number
