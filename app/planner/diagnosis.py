"""Where the time of an answer that has ended went: one sentence, its evidence, and the change that would help most.

Pure arithmetic over an answer's own record. It never says more than that shows: too few tokens are said to be too few,
what is not known is not guessed, and where nothing stands out it says so.
"""

from __future__ import annotations

from app.core.circumstances import Circumstances
from app.core.diagnosis import Diagnosis, Evidence
from app.core.metrics import Metrics
from app.core.words import Sentence, translate
from app.planner import diagnosis_evidence as evidence
from app.planner.answer_times import FEW_TOKENS, SHORT_S, Times, times_of
from app.planner.diagnosis_decode import diagnose_writing
from app.planner.diagnosis_prefill import diagnose_before


def diagnose(metrics: Metrics, circumstances: Circumstances) -> Diagnosis:
    """Return what stands out in the time of an answer: what a panel shows in two lines, and a card in full.

    The longer of the two waits, before the first text and while it was written, is looked at first.
    """
    times = times_of(metrics)
    if metrics.sampled_tokens == 0 and times.queue < times.total / 2:
        return Diagnosis(
            translate("Diagnosis", "It ended before its first token: there is nothing to tell of its speed."),
            "no_token",
        )
    if metrics.sampled_tokens > 1 and metrics.decode_tokens_per_s is None:
        return Diagnosis(
            translate(
                "Diagnosis",
                "Nobody can tell where its time went: it was written in parts of unknown speed.",
            ),
            "in_parts",
        )
    if metrics.sampled_tokens < FEW_TOKENS and times.total < SHORT_S:
        sentence = translate(
            "Diagnosis",
            "Too few tokens to tell where the time went: {tokens} in {total:.1f} s.",
            tokens=metrics.sampled_tokens,
            total=times.total,
        )
        return Diagnosis(sentence, "too_few", _all_in_all(metrics, times, circumstances))
    looks = (diagnose_before, diagnose_writing)
    for look in looks if times.before >= times.decode else reversed(looks):
        found = look(metrics, times, circumstances)
        if found is not None:
            return found
    return Diagnosis(_calm(metrics, times), "nothing", _all_in_all(metrics, times, circumstances))


def _calm(metrics: Metrics, times: Times) -> Sentence:
    rate = metrics.decode_tokens_per_s
    if rate is None or metrics.ttft_ms is None:
        return translate("Diagnosis", "Nothing stands out: it took {total:.1f} s in all.", total=times.total)
    return translate(
        "Diagnosis",
        "Nothing stands out: first text after {first:.1f} s, then {rate:.0f} tok/s (decode).",
        first=metrics.ttft_ms / 1000,
        rate=rate,
    )


def _all_in_all(metrics: Metrics, times: Times, circumstances: Circumstances) -> tuple[Evidence, ...]:
    return evidence.known(
        evidence.first_text(metrics),
        evidence.reading(metrics, times),
        evidence.expected_reading(metrics, circumstances),
        evidence.writing(metrics, times),
        evidence.expected(circumstances),
        evidence.traffic(metrics, circumstances),
    )
