from __future__ import annotations

import pytest

from workbench.chat.followups import REWRITE_RULES, leans_on_earlier, standalone, standalone_by_terms
from workbench.chat.small_talk import REPLIES, small_talk_reply
from workbench.chat.suggestions import suggestions
from workbench.errors import ProviderError
from workbench.interfaces import ChatMessage
from workbench.providers.fake_chat import FakeChat

ACCURACY = "What was the accuracy in 2022?"
MELTING = "What is the melting point of arvenite?"
TURNS = (ChatMessage("user", ACCURACY), ChatMessage("assistant", "It was 0.91."))


@pytest.mark.parametrize(
    "question",
    [
        "And 2023?",
        "and how does the second one differ?",
        "What about bolmarite?",
        "Why?",
        "Does it dissolve in water?",
        "How do they compare?",
        "Is that significant?",
        "Which of these is older?",
        "Tell me more",
        "What does the latter show?",
        "In mice?",
        "In Mica?",
        "What is different?",
    ],
)
def test_a_question_that_needs_the_turns_before_it_is_noticed(question: str) -> None:
    assert leans_on_earlier(question)


@pytest.mark.parametrize(
    "question",
    [
        MELTING,
        ACCURACY,
        "How does a filter change the recall of a graph index?",
        "Which papers report that recall falls under a filter?",
        "Are there studies of bolmarite in groundwater?",
        "What does BMH-21 inhibit?",
        "What is FlashAttention?",
        "Who was Vaswani?",
        "Define BM25",
        "How do the authors justify their sample size?",
        "How does recall compare with other methods of search?",
    ],
)
def test_a_question_that_stands_alone_is_left_alone(question: str) -> None:
    assert not leans_on_earlier(question)
    model = FakeChat("Something else?")
    assert standalone(question, earlier=MELTING, history=TURNS, model=model) == question
    assert model.received == []


@pytest.mark.parametrize(
    ("question", "earlier", "searched"),
    [
        ("And 2023?", ACCURACY, "What was the accuracy in 2023?"),
        ("and in 2023?", ACCURACY, "What was the accuracy in 2023?"),
        ("And of bolmarite?", MELTING, "What is the melting point of bolmarite?"),
        ("what about of the third mineral?", MELTING, "What is the melting point of the third mineral?"),
        ("And the density?", MELTING, "And the density? (melting point arvenite)"),
        (
            "and how does the second one differ?",
            "How do Annoy and Faiss build an index?",
            "and how does the second one differ? (Annoy Faiss build index)",
        ),
        ("And 2023?", "Which mineral is blue?", "And 2023? (mineral blue)"),
        ("Why?", "?", "Why?"),
    ],
)
def test_without_a_chat_model_a_follow_up_takes_over_what_it_lacks(
    question: str, earlier: str, searched: str
) -> None:
    assert standalone_by_terms(question, earlier) == searched
    assert standalone(question, earlier=earlier) == searched


GERMAN = "Wie hoch ist der Schmelzpunkt von Arvenit?"
FRENCH = "Quel est le point de fusion de l'arvénite ?"
SPANISH = "¿Cuál es el punto de fusión de la arvenita?"
CHINESE = "阿文矿的熔点是多少？"
JAPANESE = "アルベナイトの融点は何度ですか？"


@pytest.mark.parametrize(
    ("earlier", "question", "searched"),
    [
        ("Wie hoch war sie im Jahr 2022?", "Und 2023?", "Wie hoch war sie im Jahr 2023?"),
        ("Wie hoch war sie im Jahr 2022?", "Und im Jahr 2023?", "Wie hoch war sie im Jahr 2023?"),
        (GERMAN, "Und von Bolmarit?", "Wie hoch ist der Schmelzpunkt von Bolmarit?"),
        (GERMAN, "Was ist mit Bolmarit?", "Was ist mit Bolmarit? (Schmelzpunkt Arvenit)"),
        (GERMAN, "Löst es sich in Wasser?", "Löst es sich in Wasser? (Schmelzpunkt Arvenit)"),
        (GERMAN, "Warum?", "Warum? (Schmelzpunkt Arvenit)"),
        ("Quelle était la précision en 2022 ?", "Et en 2023 ?", "Quelle était la précision en 2023 ?"),
        (FRENCH, "Et de la bolmarite ?", "Quel est le point de fusion de la bolmarite?"),
        (FRENCH, "Est-elle soluble ?", "Est-elle soluble ? (point fusion l'arvénite)"),
        (FRENCH, "Pourquoi ?", "Pourquoi ? (point fusion l'arvénite)"),
        ("¿Cuál fue la precisión en 2022?", "¿Y en 2023?", "¿Cuál fue la precisión en 2023?"),
        (SPANISH, "¿Y de la bolmarita?", "¿Cuál es el punto de fusión de la bolmarita?"),
        (SPANISH, "¿Y la densidad?", "¿Y la densidad? (punto fusión arvenita)"),
        (
            SPANISH,
            "¿En qué se diferencia la segunda?",
            "¿En qué se diferencia la segunda? (punto fusión arvenita)",
        ),
        ("2022年的准确率是多少？", "那2023年呢？", "2023年的准确率是多少？"),
        (CHINESE, "密度呢？", "密度呢？ (阿文矿的熔点)"),
        (CHINESE, "它溶于水吗？", "它溶于水吗？ (阿文矿的熔点)"),
        (CHINESE, "第二个有什么不同？", "第二个有什么不同？ (阿文矿的熔点)"),
        ("2022年の精度は何ですか？", "では2023年は？", "2023年の精度は何ですか？"),
        (JAPANESE, "密度は？", "密度は？ (アルベナイトの融点)"),
        (JAPANESE, "それは水に溶けますか？", "それは水に溶けますか？ (アルベナイトの融点)"),
        ("Qual è il punto di fusione?", "E la densità?", "E la densità? (Qual punto di fusione)"),
    ],
)
def test_follow_ups_in_other_languages_take_over_what_they_lack(
    earlier: str, question: str, searched: str
) -> None:
    assert standalone(question, earlier=earlier) == searched


