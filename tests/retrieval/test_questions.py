from __future__ import annotations

import pytest

from workbench.retrieval.questions import asks_about_papers


@pytest.mark.parametrize(
    "question",
    [
        "Which of these papers used mice?",
        "On which day does the fiscal year of each annual report end?",
        "Is it the subject of another paper here?",
        "What do both studies conclude?",
        "Welche Arbeiten nutzen Mäuse?",
        "Was sagen diese Studien zur Wirkung?",
        "Quels articles utilisent des souris ?",
        "¿Qué estudios usan ratones?",
        "这些论文的作者是谁?",
        "これらの論文は何を述べていますか",
    ],
)
def test_a_question_about_the_papers_as_such_is_known(question: str) -> None:
    assert asks_about_papers(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is the melting point of arvenite?",
        "What does the paper propose?",
        "How do reports of side effects differ?",
        "Which activation function is proposed in the Primer paper?",
        "Wie groß war die Stichprobe der Studie?",
        "这种方法的准确率是多少?",
    ],
)
def test_a_question_about_one_matter_is_not(question: str) -> None:
    assert not asks_about_papers(question)
