from __future__ import annotations

import pytest

from workbench.retrieval.answerability import Answerability, judge_answerable
from workbench.retrieval.names import mentioned, names, proper_nouns, spelled_out

TEXTS = [
    "With a filter of ten papers the recall of a FAISS graph index fell to 0.205.",
    "The DuckDB index returned no rows for a filter on a single paper.",
    "Opening and closing the library costs 10 ms on a quiet machine.",
]


def judged(question: str, *, chosen: int = 3, best_cosine: float | None = None) -> Answerability:
    return judge_answerable(question, TEXTS, chosen=chosen, best_cosine=best_cosine)


@pytest.mark.parametrize(
    "question",
    [
        "What recall did the graph index keep with a filter of ten papers?",
        "How many rows does DuckDB's index return for a filter on a single paper?",
        "WHAT DOES IT COST TO OPEN AND CLOSE THE LIBRARY?",
        "What is the 2nd cost of opening the library on a quiet 18GB machine?",
    ],
)
def test_a_question_whose_terms_stand_in_one_passage_is_answerable(question: str) -> None:
    assert judged(question).answerable


def test_a_name_that_no_candidate_mentions_makes_a_question_unanswerable() -> None:
    judgement = judged(
        "What recall did a filter of ten papers leave to ScaNN and to HNSW32?", best_cosine=0.9
    )
    assert (judgement.answerable, judgement.missing_names) == (False, ("ScaNN", "HNSW32"))


def test_a_name_in_a_candidate_that_was_not_chosen_counts_as_mentioned() -> None:
    assert judged("What about DuckDB?", chosen=1, best_cosine=0.9).missing_names == ()


def test_more_that_stands_nowhere_than_stands_together_makes_a_question_unanswerable() -> None:
    judgement = judged("Why did the machine draw power while whales were singing?", best_cosine=0.9)
    assert not judgement.answerable
    assert judgement.absent == ("draw", "power", "whales", "singing")
    assert judged("Why did the quiet machine open the library in the ocean?").answerable


def test_terms_of_any_candidate_are_in_the_papers() -> None:
    question = "What does opening and closing cost on a quiet machine?"
    assert judged(question, chosen=3) == judged(question, chosen=2) == Answerability(True, 1.0, ())


def test_where_the_papers_are_in_another_language_the_cosine_decides() -> None:
    question = "What do the authors of the study train to predict the price of a task?"
    chinese = ["任务完成度的预测使用了提升树模型，价格和用户密度是重要的特征。"]
    close = judge_answerable(question, chinese, chosen=1, best_cosine=0.6)
    far = judge_answerable(question, chinese, chosen=1, best_cosine=0.3)
    assert (close.answerable, far.answerable) == (True, False)


def test_hardly_anything_of_many_things_said_near_the_one_name_makes_a_question_unanswerable() -> None:
    texts = [
        "DuckDB was used in a quiet room. The filter returned no rows.",
        "The price was paid by readers in Sweden. Readers liked the colour of the price.",
    ]
    asked = "Which colour and price did readers in the country pay for DuckDB?"
    judgement = judge_answerable(asked, [*texts, "A country."], chosen=3, best_cosine=0.9)
    assert judgement.apart == ("DuckDB", "what is asked of it")
    assert judge_answerable(asked.replace("DuckDB", "it"), [*texts, "A country."], chosen=3,
                            best_cosine=0.9).answerable  # fmt: skip


@pytest.mark.parametrize("question", ["What are these papers about?", "Worum geht es in diesen Arbeiten?"])
def test_a_question_about_the_papers_as_such_is_always_answerable(question: str) -> None:
    assert judged(question, best_cosine=0.0) == Answerability(True, 1.0, ())


def test_words_that_only_ask_need_not_stand_in_the_papers() -> None:
    thin = "Which of these studies chose DuckDB to return rows, and what effect did the authors report there?"
    assert judged(thin).answerable
    assert judged(thin.replace("DuckDB", "that engine")).absent == ("engine",)


@pytest.mark.parametrize("word", ["watts", "whales"])
def test_what_a_question_counts_must_be_mentioned(word: str) -> None:
    judgement = judged(
        f"How many {word} does the library on a quiet machine open and close?", best_cosine=0.9
    )
    assert (judgement.answerable, judgement.missing_names) == (False, (word,))


def test_a_proper_noun_that_no_candidate_mentions_makes_a_question_unanswerable() -> None:
    weak = "What number of filters did the Annoy project reach over the years of its life?"
    assert judged(weak, best_cosine=0.9).missing_names == ("Annoy",)
    strong = "With a filter of ten papers the recall of a graph index fell; did it in the French study?"
    assert judged(strong, best_cosine=0.9).answerable


