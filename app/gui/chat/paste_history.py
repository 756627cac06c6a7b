"""What was pasted or attached can be undone and done again, in turn with what is typed."""

from __future__ import annotations

from app.gui.chat.draft import Draft
from app.gui.chat.pasted import Pasted, PastedList


class PasteHistory:
    """Undoes and redoes the pasting of long texts in turn with the edits of the draft."""

    def __init__(self, pasted: PastedList, draft: Draft) -> None:
        self._pasted = pasted
        self._draft = draft
        self._done: list[tuple[Pasted, int]] = []
        """What was pasted, and how many edits of the draft could be undone then."""
        self._undone: list[tuple[Pasted, int]] = []

    def add(self, pasted: Pasted) -> None:
        """Paste a text."""
        self._draft.document().setModified(False)  # what is typed next is an edit of its own, not part of the last
        self._done.append((pasted, self._steps))
        self._undone.clear()
        self._pasted.add(pasted)

    def undo(self) -> bool:
        """Take back the last paste, if nothing was edited after it; False leaves the turn to the draft."""
        here = self._pasted.all
        self._done = [each for each in self._done if each[0] in here]
        if not self._done or self._done[-1][1] < self._steps:
            return False
        self._undone.append(self._done.pop())
        self._pasted.remove(self._undone[-1][0])
        return True

    def redo(self) -> bool:
        """Paste again what was taken back last, if that is what comes next."""
        if not self._undone or self._undone[-1][1] != self._steps:
            return False
        self._done.append(self._undone.pop())
        self._pasted.add(self._done[-1][0])
        return True

    def forget(self) -> None:
        """Begin anew with what stands there."""
        self._done.clear()
        self._undone.clear()

    @property
    def _steps(self) -> int:
        return self._draft.document().availableUndoSteps()
