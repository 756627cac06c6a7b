"""Where the time of an answer went: the sentence, its cause, the evidence and the remedy of each made case."""

from __future__ import annotations

import math
from typing import get_args

import pytest

from app.core.circumstances import Circumstances, UnusedCache
from app.core.diagnosis import Cause
from app.planner.diagnosis import diagnose
from tests.planner.made_answers import GPU, around, figures
from tests.planner.slow_answers import LONG_PROMPT, WHY, Case
from tests.planner.slow_writing import CASES

MOST_CHARACTERS = 90
"""As many as the narrow panel has room for."""


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_case_has_its_cause_its_sentence_and_its_remedy(case: Case) -> None:
    told = diagnose(case.metrics, case.circumstances)
    assert (told.cause, told.sentence.english()) == (case.cause, case.sentence)
    remedy = told.remedy
    assert (remedy.kind if remedy is not None else None) == case.remedy
    assert case.remedy != "load_options" or (remedy is not None and remedy.changes == case.changes)
    rows = [f"{row.what.english()}: {row.figure.english()}".replace("\u00a0", " ") for row in told.evidence]
    assert not case.evidence or case.evidence in rows
    assert told.cause in ("no_token", "in_parts") or rows


def test_every_cause_and_every_reason_has_its_case() -> None:
    assert {case.cause for case in CASES.values()} == set(get_args(Cause))
    assert set(WHY) == set(get_args(UnusedCache))


def test_no_sentence_is_longer_than_there_is_room_for() -> None:
    assert max(len(case.sentence) for case in CASES.values()) <= MOST_CHARACTERS


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_nothing_is_told_of_what_is_not_known(case: Case) -> None:
    bare = diagnose(case.metrics, Circumstances())
    words = " ".join(text.english() for row in bare.evidence for text in (row.what, row.figure))
    assert not any(word in f"{bare.sentence.english()} {words}" for word in ("nan", "inf", "None"))
    assert math.isfinite(sum(len(row.figure.template) for row in bare.evidence))


def test_fewer_threads_than_cores_are_no_fault_where_the_gpu_computes() -> None:
    told = diagnose(figures(traffic_gb_per_s=5.0), around(GPU, memory_gb_per_s=200.0, threads=2))
    assert (told.cause, told.remedy) == ("not_bandwidth", None)
    assert diagnose(figures(), around(GPU, threads=8)).cause == "bandwidth"


def test_tokens_of_the_cache_that_are_few_beside_the_question_explain_nothing() -> None:
    told = diagnose(LONG_PROMPT, around(unused_cache="edited", read_again=100))
    assert told.cause == "prefill"


def test_of_two_waits_the_longer_one_is_told() -> None:
    assert diagnose(figures(queue=8_000), around()).cause == "bandwidth"
    assert diagnose(figures(queue=12_000), around()).cause == "queue"
