"""A token that is forced has a place of its own: one that somebody chooses there while the answer waits stands in for it."""

from __future__ import annotations

from app.core.events import Tokens
from app.engine.llama_model import LlamaBackend
from tests.engine.harness import ids_of
from tests.engine.test_pacing import SHORT, Stepper, through


def test_a_token_chosen_at_a_hold_takes_the_place_of_the_one_that_was_forced_there(
    starter_backend: LlamaBackend,
) -> None:
    forced, other, third = ((token + 100) % starter_backend.vocabulary.size for token in (1, 2, 3))
    stepper = Stepper(choices={0: other})
    done = stepper.run(starter_backend, SHORT, forced=(forced, third))
    straight = through(starter_backend, SHORT, forced=(other, third))
    assert ids_of(done.ids) == ids_of(straight.ids) and ids_of(done.ids)[:2] == [other, third]
    assert [held.forced for held in stepper.held[:3]] == [forced, third, None]
    told = [event.chosen for event in stepper.events if isinstance(event, Tokens)]
    assert told[:3] == [(0,), (1,), ()], "people are told which tokens somebody chose"
