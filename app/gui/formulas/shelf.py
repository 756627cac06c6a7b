"""Formulas that are drawn, for all answers together; each is drawn once, in the background, when somebody looks at it.

Whoever asks gets what is there, and once more has been taken in asks again. Knows no widget.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from enum import Enum
from queue import SimpleQueue

from app.gui.formulas.limits import Unreadable
from app.gui.formulas.picture import Picture

MOST_FORMULAS, MOST_BYTES = 2000, 16 * 2**20
"""So many are kept; those that nobody has looked at for longest go first."""
BATCH = 8
"""So many are drawn by one job: others wait for its thread too."""
MOST_WAITING = 500
Work = Callable[[], None]
Key = tuple[str, bool]
"""The LaTeX, and whether it stands on lines of its own."""
_log = logging.getLogger(__name__)


class Undrawn(Enum):
    """Why there is no picture."""

    WAITS = "waits"
    REFUSED = "refused"


Answer = Picture | Undrawn


class Formulas:
    """Draws formulas and keeps them; where it was not told how to do so in the background it draws at once."""

    def __init__(self, run: Callable[[Work], None] | None = None) -> None:
        self._run = run
        self._kept: OrderedDict[Key, Answer] = OrderedDict()
        self._bytes = 0
        self._waiting: OrderedDict[Key, None] = OrderedDict()
        self._drawn: SimpleQueue[tuple[Key, Answer]] = SimpleQueue()
        """From the thread that draws to the window's."""
        self._batch: set[Key] = set()
        self.arrived = 0
        """How many were drawn in the background since the start and may be shown."""

    @property
    def count(self) -> int:
        """How many are kept."""
        return len(self._kept)

    @property
    def bytes(self) -> int:
        """About how much memory they take."""
        return self._bytes

    def use(self, run: Callable[[Work], None]) -> None:
        """Draw with this from now on: it runs what it is given at another time, on any thread."""
        self._run = run

    def find(self, latex: str, *, display: bool) -> Answer:
        """Return a formula's picture, or why there is none now; where there will be one it is being drawn."""
        key = latex, display
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        elif self._run is None:
            found = draw(key)
            self._keep(key, found)
        elif key not in self._batch:
            self._waiting[key] = None
            self._waiting.move_to_end(key)
            if len(self._waiting) > MOST_WAITING:
                self._waiting.popitem(last=False)
        self._draw_on()
        return found if found is not None else Undrawn.WAITS

    def take_in(self) -> bool:
        """Let what was drawn in the meantime be shown, and return whether that is anything.

        Until then the answers stay the same: what has been measured can be painted.
        """
        before = self.arrived
        while not self._drawn.empty():
            key, answer = self._drawn.get()
            self._batch.discard(key)
            self._keep(key, answer)
            self.arrived += 1
        self._draw_on()
        return self.arrived != before

    def _draw_on(self) -> None:
        """Have the next ones drawn, unless some are being drawn: what was asked for last is in view."""
        if self._batch or not self._waiting or self._run is None:
            return
        chosen = [self._waiting.popitem()[0] for _ in range(min(BATCH, len(self._waiting)))]
        self._batch = set(chosen)
        self._run(lambda: self._draw(chosen))

    def _draw(self, keys: list[Key]) -> None:
        for key in keys:
            self._drawn.put((key, draw(key)))

    def _keep(self, key: Key, answer: Answer) -> None:
        self._kept[key] = answer
        self._bytes += _size(key, answer)
        while len(self._kept) > MOST_FORMULAS or (self._bytes > MOST_BYTES and len(self._kept) > 1):
            self._bytes -= _size(*self._kept.popitem(last=False))


def _size(key: Key, answer: Answer) -> int:
    return 2 * len(key[0]) + (answer.size if isinstance(answer, Picture) else 0)


def draw(key: Key) -> Answer:
    """Draw a formula, however long that takes: a fraction of a second for the first, which loads what draws them."""
    latex, display = key
    try:
        # Costs a third of a second, which only the first formula waits for.
        from app.gui.formulas.typeset import typeset  # noqa: PLC0415

        return typeset(latex, display=display)
    except Unreadable:
        return Undrawn.REFUSED
    except ImportError:
        _log.exception("What draws formulas cannot be loaded")
        return Undrawn.REFUSED
    except Exception as error:  # noqa: BLE001  the library raises anything where it does not know what was written
        _log.debug("A formula was not understood: %s", type(error).__name__)
        return Undrawn.REFUSED
