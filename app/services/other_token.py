"""Lets an answer go on by another token than the one that came: it is cut there, and becomes another version.

What stands before the cut keeps its token ids, so that the cache is used again, its seed and its record; the chosen
token uses no draw, so that no later draw is another. Knows no view.
"""

from __future__ import annotations

from typing import NamedTuple

from app.core.events import Failed
from app.core.grammar import NOT_ALLOWED, Grammar
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.probability.record_layout import first_tokens, tokens_in
from app.services.answer_what_if import changes_of
from app.services.answers import Answers
from app.services.asking import Cut
from app.services.chat import Chat
from app.services.comparing import Comparing
from app.services.engine_session import EngineSession
from app.services.inspecting import Inspecting
from app.services.inspection import FORCED, InspectedAnswer
from app.services.lane_inputs import LaneInput, LaneInputs
from app.services.open_conversation import Run
from app.services.piece_table import PieceTable
from app.services.questions import AnswerEvent
from app.services.sampling import Sampling
from app.services.token_places import token_places
from app.services.turns import Beginning, Turn

_ID_BYTES = 4
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_LONGEST_CHARACTER = 4


class _Going(NamedTuple):
    """A version that goes on by another token."""

    request: int
    turn: Turn
    """The answer that it branches off from."""
    place: int
    token: int
    grammar: Grammar | None
    """The grammar that holds for it."""


class OtherToken:
    """What can be done with an alternative of the answer that is looked at."""

    def __init__(
        self,
        session: EngineSession,
        chat: Chat,
        answers: Answers,
        comparing: Comparing,
        inspecting: Inspecting,
        sampling: Sampling,
    ) -> None:
        self.changed: Signal[()] = Signal()
        """Another answer could be written now, or none."""
        self._session = session
        self._chat = chat
        self._answers = answers
        self._comparing = comparing
        self._inspecting = inspecting
        self._sampling = sampling
        self._going: _Going | None = None
        """The last version that was wanted."""
        self._forbidden: dict[tuple[int, int, Grammar], frozenset[int]] = {}
        """The tokens that a grammar did not allow at a place of an answer."""
        session.answer_told.connect(self._note)
        answers.ended.connect(self._take_end)
        sampling.changed.connect(self.changed.emit)
        session.changed.connect(self.changed.emit)
        answers.busy_changed.connect(lambda _conversation: self.changed.emit())
        comparing.busy_changed.connect(self.changed.emit)

    def refusal(self, turn: Turn) -> Sentence | None:
        """Return why an answer cannot go on by another token now, with what would help; None where it can."""
        model = self._session.ref
        if turn.state in ("waiting", "writing"):
            return _OPEN
        if self._chat.busy or self._answers.runs or self._comparing.running is not None:
            return _BUSY
        if self._session.model is None or model is None:
            return _NO_MODEL
        if turn.model is None or turn.model.identity != model.identity:
            return translate(
                "OtherToken",
                "Only the model that wrote this answer knows its tokens: load “{name}” first.",
                name=turn.author,
            )
        return None

    @property
    def caution(self) -> Sentence | None:
        """What may stand in the way of a token that is chosen now; None for nothing."""
        return None if self._grammar is None else _GRAMMAR

    def forbidden(self, turn: Turn, place: int | None) -> frozenset[int]:
        """Return the tokens of which it is known that the grammar of the chat does not allow them at a place."""
        grammar = self._grammar
        if grammar is None or place is None:
            return frozenset()
        return self._forbidden.get((turn.message, place, grammar), frozenset())

    def go_on(self, turn: Turn, place: int, token: int) -> bool:
        """Let the answer that is looked at go on by a token in place of the one there; False where it cannot."""
        inputs, answer = self._inspecting.inputs, self._inspecting.answer
        if turn is not self._inspecting.turn or inputs is None or answer is None or self.refusal(turn) is not None:
            return False
        if not 0 <= place < len(answer):  # a place of what the answer was before, or of another one
            return False
        beginning = beginning_of(turn, inputs, answer, place)
        chosen = sum(bool(flags & FORCED) for flags in answer.flags[:place]) + 1
        forced = (token,) if beginning.goes_on else (*answer.ids[:place], token)
        written = self._chat.asking.branch(self._chat.shown, turn, beginning, Cut(forced, chosen))
        self._inspecting.open(written)
        run = self._chat.shown.run
        if run is not None and run.turn is written:
            self._going = _Going(run.request, turn, place, token, self._grammar)
        return True

    @property
    def _grammar(self) -> Grammar | None:
        return self._sampling.values.grammar

    def _note(self, event: AnswerEvent) -> None:
        """Know which token a grammar did not allow, for the next time."""
        going = self._going
        if going is None or not isinstance(event, Failed) or event.request != going.request:
            return
        if going.grammar is not None and event.sentence == NOT_ALLOWED:
            key = (going.turn.message, going.place, going.grammar)
            self._forbidden[key] = self._forbidden.get(key, frozenset()) | {going.token}
            self.changed.emit()

    def _take_end(self, run: Run) -> None:
        """Where nothing came of it, stand where one was, unless somebody looks elsewhere by now."""
        going, inspecting = self._going, self._inspecting
        if going is None or run.request != going.request:
            return
        newest = inspecting.answers[-1] if inspecting.answers else None
        is_there = any(each is going.turn for each in inspecting.answers)
        if run.came_to_nothing and is_there and inspecting.token is None and inspecting.turn in (None, newest):
            inspecting.open(going.turn, going.place)


