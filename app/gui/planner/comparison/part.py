"""The part “Compare” of the planner: choices on the left; the answer, the rows and both charts on the right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QImage, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.core.own_gpu import OwnGpu
from app.core.words import Sentence
from app.gui import theme
from app.gui.dialogs import Dialogs
from app.gui.planner.comparison import words
from app.gui.planner.comparison.chart import to_draw
from app.gui.planner.comparison.choices import Choices
from app.gui.planner.comparison.export_menu import PlanExport
from app.gui.planner.comparison.gpu_dialog import GpuDialog
from app.gui.planner.comparison.legend import Legend
from app.gui.planner.comparison.line_marks import LETTERS
from app.gui.planner.comparison.picture import comparison_picture
from app.gui.planner.comparison.pointed_chart import PointedChart
from app.gui.planner.comparison.problem_rows import Problem, ProblemRows
from app.gui.planner.comparison.roof_chart import RoofDrawing
from app.gui.planner.comparison.rows_table import RowsTable
from app.gui.planner.comparison.speed_chart import SpeedDrawing
from app.gui.planner.hub_field import HubField
from app.gui.planner.part import PlannerPart
from app.gui.widgets.fit_badge import FitLook
from app.gui.widgets.labels import label
from app.gui.widgets.words import render
from app.services.file_export import FileExport
from app.services.file_names import short_name
from app.services.hub_models import is_hub_path, named
from app.services.plan_export import LESS_CONTEXT, caveats_of, use_words
from app.services.plan_rows import Worked
from app.services.plan_values import Chosen, ModelChoice
from app.services.planner_services import PlannerServices

CHARTS_BESIDE_PX, BESIDE_PX = 640, 900
BUSY_MS = 300
"""Only who waits so long is told that something is worked out."""


class ComparisonPart(PlannerPart):
    """Follows the services while it is seen."""

    def __init__(self, planner: PlannerServices, files: FileExport, look: FitLook) -> None:
        super().__init__()
        themes, icons = look.themes, look.icons
        self.setObjectName("plan_comparison")
        self._comparison, self._use = planner.comparison, planner.chat_use
        self._models = planner.models
        self._themes, self._icons = themes, icons
        self._in_table: Worked | None = None
        self._of_file = Chosen()
        """What the last file that was saved holds."""
        self._marks: dict[tuple[str, str, str], int] = {}
        self.hub = HubField(planner.models.hub, look, "plan_compared_hub")
        self.choices = Choices(icons, self.hub, look)
        self.answer = label(pixels=theme.HEADING_PX, bold=True, name="plan_comparison_answer")
        self.told = label(look="muted", pixels=theme.SMALL_PX, name="plan_comparison_use")
        self.drawn = label(look="muted", pixels=theme.SMALL_PX, name="plan_comparison_drawn")
        self.missing = label(look="muted", pixels=theme.SMALL_PX, name="plan_comparison_missing")
        self.problems = ProblemRows()
        for each in (self.answer, self.told, self.missing, self.drawn):
            each.setWordWrap(True)
        self.begin = QPushButton(self.tr("Begin with a usual choice"))
        self.begin.setObjectName("plan_comparison_begin")
        self.begin.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.table = RowsTable(themes)
        self.speeds = PointedChart("plan_speed_chart", themes, SpeedDrawing)
        self.roofs = PointedChart("plan_roof_chart", themes, RoofDrawing)
        self.legend = Legend(themes)
        self.export = PlanExport(icons, files, self.picture)
        self.export.rows = lambda: self.table.rows.rows
        self._files = files
        self._busy = QTimer(self)
        self._busy.setSingleShot(True)
        self._busy.setInterval(BUSY_MS)
        self._busy.timeout.connect(self._show_answer)
        self._lay_out()
        self._connect()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._comparison.watch(False)
        self._busy.stop()
        self.export.disconnect_services()
        self.choices.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to look."""
        super().showEvent(event)
        self._use.refresh()
        self._comparison.watch(True)
        self._show()

    def hideEvent(self, event: QHideEvent) -> None:
        """Look no longer."""
        super().hideEvent(event)
        self._comparison.watch(False)
        if not event.spontaneous() and (self._files.saved is not None or self._files.is_busy):
            self._files.look_away()
        self.choices.rest()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put things below each other where there is little room."""
        super().resizeEvent(event)
        ways = QBoxLayout.Direction
        is_beside = self.width() >= theme.scaled(BESIDE_PX)
        self._row.setDirection(ways.LeftToRight if is_beside else ways.TopToBottom)
        room = self.width() - (self.choices.width() + theme.SPACE_XL if is_beside else 0)
        is_wide = room >= theme.scaled(CHARTS_BESIDE_PX)
        self._charts.setDirection(ways.LeftToRight if is_wide else ways.TopToBottom)

    def picture(self) -> Callable[[], QImage]:
        """Return what paints what is shown now on light ground; any thread may do so."""
        worked = self._comparison.worked
        use = words.of_picture(worked, self._basis(worked)) if worked is not None else ""
        said, table, look = (self.answer.text(), use), self.table.in_words(), self._themes.paper
        charts = (self.speeds.drawing, self.roofs.drawing, self.legend.drawing)
        return lambda: comparison_picture(said, table, charts, look)

    def _show(self) -> None:
        comparison = self._comparison
        if self._files.saved is not None and comparison.chosen != self._of_file:
            self._files.look_away()  # what is shown now is not what the file holds
        self.choices.show_comparison(comparison)
        self.choices.form.show_chat_use(self._use.measured)
        self._show_hub()
        self._show_problems()
        if comparison.is_busy:
            self._busy.start()
        else:
            self._busy.stop()
        worked = self._shown
        if worked is not self._in_table:
            self._in_table = worked
            self.table.show_worked(worked)
        self.export.show_worked(worked if worked.rows else None)
        for widget in (self.table, self.speeds, self.roofs, self.legend, self.told, self.drawn):
            widget.setVisible(bool(worked.rows))
        missing = words.missing_line(worked.rows)
        self.missing.setText(missing)
        self.missing.setVisible(bool(missing))
        self._show_drawn()
        self._show_answer()

    def _show_problems(self) -> None:
        """Say what is wrong, but for what the field says of its model, beside the button that mends it."""
        told = self.hub.path if self.hub.tells_state else ""
        problems = [(path, said) for path, said in self._comparison.problems if not path or path != told]
        added = {model.path for model in self._comparison.models if model.is_added}
        self.problems.show_problems([self._problem(path, said, path in added) for path, said in problems])

    def _problem(self, path: str, said: Sentence, is_added: bool) -> Problem:
        name = named(path) if is_hub_path(path) else short_name(Path(path))
        is_named = not path or name in said.values.values()
        words = render(said) if is_named else self.tr("{model}: {problem}").format(model=name, problem=render(said))
        state = self._models.hub.get(path).state if is_hub_path(path) else "read"
        again = self.tr("Try again") if state in ("failed", "cancelled") else ""
        return Problem(path, name, words, self.tr("Read") if state == "unread" else again, is_added)

    def _show_hub(self) -> None:
        """Let the field show a model of a hub that is compared: the one that somebody named, else one that was not read."""
        paths = [choice.path for choice in self._comparison.chosen.models if is_hub_path(choice.path)]
        if self.hub.path not in paths:
            hub = self._models.hub
            self.hub.show_path(next((path for path in paths if hub.get(path).state == "unread"), ""))

    @property
    def _shown(self) -> Worked:
        chosen, worked = self._comparison.chosen, self._comparison.worked
        return worked if worked is not None and chosen.models and chosen.gpus else Worked(chosen)

    def _show_answer(self) -> None:
        """Say what comes of it, or what to do next."""
        comparison, worked = self._comparison, self._shown
        chosen = comparison.chosen
        is_empty = not worked.rows
        self.begin.setVisible(is_empty and not comparison.is_busy)
        if is_empty and comparison.is_busy:
            self.answer.setText(self.tr("Working it out …"))
        elif not comparison.models:
            self.answer.setText(
                self.tr("There is no model on this machine yet: choose a file to compare GPUs for it.")
            )
            self.begin.setText(self.tr("Choose a file…"))
        elif is_empty:
            self.answer.setText(self._what_is_missing(chosen))
            self.begin.setText(self.tr("Begin with a usual choice"))
        else:
            self.answer.setText(words.answer(worked))
        self.told.setText(self._told(worked))

    def _what_is_missing(self, chosen: Chosen) -> str:
        if not chosen.models:
            return self.tr("Tick a model on the left.")
        if not chosen.gpus:
            return self.tr("Tick a GPU on the left.")
        if len(chosen.models) == 1:
            return self.tr("The model that is ticked is not read: nothing can be worked out of it.")
        return self.tr("None of the models that are ticked is read: nothing can be worked out of them.")

    def _show_file(self) -> None:
        if self._files.saved is None:
            self._of_file = self._comparison.chosen
        self._show_answer()

    def _told(self, worked: Worked) -> str:
        parts = [self._basis(worked)]
        if self._busy.isActive() is False and self._comparison.is_busy:
            parts.append(self.tr("Working it out …"))
        if self._files.saved is not None:
            parts.append(self.tr("Saved as {path}").format(path=str(self._files.saved)))
        return " ".join(parts)

    def _basis(self, worked: Worked) -> str:
        """Return what the figures hold for, and what they rest on."""
        parts = [
            self.tr(
                "{use}. GPUs count as empty; layers that do not fit are worked out with this machine’s processor."
            ).format(use=render(use_words(worked.chosen)))
        ]
        if any(row.verdict == "less_context" for row in worked.rows):
            parts.append(render(LESS_CONTEXT))
        parts += map(render, caveats_of(worked))
        if worked.left_out:
            more = self.tr("1 more row is left out: choose less.")
            if worked.left_out != 1:
                more = self.tr("{count} more rows are left out: choose less.").format(count=worked.left_out)
            parts.append(more)
        return " ".join(parts)

    def _show_drawn(self) -> None:
        """Draw the rows that are selected, else those whose speed is known."""
        selected = self.table.selected
        known = selected or [row for row in self.table.rows.rows if row.line]
        drawn = to_draw(known)
        self._marks = {each.row.key: each.number for each in drawn}
        self.table.mark(self._marks)
        self.speeds.show_rows(drawn)
        self.legend.show_rows(drawn)
        firsts = {each.row.key[2]: each.number for each in reversed(drawn)}
        one_each = [each for each in drawn if firsts[each.row.key[2]] == each.number]
        roofs = drawn if selected else one_each
        self.roofs.show_rows(roofs, self._shown.reference)
        told = words.drawn_line(len(drawn), len(known), len(roofs), is_selected=bool(selected))
        missing = words.roofless_line([(LETTERS[each.number], each.row) for each in roofs])
        self.drawn.setText("\n".join(part for part in (told, missing) if part))

    def _use_chats(self) -> None:
        use, chosen = self._use.measured, self._comparison.chosen
        if use is None or self._use.context is None or use.prompt is None:
            return
        wanted = replace(chosen.wanted, room=True)  # who asks for this context needs it
        self._choose(replace(chosen, context=self._use.context, prompt=max(1, use.prompt.usual), wanted=wanted))

    def _choose(self, chosen: Chosen) -> None:
        before = {choice.path for choice in self._comparison.chosen.models}
        for choice in chosen.models:
            if is_hub_path(choice.path) and choice.path not in before:
                self._models.hub.read(choice.path)  # somebody has ticked it just now
        self._comparison.choose(chosen)

    def _add(self, path: str) -> None:
        """Compare another model, too."""
        chosen, choice = self._comparison.chosen, ModelChoice(path)
        models = (*(each for each in chosen.models if each != choice), choice)
        self._choose(replace(chosen, models=models))

    def _begin(self) -> None:
        if not self._comparison.models:
            self._choose_file()
            return
        self._comparison.begin_anew()

    def _choose_file(self) -> None:
        Dialogs(self.window()).choose_model(self._models.folder, self._icons, lambda path: self._add(str(path)))

    def _edit_gpu(self, key: str) -> None:
        alike = [gpu for gpu in self._comparison.gpus if gpu.group not in ("here", "own")]

        def keep(name: str, gpu: OwnGpu) -> Sentence | None:
            return self._comparison.own_gpus.keep(name, gpu, key)

        dialog = GpuDialog(keep, alike, self._comparison.own_gpus.get(key), self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _connect(self) -> None:
        self._disconnect = [
            self._comparison.changed.connect(self._show),
            self._use.changed.connect(lambda: self.choices.form.show_chat_use(self._use.measured)),
            self._files.changed.connect(self._show_file),
        ]
        self.choices.changed.connect(self._choose)
        self.choices.file_wanted.connect(self._choose_file)
        self.hub.model_wanted.connect(self._add)
        self.hub.told.connect(self._show_problems)
        self.problems.read_wanted.connect(self._models.hub.read)
        self.problems.removal_wanted.connect(self._comparison.remove_model)
        self.choices.model_removal_wanted.connect(self._comparison.remove_model)
        self.choices.gpu_wanted.connect(self._edit_gpu)
        self.choices.removal_wanted.connect(self._comparison.own_gpus.remove)
        self.choices.form.chat_use_wanted.connect(self._use_chats)
        self.begin.clicked.connect(lambda _checked=False: self._begin())
        self.table.selected_changed.connect(self._show_drawn)

    def _lay_out(self) -> None:
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_M)
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_L)
        head.addWidget(self.answer, 1)
        head.addWidget(self.export, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(head)
        for each in (self.problems, self.begin, self.told, self.table, self.missing, self.drawn):
            column.addWidget(each)
        self._charts = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._charts.setSpacing(theme.SPACE_XL)
        self._charts.addWidget(self.speeds, 4)
        self._charts.addWidget(self.roofs, 3)
        column.addLayout(self._charts)
        column.addWidget(self.legend)
        column.addStretch(1)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(theme.SPACE_XL)
        self._row.addWidget(self.choices, 0, Qt.AlignmentFlag.AlignTop)
        self._row.addWidget(right, 1)
