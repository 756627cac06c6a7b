"""What a comparison would take before it begins: the tokens of its prompt, and how its lanes would share the cells.

Asks the engine, which renders and counts and leaves the cache alone. One question is open at a time, the newest prompt
comes next. Knows no clock and no view.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from app.core.chat import ChatPrompt
from app.core.commands import Render
from app.core.comparison import MOST_AT_ONCE, HowRun, LanePlan
from app.core.events import Failed, Rendered, Tokenized
from app.core.lane_memory import most_sequences, sizes_of
from app.core.lane_plan import plan_lanes
from app.core.model import ModelInfo
from app.core.ports import EnginePort
from app.core.sampling import SamplingSettings
from app.core.signal import Signal
from app.core.words import Sentence
from app.services.asked_count import Send
from app.services.chat import Chat
from app.services.engine_session import EngineSession
from app.services.machine import Machine
from app.services.open_conversation import prompt_messages
from app.services.templates import Templates
from app.services.turns import Turn
from app.system.settings_file import SettingsFile

_ID_BYTES = 4


class Outlook(msgspec.Struct, frozen=True):
    """What is known of a comparison that is being set up; None is unknown."""

    prompt: int | None = None
    """Tokens of the prompt that all lanes answer."""
    cells: int | None = None
    """What the context holds."""
    plan: LanePlan | None = None
    """How the lanes would run, by the cells and by what is known of memory; the engine may have to lower that."""
    is_short: bool = False
    """Whether memory is why fewer of them run at once than the cells would allow."""
    refusal: Sentence | None = None
    """Why the engine would not answer this prompt."""


class LaneOutlook:
    """Follows one prompt, the one that is set up."""

    def __init__(
        self,
        session: EngineSession,
        engine: EnginePort,
        chat: Chat,
        templates: Templates,
        settings: SettingsFile,
        machine: Machine,
    ) -> None:
        """`templates` knows what people chose instead of the model's own, `settings` what becomes of a full context.

        `machine` says what is free by its latest sample: asking the system takes too long for the window's thread.
        """
        self.free_on_gpus: Callable[[], Mapping[str, int | None]] = dict
        """Tells what is free on each GPU of the engine, in bytes; None is unknown."""
        self.changed: Signal[()] = Signal()
        """More is known of the prompt or of the machine, or something else."""
        self._session = session
        self._engine = engine
        self._chat = chat
        self._templates = templates
        self._settings = settings
        self._machine = machine
        self._wanted: Send | None = None
        self._asked: tuple[int, Send] | None = None
        self._known: tuple[Send, Rendered | Failed] | None = None
        self._model: ModelInfo | None = None
        session.changed.connect(self._look)
        machine.changed.connect(self.changed.emit)

    def watch(self, question: Turn | None, text: str, lanes: Sequence[SamplingSettings]) -> None:
        """Find out how long the prompt is: that of a question of the chat, or of a text as a new one behind the chat."""
        shown = self._chat.shown
        if question is not None:
            turns = [*shown.before(question), question] if question.message in shown.known else [question]
            messages = tuple(prompt_messages(shown.head.system_prompt, turns))
        else:
            messages = self._chat.messages_with(text) if text.strip() else ()
        when_full = self._settings.values.when_full
        limits = [each.max_tokens for each in lanes]
        room = sum(limits) if when_full == "drop_oldest" and all(limits) else 0  # as the engine makes it for lanes
        prompt = ChatPrompt(messages, self._templates.for_model(self._session.ref))
        self._wanted = Send(prompt, when_full, room) if messages else None
        self._look()

    def of(self, lanes: Sequence[SamplingSettings]) -> Outlook:
        """Return what lanes with these settings would take, as far as the prompt that is watched is known."""
        model = self._session.model
        if model is None or self._wanted is None:
            return Outlook()
        if self._known is None or self._known[0] != self._wanted:
            return Outlook(cells=model.context)
        said = self._known[1]
        if isinstance(said, Failed):
            return Outlook(said.tokens, model.context, refusal=said.sentence)
        prompt = len(said.ids) // _ID_BYTES
        if prompt >= model.context or not lanes:
            return Outlook(prompt, model.context)
        wanted = [each.max_tokens for each in lanes]
        plan = plan_lanes(prompt, wanted, model.context, MOST_AT_ONCE)
        at_once = max(map(len, plan.waves))
        most = self._fitting(model, prompt, at_once)
        if most >= at_once:
            return Outlook(prompt, model.context, plan)
        how: HowRun = "together" if most > 1 else "one_by_one"
        return Outlook(prompt, model.context, plan_lanes(prompt, wanted, model.context, most, how), is_short=True)

    def _fitting(self, model: ModelInfo, prompt: int, lanes: int) -> int:
        """Return how many of so many lanes fit into memory at once, where the context is made anew for them."""
        sizes = sizes_of(model)
        if lanes == 1 or lanes < sizes.sequences:
            return lanes
        state = model.cache.in_use(prompt, model.context, min(prompt, model.cache.window_cells or 0)) or 0
        return most_sequences(sizes, sizes.sequences, lanes + 1, state, self._machine.memory, self.free_on_gpus()) - 1

    def take(self, event: Tokenized | Rendered | Failed) -> None:
        """Take in a prompt; one that nobody waits for any more is ignored."""
        if self._asked is None or event.request != self._asked[0]:
            return
        (_, send), self._asked = self._asked, None
        if not isinstance(event, Tokenized):
            self._known = (send, event)
        self._look()
        self.changed.emit()

    def _look(self) -> None:
        """Ask for the prompt that is watched, unless it is known or another one is open."""
        model = self._session.model
        if model is not self._model:
            self._model = model
            self._asked = self._known = None
            self.changed.emit()
        wanted = self._wanted
        if wanted is None or self._asked is not None or (self._known is not None and self._known[0] == wanted):
            return
        if model is not None and self._session.phase in ("ready", "busy"):
            self._asked = (self._session.new_request(), wanted)
            self._engine.send(Render(self._asked[0], *wanted))