def beginning_of(turn: Turn, inputs: LaneInputs, answer: InspectedAnswer, place: int) -> Beginning:
    """Return the first tokens of an answer as the beginning of another version.

    One with the same draws where all of it was drawn and recorded; otherwise words that are given.
    """
    given = inputs.lanes[0]
    text = text_before(given.text, given.ids, place, inputs.pieces)
    if not text:
        return Beginning(seed=_seed_of(turn))  # nothing was said yet: such tokens come once more
    seed, changes = _seed_of(turn), changes_of(turn)
    beginning = Beginning(text, given.ids[: place * _ID_BYTES], seed=seed)
    drawn = place - given.begins
    if drawn < 0 or seed is None or not changes or answer.recorded < drawn:
        return beginning.as_given()
    settings = tuple(each for each in changes if each.token <= place)
    return Beginning(text, beginning.ids, seed=seed, settings=settings, record=_first_blocks(given, drawn))


def text_before(text: str, ids: bytes, place: int, pieces: PieceTable | None) -> str:
    """Return what the first tokens of an answer say, as the engine would; half a character at the end is U+FFFD."""
    places = token_places(text, ids, pieces) if pieces is not None else None
    if places is None or pieces is None or place == 0:
        return ""
    start = places.starts[place]
    said = bytearray()
    for token in memoryview(ids)[: place * _ID_BYTES].cast("i")[-_LONGEST_CHARACTER:]:
        said += pieces.piece(token) or b""
    return text[:start] + (_REPLACEMENT if _ends_within(said) else "")


def _ends_within(said: bytes | bytearray) -> bool:
    """Return whether bytes end within a character of UTF-8."""
    for back in range(1, min(_LONGEST_CHARACTER, len(said) + 1)):
        byte = said[-back]
        if byte & 0xC0 == 0x80:
            continue
        needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return needed > back
    return False


def _first_blocks(given: LaneInput, count: int) -> tuple[bytes, ...]:
    """Return the record of the first tokens."""
    blocks: list[bytes] = []
    for block in given.blocks:
        size = tokens_in(block)
        if not size:
            continue
        if count <= 0:
            break
        blocks.append(block if size <= count else first_tokens(block, count))
        count -= size
    return tuple(blocks)


def _seed_of(turn: Turn) -> int | None:
    return turn.finished.seed if turn.finished is not None else turn.seed


_OPEN = translate("OtherToken", "This answer is still being written: stop it, or wait for its end.")
_BUSY = translate("OtherToken", "Something is being written at the moment: stop it, or wait for its end.")
_GRAMMAR = translate(
    "OtherToken",
    "The grammar that is set for this chat now holds for it, from the answer's first token on: it can forbid the token. "
    "Switch the grammar off in the settings to go on without it.",
)
_NO_MODEL = translate("OtherToken", "No model is loaded: load the one that wrote this answer.")
