"""Step mode through every part of the program: the same answer token by token, tokens chosen by hand, and no hold for ever."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from app.core.events import Held, Tokens
from app.engine.scripted import Script
from app.probability.record import FORCED, NO_DRAW, TokenRecords, join_blocks, read_records
from app.services.next_token import CandidatesView
from app.services.turns import Turn
from tests.e2e.inside import Inside
from tests.engine.harness import write_script

SEEDED = {"temperature": 0.8, "top_k": 40, "top_p": 1.0, "min_p": 0.0, "seed": 11, "max_tokens": 16}
LETTERS = tuple(letter * 60 for letter in "abcdefgh")
STEPS = 150


class Stepped(Inside):
    """Notes what is said of the answer that is written."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch, *, scripted: bool) -> None:
        super().__init__(home, monkeypatch, scripted=scripted)
        self.blocks: list[bytes] = []
        self.holds = 0
        self.program.session.answer_told.connect(self._note)
        self.program.conversations.start()

    @property
    def record(self) -> TokenRecords:
        """What was noted of the tokens of the last answer."""
        return read_records(join_blocks(self.blocks))

    @property
    def view(self) -> CandidatesView:
        """The candidates that are shown."""
        view = self.program.next_token.candidates()
        assert view is not None
        return view

    def _note(self, event: object) -> None:
        if isinstance(event, Tokens) and event.record:
            self.blocks.append(event.record)
        self.holds += isinstance(event, Held)

    def begins_held(self, text: str) -> None:
        """Ask, and wait until the answer is held before its first token."""
        self.blocks.clear()
        self.program.step_mode.pause()
        self.send(text)
        self.until(lambda: self.holds)

    def next_hold(self, act: Callable[[], object]) -> bool:
        """Do something and wait until the answer is held again; False when it has ended instead."""
        before = self.holds
        act()
        self.until(lambda: self.holds > before or not self.program.chat.busy)
        return self.program.chat.busy


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starter_model: Path) -> Iterator[Stepped]:
    with Stepped(tmp_path / "home", monkeypatch, scripted=False) as made:
        made.load(starter_model)
        made.program.sampling.change(**SEEDED)
        yield made


