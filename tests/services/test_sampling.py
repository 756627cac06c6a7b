from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.core.errors import ExitCode, UserError
from app.core.sampling import PRESETS, STAGES, SamplingSettings
from app.services.sampling import LONGEST_NAME, Sampling
from app.system.settings_file import SettingsFile
from tests.desk import Desk


def next_start(desk: Desk) -> Sampling:
    """Return what the next start reads from the file that this one writes."""
    desk.program.settings.write()
    return Sampling(SettingsFile(desk.program.paths.settings_file, lambda _name, _work: None))


@pytest.fixture
def told(desk: Desk) -> list[str]:
    sampling, said = desk.program.sampling, list[str]()
    sampling.changed.connect(lambda: said.append("changed"))
    sampling.changed_by_people.connect(lambda: said.append("by people"))
    sampling.presets_changed.connect(lambda: said.append("presets"))
    return said


def test_a_new_chat_starts_balanced_until_people_choose(desk: Desk) -> None:
    assert desk.program.sampling.start_values() == PRESETS["Balanced"]
    assert desk.program.sampling.preset == "Balanced"


def test_a_new_chat_starts_with_the_preset_chosen_last_and_the_own_limits(desk: Desk) -> None:
    sampling = desk.program.sampling
    sampling.change(seed=7, max_tokens=99, stop=("END",))
    sampling.is_new_chat = False
    sampling.use_preset("Wild")
    sampling.change(top_k=3)
    wild = msgspec.structs.replace(PRESETS["Wild"], seed=7, max_tokens=99, stop=("END",))
    assert sampling.start_values() == wild
    assert next_start(desk).values == wild


def test_what_people_change_in_a_new_chat_is_what_the_next_one_starts_with(desk: Desk) -> None:
    sampling = desk.program.sampling
    sampling.use_preset("Wild")
    sampling.change(temperature=1.1)
    assert sampling.start_values() == sampling.values
    assert next_start(desk).values == sampling.values


def test_what_people_change_in_an_older_chat_stays_in_it(desk: Desk) -> None:
    sampling = desk.program.sampling
    sampling.is_new_chat = False
    sampling.change(temperature=1.1)
    assert sampling.values.temperature == 1.1
    assert sampling.start_values() == PRESETS["Balanced"]
    assert desk.program.settings.values.sampling == SamplingSettings()


def test_another_chats_settings_are_shown_without_being_kept(desk: Desk, told: list[str]) -> None:
    sampling, shown = desk.program.sampling, SamplingSettings(temperature=1.3, top_k=7)
    before = desk.program.settings.values
    sampling.show(shown)
    assert sampling.values == shown
    assert (sampling.preset, sampling.chosen) == (None, "Balanced")
    assert told == ["presets", "changed"]
    assert desk.program.settings.values == before
    sampling.show(PRESETS["Creative"])
    assert (sampling.preset, sampling.chosen) == ("Creative", "Creative")


def test_people_changing_a_value_is_told_apart(desk: Desk, told: list[str]) -> None:
    sampling = desk.program.sampling
    sampling.change(temperature=0.8)
    assert told == []
    sampling.change(temperature=0.9)
    assert told == ["changed", "by people"]
    sampling.use_preset("Balanced")
    assert told[2:] == ["presets", "changed", "by people"]


def test_the_preset_that_was_taken_is_known_after_a_change(desk: Desk) -> None:
    sampling = desk.program.sampling
    sampling.use_preset("Precise")
    sampling.change(top_p=0.5)
    assert (sampling.preset, sampling.chosen) == (None, "Precise")
    sampling.change(top_p=0.9)
    assert (sampling.preset, sampling.chosen) == ("Precise", "Precise")


def test_an_own_preset_is_kept_and_is_a_copy(desk: Desk) -> None:
    sampling = desk.program.sampling
    sampling.change(temperature=0.33)
    sampling.save_preset("  Mine ")
    assert (sampling.preset, list(sampling.presets)) == ("Mine", ["Mine"])
    sampling.change(temperature=0.5)
    assert sampling.presets["Mine"].temperature == 0.33
    assert sampling.chosen == "Mine"
    sampling.save_preset("Mine")
    assert sampling.presets["Mine"].temperature == 0.5
    again = next_start(desk)
    assert (again.preset, again.presets["Mine"].temperature) == ("Mine", 0.5)


