"""The grammar of answers while somebody writes it: what is typed in a chat is kept, and checked in the background.

Must not know what shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from app.core.grammar import Grammar, GrammarKind, WrongGrammar
from app.core.grammar_check import check
from app.core.job_events import LanesAnalysed
from app.core.signal import Signal
from app.services.latest_job import LatestJob
from app.services.sampling import Sampling
from app.system.jobs import Jobs


class Verdict(NamedTuple):
    """What became of the check of a text."""

    grammar: Grammar
    problem: WrongGrammar | None
    """Why it cannot be used; None where it can."""


class GrammarEditing:
    """What is typed of each kind in each chat and was not used, until the program ends."""

    def __init__(self, sampling: Sampling, jobs: Jobs, chat_id: Callable[[], int]) -> None:
        self.changed: Signal[()] = Signal()
        """What is written was checked."""
        self._sampling = sampling
        self._chat_id = chat_id
        self._drafts: dict[tuple[int, GrammarKind], str] = {}
        self._wished: Grammar | None = None
        self._verdict: Verdict | None = None
        self._checking: LatestJob[Verdict] = LatestJob(jobs, "grammar", self._take)

    @property
    def in_force(self) -> Grammar | None:
        """What the next answer has to fit."""
        return self._sampling.values.grammar

    def text(self, kind: GrammarKind) -> str:
        """Return what is typed of a kind in this chat and not in force, else what is in force of it."""
        draft = self._drafts.get((self._chat_id(), kind))
        return self._text_in_force(kind) if draft is None else draft

    def write(self, grammar: Grammar) -> None:
        """Keep what stands in the editor where it is not in force, and have it checked; `changed` tells when that is done."""
        place = (self._chat_id(), grammar.kind)
        if grammar.text == self._text_in_force(grammar.kind):
            self._drafts.pop(place, None)
        else:
            self._drafts[place] = grammar.text
        if grammar == self._wished:
            return
        self._wished = grammar
        self._checking.want(lambda: _checked(grammar))

    def verdict(self, grammar: Grammar) -> Verdict | None:
        """Return what the check of exactly this text said; None while nobody knows."""
        return self._verdict if self._verdict is not None and self._verdict.grammar == grammar else None

    def use(self, grammar: Grammar | None) -> None:
        """Let answers fit a grammar that was checked, from the next one on; None lets them be anything."""
        if grammar is not None:
            self._drafts.pop((self._chat_id(), grammar.kind), None)
        self._sampling.change(grammar=grammar)

    def take(self, event: LanesAnalysed) -> None:
        """Take in a check that is done."""
        self._checking.take(event)

    def _text_in_force(self, kind: GrammarKind) -> str:
        grammar = self.in_force
        return grammar.text if grammar is not None and grammar.kind == kind else ""

    def _take(self, verdict: Verdict | None) -> None:
        if verdict is None:
            self._wished = None  # the job broke, which is in the log: the next key tries again
        self._verdict = verdict
        self.changed.emit()


def _checked(grammar: Grammar) -> Verdict:
    try:
        check(grammar)
    except WrongGrammar as problem:
        return Verdict(grammar, problem)
    return Verdict(grammar, None)
