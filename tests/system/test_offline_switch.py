from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.events import Event
from app.core.hub_model import Offline
from app.system.offline_switch import VARIABLES, OfflineSwitch
from app.system.settings_file import SettingsFile


def settings_in(folder: Path) -> SettingsFile:
    return SettingsFile(folder / "settings.json", at_once)


def at_once(_name: str, work: Callable[[], Event | None]) -> None:
    """Write on this thread."""
    work()


def why(switch: OfflineSwitch) -> str:
    with pytest.raises(Offline) as refused:
        switch.check()
    return str(refused.value)


def test_what_was_set_holds_at_once_and_after_a_restart_and_is_told(tmp_path: Path) -> None:
    switch, told = OfflineSwitch({}, settings_in(tmp_path)), list[bool]()
    switch.changed.connect(lambda: told.append(switch.is_on))
    switch.check()
    switch.set(True)
    switch.set(True)
    assert told == [True] and "“Stay offline” is on: turn it off in the preferences" in why(switch)
    later = OfflineSwitch({}, settings_in(tmp_path))
    assert later.is_on and why(later) == why(switch)
    later.set(False)
    later.check()
    assert later.reason() is None and not OfflineSwitch({}, settings_in(tmp_path)).is_on


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_environment_wins_and_cannot_be_changed_here(tmp_path: Path, variable: str) -> None:
    settings = settings_in(tmp_path)
    switch = OfflineSwitch({variable: "1"}, settings)
    switch.changed.connect(lambda: pytest.fail("nothing was changed"))
    switch.set(False)
    assert switch.is_on and switch.variable == variable and f"{variable} is set" in why(switch)
    assert not settings.values.offline and not OfflineSwitch({variable: "0"}, settings).is_on


def test_what_is_read_meanwhile_is_ended_and_nothing_else(tmp_path: Path) -> None:
    switch, ended = OfflineSwitch({}, settings_in(tmp_path)), list[str]()
    with switch.ending(lambda: ended.append("before")):
        pass
    with switch.ending(lambda: ended.append(why(switch))):
        switch.set(True)
    switch.set(False)
    assert len(ended) == 1 and "Stay offline" in ended[0], "whoever is ended learns why"


def test_a_window_is_told_nothing_of_a_command(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    settings.change(offline=True)
    chosen, fixed = OfflineSwitch({}, settings, in_window=True), OfflineSwitch({VARIABLES[0]: "1"}, in_window=True)
    assert why(chosen) == "Tokenlight is offline because “Stay offline” is on: turn it off in the preferences."
    assert "take it away and start Tokenlight again" in why(fixed) and "name a model" not in why(fixed)