def test_token_by_token_it_is_the_same_answer_and_each_row_is_the_one_that_was_drawn_from(inside: Stepped) -> None:
    straight = inside.ask("Why is the sky blue?")
    inside.program.conversations.new()
    inside.begins_held("Why is the sky blue?")
    seen: list[CandidatesView] = []
    goes_on = True
    while goes_on:
        assert inside.view.is_held and inside.view.is_exact
        assert not any(row.is_drawn for row in inside.view.rows)
        seen.append(inside.view)
        goes_on = inside.next_hold(inside.program.step_mode.step)
    assert inside.answer.ids == straight.ids and inside.answer.text == straight.text
    assert [view.token for view in seen] == list(range(len(straight.ids) // 4))
    assert inside.answer.chosen == 0
    record = inside.record
    for view, token, share in zip(seen, record.tokens.tolist(), record.probability_after.tolist(), strict=True):
        shown = {row.token: row.after for row in view.rows}
        if token in shown:
            assert shown[token] == pytest.approx(share, rel=1e-4)


def test_a_moved_slider_is_seen_in_the_row_that_is_not_drawn_yet_and_holds_for_its_draw(inside: Stepped) -> None:
    inside.begins_held("Why is the sky blue?")
    assert inside.view.survivors is not None and inside.view.survivors > 1
    inside.program.sampling.change(top_k=1)
    assert inside.view.is_held and inside.view.survivors == 1
    best = inside.view.rows[0].token
    inside.next_hold(inside.program.step_mode.step)
    assert inside.answer.ids[:4] == best.to_bytes(4, "little")
    inside.program.step_mode.run()
    inside.until(lambda: not inside.program.chat.busy)


def test_chosen_tokens_are_in_the_answer_and_counted_and_the_next_question_builds_on_them(inside: Stepped) -> None:
    inside.begins_held("Why is the sky blue?")
    chosen = []
    for rank in (3, 5):
        view = inside.view
        chosen.append(view.rows[rank].token)
        inside.next_hold(partial(inside.program.step_mode.choose, view.request, view.token, chosen[-1]))
    inside.program.step_mode.run()
    inside.until(lambda: not inside.program.chat.busy)
    turn = inside.answer
    assert turn.ids[:8] == b"".join(token.to_bytes(4, "little") for token in chosen)
    assert turn.chosen == 2 and turn.finished is not None
    assert inside.record.flags.tolist()[:3] == [FORCED | NO_DRAW] * 2 + [0]
    assert inside.program.reproducing.begin(turn)
    inside.until(lambda: (known := inside.program.reproducing.of(turn)) is not None and not known.is_open)
    found = inside.program.reproducing.of(turn)
    assert found is not None and found.phase in ("same", "tie", "near")
    following = inside.ask("And at night?")
    assert following.finished is not None
    before = turn.finished.metrics
    assert following.finished.metrics.prompt_tokens_from_cache == before.prompt_tokens + before.sampled_tokens - 1


@pytest.mark.parametrize("how", ["close", "unload", "stop", "load"])
def test_a_held_answer_keeps_nobody_waiting_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    script = Path(write_script(tmp_path, Script(answers=LETTERS)))
    with Stepped(tmp_path / "home", monkeypatch, scripted=True) as inside:
        inside.load(script)
        inside.begins_held("One")
        inside.next_hold(inside.program.step_mode.step)
        turn = inside.answer
        if how == "unload":
            inside.program.session.unload()
        elif how == "stop":
            inside.program.chat.stop()
        elif how == "load":
            inside.program.session.restart()
        if how != "close":
            inside.until(lambda: not inside.program.chat.busy)
    assert turn.text == "a"
    assert inside.program.step_mode.held is None and not turn.is_held


class Walk:
    """Somebody who does what comes to mind while answers are written, held, stopped and deleted."""

    def __init__(self, inside: Stepped, chance: random.Random) -> None:
        self.inside = inside
        self.chance = chance
        self.asked = 0

    def act(self) -> None:
        """Do one thing, and then hear some, none or all of what the engine says of it."""
        weights = {
            self.step: 12,
            self.choose: 12,
            self.ask: 6,
            self.pause: 4,
            self.toggle: 3,
            self.speed: 3,
            self.stop: 2,
            self.elsewhere: 3,
            self.queue: 2,
            self.delete_turn: 1,
            self.delete_chat: 1,
        }
        self.chance.choices(list(weights), list(weights.values()))[0]()
        steps, chat = self.inside.program.step_mode, self.inside.program.chat
        how_much = self.chance.choice(["none", "some", "all"])
        if how_much == "some":
            for event in self.inside.program.inbox.drain():
                self.inside.program.dispatch(event)
        elif how_much == "all" and steps.held is not None:
            self.inside.next_hold(steps.step)
        elif how_much == "all" and steps.is_one_by_one and chat.busy:
            self.inside.until(lambda: steps.held is not None or not chat.busy)

    def ask(self) -> None:
        self.asked += 1
        self.inside.program.chat.send(f"Question {self.asked}")

    def queue(self) -> None:
        self.asked += 1
        self.inside.program.queue.add(f"Queued {self.asked}")

    def step(self) -> None:
        self.inside.program.step_mode.step()

    def choose(self) -> None:
        view = self.inside.program.next_token.candidates()
        if view is not None:
            token = self.chance.choice(view.rows[:10]).token
            self.inside.program.step_mode.choose(view.request, view.token, token)

    def toggle(self) -> None:
        self.inside.program.step_mode.toggle()

    def pause(self) -> None:
        self.inside.program.step_mode.pause()

    def speed(self) -> None:
        self.inside.program.step_mode.set_speed(self.chance.choice([None, 5.0, 60.0]))

    def stop(self) -> None:
        self.inside.program.chat.stop()

    def elsewhere(self) -> None:
        conversations = self.inside.program.conversations
        if self.chance.random() < 0.4 or not conversations.heads:
            conversations.new()
        else:
            conversations.open(self.chance.choice(conversations.heads).id)

    def delete_turn(self) -> None:
        turns = self.inside.program.chat.turns
        if turns:
            self.inside.program.branches.delete(self.chance.choice(turns))

    def delete_chat(self) -> None:
        self.inside.program.conversations.delete(self.inside.program.chat.conversation_id)

    def end(self) -> None:
        """Let everything be written to its end."""
        self.inside.program.step_mode.end()
        self.inside.until(lambda: not self.inside.program.answers.runs)


def words(inside: Inside) -> dict[int, list[str]]:
    """Return the texts of every chat in the list, read from where they are kept."""
    conversations = inside.program.conversations
    found: dict[int, list[str]] = {}
    for head in conversations.heads:
        conversations.open(head.id)
        inside.until(partial(is_open_chat, inside, head.id))
        found[head.id] = [turn.text for turn in inside.program.chat.turns]
    return found


def is_open_chat(inside: Inside, conversation: int) -> bool:
    return inside.program.chat.conversation_id == conversation


def is_open(turn: Turn) -> bool:
    return turn.state in ("waiting", "writing")


@pytest.mark.parametrize("seed", [0, 10, 12, 32])
def test_whatever_people_do_nothing_hangs_and_every_word_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    script = Path(write_script(tmp_path, Script(answers=LETTERS)))
    with Stepped(tmp_path / "home", monkeypatch, scripted=True) as inside:
        inside.load(script)
        walk = Walk(inside, random.Random(seed))
        for _ in range(STEPS):
            walk.act()
        walk.end()
        assert inside.program.step_mode.held is None
        assert not any(is_open(turn) or turn.is_held for turn in inside.program.chat.turns)
        before = words(inside)
        assert inside.holds > 5, "it was a walk through step mode"
    with Stepped(tmp_path / "home", monkeypatch, scripted=True) as inside:
        inside.until(lambda: inside.program.conversations.heads or not before)
        assert words(inside) == before


def test_the_figures_of_each_step_are_there_while_the_answer_waits(inside: Stepped) -> None:
    inspecting, steps = inside.program.inspecting, inside.program.step_mode
    inspecting.watch(True)
    inside.begins_held("Why is the sky blue?")
    for count in range(1, 4):
        assert inside.next_hold(steps.step)
        inside.until(lambda: not inspecting.is_busy)
        answer = inspecting.answer
        assert answer is not None and len(answer) == answer.recorded == count and not answer.pending
        assert None not in answer.log_probabilities
    steps.run()
    inside.until(lambda: not inside.program.chat.busy)
