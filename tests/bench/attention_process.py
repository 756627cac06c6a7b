"""The whole application in a process of its own, led through the part Attention.

`python -m tests.bench.window_start tests.bench.attention_process MODEL` with `TOKENLIGHT_HOME` set.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QTimer

from app.gui.inside.attention.flow import AttentionFlow
from app.gui.inside.page import InsidePage
from app.services.attention_text import AttentionText
from tests.bench.long_window_process import Painted
from tests.bench.window_process import Led


class AttentionLed(Led):
    """Does what the parent asks with attention."""

    def attend(self, ids: list[int]) -> None:
        """Show these tokens in place of the example and read the last one; tell how long it took until that was painted."""
        attention, session = self.program.views.attention, self.program.session
        page = self.window.findChild(InsidePage, "inside_page")
        if page is None:
            self.window.page_wanted.emit("inside")
            QTimer.singleShot(0, lambda: self.attend(ids))
            return
        page.show_part("attention")
        flow = page.findChild(AttentionFlow, "attention_flow")
        assert isinstance(flow, AttentionFlow) and session.ref is not None
        text = AttentionText(tuple(ids), (None,) * len(ids), session.ref, "", len(ids))
        attention._shows_example, attention._example, attention._token = True, text, len(ids) - 1
        attention.changed.emit()

        def tell(at_ns: int) -> None:
            rows = attention.rows
            assert rows is not None
            layers = sum(layer.rows > 1 for layer in rows.layers)
            self.tell({"ns": at_ns - began_ns, "layers": layers, "tokens": rows.tokens})

        Painted(flow.viewport(), lambda: attention.rows is not None and flow.colouring == "attention", tell)
        began_ns = time.perf_counter_ns()
        attention.begin()


LEADER = AttentionLed