def test_an_own_preset_can_have_another_name(desk: Desk) -> None:
    sampling = desk.program.sampling
    sampling.change(temperature=0.33)
    sampling.save_preset("One")
    sampling.save_preset("Two")
    sampling.rename_preset("One", "ONE")
    sampling.rename_preset("Two", "Three")
    assert list(sampling.presets) == ["ONE", "Three"]
    assert (sampling.chosen, next_start(desk).chosen) == ("Three", "Three")


def test_a_deleted_preset_can_be_brought_back(desk: Desk) -> None:
    sampling = desk.program.sampling
    sampling.change(temperature=0.33)
    sampling.save_preset("Mine")
    sampling.delete_preset("Mine")
    assert sampling.presets == {}
    assert (sampling.preset, sampling.values.temperature) == (None, 0.33)
    assert desk.program.settings.values.last_preset == ""
    sampling.restore_preset()
    sampling.restore_preset()
    assert sampling.presets["Mine"].temperature == 0.33
    assert sampling.preset == "Mine"


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("", "Type a name"),
        (" \t", "Type a name"),
        ("\u3164\u2800", "Type a name"),
        ("\u202eMine", "on one line"),
        ("x" * (LONGEST_NAME + 1), "at most 60"),
        ("two\nlines", "on one line"),
        ("bell\x07", "on one line"),
        ("balanced", "“Balanced” exists already"),
        (" MINE", "“Mine” exists already"),
        ("Stra\u00dfe", "“STRASSE” exists already"),
        ("Cafe\u0301", "“Caf\u00e9” exists already"),
    ],
)
def test_a_name_that_cannot_be_one_is_refused_in_words(desk: Desk, name: str, part: str) -> None:
    sampling = desk.program.sampling
    for own in ("Mine", "STRASSE", "Caf\u00e9", "Other"):
        sampling.save_preset(own)
    with pytest.raises(UserError, match=part) as raised:
        sampling.save_preset(name)
    assert raised.value.exit_code is ExitCode.WRONG_USE
    with pytest.raises(UserError, match=part):
        sampling.rename_preset("Other", name)
    assert list(sampling.presets) == ["Mine", "STRASSE", "Caf\u00e9", "Other"]


def test_values_out_of_range_in_the_file_are_held_in_it(desk: Desk) -> None:
    desk.program.settings.change(presets={"Old": SamplingSettings(temperature=99.0, top_p=-3.0)})
    sampling = desk.program.sampling
    sampling.use_preset("Old")
    assert (sampling.values.temperature, sampling.values.top_p) == (5.0, 0.0)
    assert sampling.preset == "Old"


def test_a_preset_in_the_file_does_not_take_the_place_of_one_that_ships(tmp_path: Path, desk: Desk) -> None:
    desk.program.settings.change(presets={"Wild": SamplingSettings(temperature=0.1)})
    assert desk.program.sampling.presets == {}
    desk.program.sampling.use_preset("Wild")
    assert desk.program.sampling.values.temperature == PRESETS["Wild"].temperature


def test_a_seed_is_told_once(desk: Desk, told: list[str]) -> None:
    desk.program.sampling.note_seed(7)
    desk.program.sampling.note_seed(7)
    assert desk.program.sampling.last_seed == 7
    assert told == ["presets"]


def test_unfolding_leaves_the_other_sections(desk: Desk) -> None:
    desk.program.settings.change(folded=("live", "sampling_more"))
    sampling = desk.program.sampling
    assert not sampling.more_shown
    sampling.more_shown = True
    assert desk.program.settings.values.folded == ("live",)
    sampling.more_shown = False
    assert list(desk.program.settings.values.folded) == ["live", "sampling_more"]


def test_the_presets_are_read_once_and_again_after_a_change(desk: Desk) -> None:
    sampling = desk.program.sampling
    sampling.save_preset("One")
    once = sampling.presets
    sampling.change(temperature=1.1)
    assert sampling.presets is once
    sampling.save_preset("Two")
    assert list(sampling.presets) == ["One", "Two"]


def test_an_own_preset_holds_limit_stops_and_a_fixed_seed(desk: Desk) -> None:
    sampling = desk.program.sampling
    sampling.change(temperature=0.33, seed=7, max_tokens=99, stop=("END",))
    sampling.save_preset("Fixed")
    sampling.change(seed=None)
    assert (sampling.preset, sampling.chosen) == (None, "Fixed")
    sampling.save_preset("Free")
    sampling.change(seed=8, max_tokens=5, stop=())
    sampling.use_preset("Fixed")
    assert (sampling.values.seed, sampling.values.max_tokens, sampling.values.stop) == (7, 99, ("END",))
    again = next_start(desk)
    assert (again.preset, again.values) == ("Fixed", sampling.values)
    sampling.change(seed=8, stop=())
    sampling.use_preset("Free")
    assert (sampling.values.seed, sampling.values.max_tokens, sampling.values.stop) == (8, 99, ("END",))
    sampling.change(seed=9)
    assert sampling.preset == "Free"
    sampling.use_preset("Wild")
    assert (sampling.values.seed, sampling.values.max_tokens, sampling.values.stop) == (9, 99, ("END",))


