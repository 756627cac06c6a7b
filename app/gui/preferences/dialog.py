"""The preferences: a form made of the options, in force and saved at once; knows no other part of the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.gui import theme
from app.gui.preferences.kept_states_line import KeptStatesLine
from app.gui.preferences.options import OFFLINE, Choice, Group, Number, Option, Switch, Tags, Text, groups
from app.gui.preferences.tags_line import TagsLine
from app.gui.widgets.boxes import ChoiceBox, NumberBox
from app.gui.widgets.buttons import text_button
from app.gui.widgets.direction import follow_direction
from app.gui.widgets.labels import label
from app.gui.widgets.tall_dialog import TallDialog
from app.gui.widgets.tick_box import TickBox
from app.gui.widgets.words import set_hint
from app.gui.widgets.wrapped_text import keep_line_starts
from app.services.disk_use import DiskUse
from app.services.kept_states import KeptStates
from app.services.units import UNKNOWN, byte_size
from app.system.offline_switch import OfflineSwitch
from app.system.settings_file import Settings, SettingsFile

translate = QCoreApplication.translate
WIDTH_PX = 520
CAPTION_PX = 136
TEXT_LINES = 4


class PreferencesDialog(TallDialog):
    """One window with all options."""

    changed = Signal(str)
    """A setting is another one: its name."""
    token_wanted = Signal()
    """Somebody wants to give an access token for the hub, another one, or none."""

    def __init__(
        self,
        settings: SettingsFile,
        themes: theme.Themes,
        disk_use: DiskUse,
        kept_states: KeptStates,
        offline: OfflineSwitch,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._themes = themes
        self._disk_use = disk_use
        self._kept_states = kept_states
        self._offline = offline
        self._groups = groups(offline.variable)
        self._show_value: dict[str, Callable[[], None]] = {}
        self.setObjectName("preferences")
        self.setWindowTitle(self.tr("Preferences"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(theme.scaled(WIDTH_PX))
        contents = QWidget()
        column = QVBoxLayout(contents)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_M)
        for group in self._groups:
            self._add_group(column, group)
        token = text_button(self.tr("Access token for the hub…"), "preferences_token_button")
        token.setAutoDefault(False)
        token.clicked.connect(lambda _checked=False: self.token_wanted.emit())
        column.addWidget(token, 0, Qt.AlignmentFlag.AlignLeft)
        self._disk = label(look="muted", pixels=theme.SMALL_PX, name="disk_use")
        self._disk.setWordWrap(True)
        column.addWidget(self._disk)
        states = KeptStatesLine(kept_states)
        column.addWidget(states)
        column.addStretch(1)
        self.hold(contents, self._buttons())
        self._disconnect = [
            disk_use.changed.connect(self._show_disk_use),
            kept_states.changed.connect(states.show_states),
        ]
        themes.changed.connect(self._show_values)
        themes.text_size_changed.connect(self._show_values)
        self._show_values()
        self._show_disk_use()
        disk_use.refresh()

    def done(self, result: int) -> None:
        """Listen no longer, and close."""
        for disconnect in self._disconnect:
            disconnect()
        super().done(result)

    def _add_group(self, column: QVBoxLayout, group: Group) -> None:
        column.addWidget(label(group.title, pixels=theme.HEADING_PX, bold=True))
        form = QFormLayout()
        form.setHorizontalSpacing(theme.SPACE_L)
        form.setVerticalSpacing(theme.SPACE_XS)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.DontWrapRows)
        for option in group.options:
            self._add_option(form, option)
        column.addLayout(form)
        column.addSpacing(theme.SPACE_S)

    def _add_option(self, form: QFormLayout, option: Option) -> None:
        fixed = option.fixed if isinstance(option, Switch) else ""
        words = fixed or option.hint
        hint = label(words, look="muted", pixels=theme.SMALL_PX)
        hint.setWordWrap(True)
        hint.setContentsMargins(0, 0, 0, theme.SPACE_S)
        match option:
            case Choice():
                field: QWidget = self._choice(option)
            case Switch():
                field = self._switch(option)
            case Number():
                field = self._number(option)
            case Text():
                field = self._text(option)
            case Tags():
                field = self._tags(option)
        field.setObjectName(f"{option.name}_option")
        field.setAccessibleName(option.label)
        field.setAccessibleDescription(words)
        field.setEnabled(not fixed)
        if isinstance(option, Text):
            caption = self._caption(option, field)
            form.addRow(caption)
            form.addRow(field)
            form.addRow(hint)
            return
        form.addRow(self._caption(option, field), field)
        below = QVBoxLayout()
        below.setSpacing(theme.SPACE_XS)
        if isinstance(field, TagsLine):
            below.addWidget(field.problem)
        below.addWidget(hint)
        form.addRow(QLabel(), below)

    def _caption(self, option: Option, field: QWidget) -> QLabel:
        caption = label("" if isinstance(option, Switch) else option.label)
        caption.setMinimumWidth(theme.scaled(CAPTION_PX))
        caption.setBuddy(field)
        return caption

    def _choice(self, option: Choice) -> ChoiceBox:
        box = ChoiceBox()
        values = [value for value, _ in option.values]
        box.addItems([words for _, words in option.values])
        box.activated.connect(lambda place: self._change(option.name, values[place]))
        self._show_value[option.name] = lambda: box.setCurrentIndex(values.index(str(self._value(option.name))))
        return box

    def _switch(self, option: Switch) -> TickBox:
        box = TickBox(option.label)
        box.toggled.connect(lambda on: self._change(option.name, on))

        def show() -> None:
            with QSignalBlocker(box):
                box.setChecked(bool(self._value(option.name)))

        self._show_value[option.name] = show
        return box

    def _number(self, option: Number) -> NumberBox:
        box = NumberBox(option.least, option.most, whole=True, step=option.step)
        box.valueChanged.connect(lambda value: self._change(option.name, round(value)))

        def show() -> None:
            with QSignalBlocker(box):
                box.setValue(int(str(self._value(option.name))))

        self._show_value[option.name] = show
        return box

    def _text(self, option: Text) -> QPlainTextEdit:
        edit = QPlainTextEdit()
        edit.setProperty("look", "field")
        edit.setPlaceholderText(option.placeholder)
        edit.setTabChangesFocus(True)
        edit.setFixedHeight(edit.fontMetrics().lineSpacing() * TEXT_LINES + theme.SPACE_XL)
        edit.textChanged.connect(lambda: self._change(option.name, edit.toPlainText()))
        follow_direction(edit)
        keep_line_starts(edit)

        def show() -> None:
            if edit.toPlainText() != self._value(option.name):
                with QSignalBlocker(edit):
                    edit.setPlainText(str(self._value(option.name)))

        self._show_value[option.name] = show
        return edit

    def _tags(self, option: Tags) -> TagsLine:
        line = TagsLine(option.placeholder)
        line.problem.setObjectName(f"{option.name}_problem")
        line.tags_changed.connect(lambda tags: self._change(option.name, tags))
        self._show_value[option.name] = lambda: line.show_tags(getattr(self._settings.values, option.name))
        return line

    def _buttons(self) -> QDialogButtonBox:
        box = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Close | QDialogButtonBox.StandardButton.RestoreDefaults
        )
        defaults = box.button(QDialogButtonBox.StandardButton.RestoreDefaults)
        defaults.setText(self.tr("Restore defaults"))
        defaults.setObjectName("defaults_button")
        set_hint(
            defaults,
            self.tr("Everything here becomes as it was at first, except “Stay offline”, which stays as it is"),
        )
        defaults.clicked.connect(self._restore_defaults)
        close = box.button(QDialogButtonBox.StandardButton.Close)
        close.setText(self.tr("Close"))
        close.setObjectName("preferences_close")
        box.rejected.connect(self.reject)
        for button in (defaults, close):
            button.setAutoDefault(False)
        return box

    def _value(self, name: str) -> object:
        if name == OFFLINE:
            return self._offline.is_on
        return getattr(self._settings.values, name)

    def _change(self, name: str, value: object) -> None:
        if name == OFFLINE:
            self._offline.set(bool(value))
        else:
            self._settings.change(**{name: value})
        if name == "theme":
            self._themes.choose(self._settings.values.theme)
        elif name == "text_size":
            self._themes.choose_text_size(self._settings.values.text_size)
        elif name == "kept_states_gb":
            self._kept_states.take_gigabytes()
        self.changed.emit(name)

    def _restore_defaults(self) -> None:
        defaults = Settings()
        for group in self._groups:
            for option in group.options:
                if option.name != OFFLINE:  # nothing opens a connection because something else was set back
                    self._change(option.name, getattr(defaults, option.name))
        self._show_values()

    def _show_values(self) -> None:
        for show in self._show_value.values():
            show()

    def _show_disk_use(self) -> None:
        total, record = self._disk_use.total_bytes, self._disk_use.record_bytes
        text = self.tr("Your chats take {total} on disk, {record} of it for the tokens.")
        self._disk.setText(text.format(total=byte_size(total), record=byte_size(record)))
        is_unknown = UNKNOWN in (byte_size(total), byte_size(record))
        set_hint(self._disk, self.tr("This is known once the chats have been measured.") if is_unknown else "")