@pytest.mark.parametrize(
    ("question", "answerable"),
    [
        ("What recall does RETRO reach on RealScholarQuery?", False),
        ("What recall do RETRO and RealScholarQuery report?", True),
        ("How does the recall of RETRO differ on RealScholarQuery?", True),
        ("What recall does RETRO reach on MassiveText?", True),
        ("Does RETRO support T5 on RealScholarQuery?", False),
    ],
)
def test_names_that_no_paper_mentions_together_must_be_listed_or_compared(
    question: str, answerable: bool
) -> None:
    texts = [
        "RETRO retrieves from text with recall, and T5.",
        "The MassiveText data.",
        "RealScholarQuery gives recall.",
    ]
    papers = [(1, "Retro"), (1, "Retro"), (2, "PaSa")]
    judgement = judge_answerable(question, texts, chosen=3, best_cosine=0.9, papers=papers)
    assert judgement.answerable == answerable
    assert judgement.apart == (() if answerable else ("RETRO", "RealScholarQuery"))


def test_of_a_list_of_names_a_part_may_be_missing() -> None:
    listed = judged("What recall do the graph indexes FAISS and ScaNN keep with a filter of ten papers?")
    assert (listed.answerable, listed.missing_names) == (True, ("ScaNN",))
    none_there = judged("What recall do ScaNN and HNSW32 keep with a filter of ten papers?", best_cosine=0.9)
    assert (none_there.answerable, none_there.missing_names) == (False, ("ScaNN", "HNSW32"))


def test_a_name_in_a_papers_title_counts_as_mentioned() -> None:
    judgement = judge_answerable(
        "What recall does the ScaNN index reach?", TEXTS, chosen=3, best_cosine=0.9, papers=[(1, "ScaNN")] * 3
    )
    assert judgement.missing_names == ()


@pytest.mark.parametrize(
    ("question", "apart"),
    [
        ("How many parameters does GPT-4 have?", ("GPT-4", "parameters")),
        ("How much does a FAISS licence cost?", ("FAISS", "licence")),
        ("Which Milvus version was measured?", ("Milvus", "version")),
        ("What is the price in dollars of the Milvus engine?", ("Milvus", "price")),
        ("What do the FAISS authors say of the cost of a search?", ()),
        ("How many parameters does RWKV have?", ()),
        ("How many rows does DuckDB return?", ()),
        ("What recall does the FAISS index reach?", ()),
        ("Which Chroma version was measured?", ()),
        ("How many parameters do GPT-4 and RWKV have?", ()),
    ],
)
def test_what_is_asked_of_a_name_must_be_said_near_it(question: str, apart: tuple[str, ...]) -> None:
    texts = [
        "Recent models such as GPT-4 are known. Ours is smaller. The largest has 14 billion parameters.",
        "The FAISS index keeps its recall. DuckDB returned no rows. The cost of a search was measured.",
        "Some engines were not run again: Milvus and others. They are slow. Chroma was run in version 1.5.",
        "The licence of PyMuPDF is the AGPL.",
    ]
    papers = [(1, "RWKV"), (2, "Filters"), (2, "Filters"), (2, "Filters")]
    judgement = judge_answerable(question, texts, chosen=4, best_cosine=0.9, papers=papers)
    assert (judgement.answerable, judgement.apart) == (not apart, apart)


def test_an_acronym_that_no_candidate_mentions_makes_a_question_unanswerable() -> None:
    judgement = judged("Does DuckDB support AMD machines for a filter on a single paper?", best_cosine=0.9)
    assert (judgement.answerable, judgement.missing_names) == (False, ("AMD",))


def test_no_passages_answer_nothing() -> None:
    assert judge_answerable("What is recall?", [], chosen=0, best_cosine=None) == Answerability(
        False, 0.0, ()
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What does DuckDB's HNSW index do?", ["DuckDB", "HNSW"]),
        ("Does BMH-21 or p53 act on IL-6 in SARS-CoV-2?", ["BMH-21", "p53", "IL-6", "SARS-CoV-2"]),
        ("DOES IT USE HNSW32?", ["HNSW32"]),
        ("Is T5 larger than all-MiniLM-L6-v2? T5!", ["T5", "all-MiniLM-L6-v2"]),
        ("The 2nd of 10-fold, 150-word, 18GB, 5mM, 100k, 3.5M and top-15 in the 1990s, Q2 of FY2023", []),
        ("How Does It Work? I ask.", []),
        ("", []),
    ],
)
def test_names_have_inner_capitals_or_letters_with_digits(text: str, found: list[str]) -> None:
    assert names(text) == found


def test_a_name_is_mentioned_in_any_spelling_and_acronyms_by_their_words() -> None:
    assert mentioned("IL-6", {"il6"})
    assert not mentioned("IL-6", {"il2"})
    assert spelled_out("RAG", "Retrieval-augmented generation works")
    assert not spelled_out("DPR", "Retrieval-augmented generation works")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What did the Annoy library do in Mexico?", ["Annoy", "Mexico"]),
        ("What does DuckDB do for the French and the Chinese authors?", []),
        ("Welche Rolle spielt die Genauigkeit?", []),
        ("How Does The Library Open A File?", []),
    ],
)
def test_proper_nouns_are_capitals_inside_an_english_sentence(text: str, found: list[str]) -> None:
    assert proper_nouns(text) == found