def test_another_chat_and_back_remembers_what_was_changed(desk: Desk) -> None:
    sampling = desk.program.sampling
    sampling.use_preset("Wild")
    sampling.change(temperature=0.8, top_p=0.95, min_p=0.05)  # nearer to another preset by now
    changed = sampling.values
    sampling.show(PRESETS["Precise"])
    sampling.show(changed)
    assert (sampling.preset, sampling.chosen) == (None, "Wild")


def test_settings_of_a_chat_of_before_are_set_beside_the_nearest_preset(desk: Desk) -> None:
    sampling = desk.program.sampling
    sampling.show(msgspec.structs.replace(PRESETS["Creative"], top_p=0.5))
    assert (sampling.preset, sampling.chosen) == (None, "Creative")
    sampling.show(SamplingSettings(temperature=3.0, top_k=1, top_p=0.1, min_p=0.9, typical_p=0.2))
    assert (sampling.preset, sampling.chosen) == (None, None)


def test_a_stage_is_moved_to_a_place_and_no_further_than_to_an_end(desk: Desk, told: list[str]) -> None:
    sampling = desk.program.sampling
    sampling.move_stage("temperature", 0)
    assert sampling.values.order == ("temperature", *STAGES[:-1])
    sampling.move_stage("top_k", 99)
    assert sampling.values.order[-1] == "top_k"
    sampling.move_stage("xtc", -3)
    assert sampling.values.order[:2] == ("xtc", "temperature")
    told.clear()
    sampling.move_stage("xtc", 0)
    assert told == []
    assert sorted(sampling.values.order) == sorted(STAGES)


def test_at_temperature_0_a_stage_is_moved_among_those_before_the_choice(desk: Desk) -> None:
    sampling = desk.program.sampling
    sampling.move_stage("temperature", 1)
    sampling.change(temperature=0.0)
    before = sampling.values
    assert before.running_order == ("penalties", *STAGES[1:])
    sampling.move_stage("temperature", 0)
    assert sampling.values == before
    sampling.move_stage("penalties", 99)
    assert sampling.values.running_order == (*STAGES[1:-1], "penalties", "temperature")
    sampling.change(temperature=1.0)
    assert sampling.values.order.index("temperature") == 1, "it has its own place again"


def test_a_stage_is_switched_off_and_on_again_with_its_values(desk: Desk) -> None:
    sampling = desk.program.sampling
    sampling.change(top_p=0.5)
    sampling.switch_stage("top_p", False)
    sampling.switch_stage("penalties", False)
    assert (sampling.values.off, sampling.values.top_p) == (("penalties", "top_p"), 0.5)
    sampling.switch_stage("top_p", False)
    sampling.switch_stage("penalties", True)
    assert sampling.values.off == ("top_p",)
    sampling.move_stage("top_p", 0)
    sampling.reset_stages()
    assert sampling.values == SamplingSettings(top_p=0.5)


@pytest.mark.parametrize("name", ["draw", "top_n_sigma", ""])
def test_what_is_no_stage_is_neither_moved_nor_switched(desk: Desk, name: str) -> None:
    with pytest.raises(ValueError, match="no stage"):
        desk.program.sampling.move_stage(name, 0)
    with pytest.raises(ValueError, match="no stage"):
        desk.program.sampling.switch_stage(name, False)


def test_another_order_is_no_presets_until_it_is_saved_as_one_and_outlives_a_restart(desk: Desk) -> None:
    sampling = desk.program.sampling
    sampling.move_stage("temperature", 0)
    assert (sampling.preset, sampling.chosen) == (None, "Balanced")
    sampling.switch_stage("min_p", False)
    sampling.save_preset("Hot first")
    assert sampling.preset == "Hot first"
    sampling.use_preset("Balanced")
    assert sampling.values == PRESETS["Balanced"]
    sampling.use_preset("Hot first")
    later = next_start(desk)
    assert later.preset == "Hot first"
    assert (later.values.order[0], later.values.off) == ("temperature", ("min_p",))