@pytest.mark.parametrize(
    ("earlier", "question"),
    [
        (GERMAN, "Wie dicht ist Cendrit?"),
        (GERMAN, "Gibt es Studien zu Bolmarit?"),
        (GERMAN, "Wie begründen die Autoren ihre Stichprobengröße?"),
        (GERMAN, "Können Sie den Schmelzpunkt von Cendrit nennen?"),
        (FRENCH, "Quelle est la densité de la cendrite ?"),
        (FRENCH, "La bolmarite est-elle soluble dans l'eau ?"),
        (FRENCH, "Y a-t-il des études sur la bolmarite ?"),
        (FRENCH, "Comment les auteurs justifient-ils leur échantillon ?"),
        (SPANISH, "¿Cuál es la densidad de la cendrita?"),
        (SPANISH, "¿Hay estudios sobre la bolmarita?"),
        (CHINESE, "博尔马矿的密度是多少？"),
        (CHINESE, "有哪些关于博尔马矿的研究？"),
        (CHINESE, "其他矿物的熔点是多少？"),
        (JAPANESE, "ボルマライトの密度は何ですか？"),
        (JAPANESE, "ボルマライトに関する研究はありますか？"),
        (MELTING, "阿文矿的密度是多少？"),
        (MELTING, "ความหนาแน่นของโบลมาไรต์คือเท่าไร?"),
        ("Qual è il punto di fusione?", "Qual è la densità della bolmarite?"),
    ],
)
def test_a_question_in_another_language_that_stands_alone_is_searched_as_it_was_typed(
    earlier: str, question: str
) -> None:
    assert standalone(question, earlier=earlier) == question


def test_a_first_question_is_never_rewritten() -> None:
    model = FakeChat("Something else?")
    assert standalone("And 2023?", earlier=None, model=model) == "And 2023?"
    assert model.received == []


def test_a_chat_model_rewrites_a_follow_up_in_one_short_call() -> None:
    model = FakeChat(["What was the accuracy ", "of the model in 2023?"])
    searched = standalone("And 2023?", earlier=ACCURACY, history=TURNS, model=model)
    assert searched == "What was the accuracy of the model in 2023?"
    assert model.received == [
        (
            ChatMessage("system", REWRITE_RULES),
            ChatMessage(
                "user",
                f"Earlier turns:\nUser: {ACCURACY}\nAnswer: It was 0.91.\n\nLast question: And 2023?",
            ),
        )
    ]


@pytest.mark.parametrize(
    "reply",
    [
        "The accuracy in 2023 was 0.93.",
        "It rose.\nWhat was the accuracy in 2023?",
        "Is it 0.93 [1]?",
        "?" * 500,
        [ProviderError("The server is gone.")],
        ["What was ", ProviderError("The server is gone.")],
        "",
    ],
)
def test_a_chat_model_that_gives_no_question_is_replaced_by_the_rule(reply: str | list[str]) -> None:
    model = FakeChat(reply)
    assert standalone("And 2023?", earlier=ACCURACY, history=TURNS, model=model) == (
        "What was the accuracy in 2023?"
    )


def test_labels_and_quotation_marks_around_a_rewritten_question_go() -> None:
    model = FakeChat('Question: "What was the accuracy in 2023?"')
    assert standalone("And 2023?", earlier=ACCURACY, model=model) == "What was the accuracy in 2023?"


# --- small talk and suggestions -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("hello", "hello"),
        ("Hi there!", "hello"),
        ("Good morning, how are you?", "hello"),
        ("Guten Tag", "hello"),
        ("你好！", "hello"),
        ("Thanks!", "thanks"),
        ("Great, thank you very much.", "thanks"),
        ("Merci beaucoup", "thanks"),
        ("ok", "thanks"),
        ("bye", "bye"),
        ("See you tomorrow.", "bye"),
    ],
)
def test_greetings_and_thanks_get_a_reply_of_their_own(text: str, kind: str) -> None:
    assert small_talk_reply(text) == REPLIES[kind]


@pytest.mark.parametrize(
    "text",
    [
        "Hello, what is the melting point of iron?",
        "Hi-C",
        "thanks to which enzyme does it melt?",
        "?",
        "And 2023?",
    ],
)
def test_a_question_is_not_small_talk(text: str) -> None:
    assert small_talk_reply(text) is None


def test_suggestions_fit_what_the_conversation_sees() -> None:
    assert suggestions("thread", []) == ()
    assert suggestions("paper", ["On mica"])[0] == "What does this paper propose?"
    many = suggestions("project", ["On  mica " + "x" * 100, "On quartz"])
    assert many[0] == "What are the main findings?"
    assert many[-1] == "What does the abstract of “On quartz” propose?"
    assert not any("…" in question for question in many)
