"""The last step's most likely tokens: raw probability against probability after the chain.

Looks at the steps only while it is on the screen, repaints at most four times a second while an answer is being written
and at once when somebody moves a setting.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStackedLayout, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.charts.swatch import Swatch
from app.gui.icons import Icons
from app.gui.next_token.candidate_row import AFTER_PX, RAW_PX
from app.gui.next_token.candidates import CandidatesChart
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.labels import label
from app.gui.widgets.words import render, set_hint
from app.services.next_token import CandidatesView, NextToken
from app.services.units import UNKNOWN, count

REPAINT_MS = 400
"""Nobody reads a list of words faster."""


class NextTokenPanel(QWidget):
    """The section with the candidates."""

    taken = Signal(int, int, int)
    """Somebody chose the next token of an answer: its request, the token's place, and which one it is."""

    def __init__(
        self, next_token: NextToken, themes: theme.Themes, icons: Icons, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._next_token = next_token
        self._themes = themes
        self._view: CandidatesView | None = None
        self._is_stale = False
        self.chart = CandidatesChart(icons)
        self.chart.taken.connect(self._take)
        self._left = FixedText(muted=False, fit="text", name="candidates_left")
        self._whose = FixedText(right=True, name="candidates_whose")
        self._not_counted = label(look="muted", pixels=theme.SMALL_PX, name="candidates_not_counted")
        self._not_counted.setWordWrap(True)
        self._reason = label(look="muted", name="candidates_reason")
        self._reason.setWordWrap(True)
        self._reason.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._swatches = (Swatch(), Swatch())
        self._legend = self._made_legend()
        self._pages = QStackedLayout()
        self._pages.addWidget(self._reason)
        self._pages.addWidget(self.chart)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        above = QHBoxLayout()
        above.setSpacing(theme.SPACE_S)
        above.addWidget(self._left, 0, Qt.AlignmentFlag.AlignLeft)
        above.addWidget(self._whose, 1)
        above.addWidget(self._legend, 0, Qt.AlignmentFlag.AlignRight)
        layout.addLayout(above)
        layout.addWidget(self._not_counted)
        layout.addLayout(self._pages, 1)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REPAINT_MS)
        self._timer.timeout.connect(self._show_stale)
        self._disconnect = next_token.changed.connect(self._follow)
        themes.changed.connect(self._show_theme)
        self._show_theme()
        self._show_view(None)

    def disconnect_services(self) -> None:
        """Listen to the steps no longer."""
        self._disconnect()
        self._timer.stop()
        self._next_token.watch(False)

    def showEvent(self, event: QShowEvent) -> None:
        """Look at the steps from now on."""
        super().showEvent(event)
        self._next_token.watch(True)
        self._show()

    def hideEvent(self, event: QHideEvent) -> None:
        """Look no longer: the engine need not tell its steps."""
        super().hideEvent(event)
        self._next_token.watch(False)
        self._timer.stop()

    def _follow(self, moved: bool) -> None:
        if not self.isVisible():
            return
        self._is_stale = True
        if moved or not self._timer.isActive():
            self._show()

    def _show_stale(self) -> None:
        if self._is_stale:
            self._show()

    def _show(self) -> None:
        self._is_stale = False
        view = self._next_token.candidates()
        if view is not None and view is not self._view:
            self._timer.start()
        self._show_view(view)

    def _show_view(self, view: CandidatesView | None) -> None:
        whose = "" if view is None else self._origin_words(view) or self._next_words(view)
        self._legend.setVisible(view is not None and not whose)  # a line for both would take a row of the candidates
        self._say_whose(whose)
        self._left.setVisible(view is not None)  # the reason stands there alone
        is_counted = view is None or view.survivors is not None
        self._not_counted.setText("" if is_counted or view is None or view.doubt is None else render(view.doubt))
        self._not_counted.setVisible(not is_counted)
        self._pages.setCurrentWidget(self._reason if view is None else self.chart)
        if view is None:
            reason = render(self._next_token.reason)
            self._say_left(UNKNOWN, reason)
            self._reason.setText(reason)
        else:
            words = self._left_words(view) if not whose else self._short_words(view)
            self._say_left(words, "" if view.doubt is None else render(view.doubt))
        if view is not self._view:
            self._view = view
            if view is None:
                self.chart.show_rows(())
            else:
                self.chart.show_rows(view.rows, view.request, view.token, can_take=view.is_held)

    def _origin_words(self, view: CandidatesView) -> str:
        """Return whose tokens these are, where they are not those of the last answer that is shown."""
        if view.whose:
            return self.tr("from “{title}”").format(title=view.whose)
        return "" if view.origin is None else render(view.origin)

    def _next_words(self, view: CandidatesView) -> str:
        """Return that the answer waits before this token."""
        return self.tr("next, not drawn yet") if view.is_held else ""

    def _take(self, token: int) -> None:
        if self._view is not None:
            self.taken.emit(self._view.request, self._view.token, token)

    def _say_whose(self, words: str) -> None:
        self._whose.setVisible(bool(words))
        self._whose.set_text(words)
        set_hint(self._whose, words)

    def _say_left(self, text: str, hint: str) -> None:
        self._left.set_text(text)
        set_hint(self._left, hint)
        self._left.setAccessibleDescription(hint)

    def _left_words(self, view: CandidatesView) -> str:
        if view.survivors is None:
            return self._short_words(view)
        total = count(view.vocabulary)
        if not view.is_exact:
            return self.tr("about {left} of {total} left").format(left=count(view.survivors), total=total)
        return self.tr("{left} of {total} left").format(left=count(view.survivors), total=total)

    def _short_words(self, view: CandidatesView) -> str:
        """Return how many are left where whose they are stands beside that."""
        if view.survivors is None:
            return self.tr("left: unknown")
        if view.survivors == 1 and view.is_exact:
            return self.tr("1 token left")
        words = self.tr("{left} tokens left") if view.is_exact else self.tr("about {left} tokens left")
        return words.format(left=count(view.survivors))

    def _made_legend(self) -> QWidget:
        made = QWidget()
        set_hint(
            made,
            self.tr(
                "How likely each next token is, in per cent: first as the model sees it, then after your sampling "
                "settings. Scissors name the setting that ruled a token out; the triangle marks the one that was drawn."
            ),
        )
        row = QHBoxLayout(made)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_XS)
        raw, after = self._swatches
        row.addWidget(raw)
        row.addWidget(_words(self.tr("raw")))
        row.addWidget(_words("→"))
        row.addWidget(after)
        row.addWidget(_words(self.tr("after, %")))
        return made

    def _show_theme(self) -> None:
        look = self._themes.current
        self.chart.show_theme(look)
        raw, after = self._swatches
        raw.show_colour(look.colour("stage_logits"), RAW_PX)
        after.show_colour(look.colour("stage_sampling"), AFTER_PX)


def _words(text: str) -> QLabel:
    return label(text, look="muted", pixels=theme.SMALL_PX - 1)
