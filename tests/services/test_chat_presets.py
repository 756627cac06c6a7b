"""Presets of whole chats in the settings file: names, parts, replaced, deleted and brought back, also after damage."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.chat_preset import ChatPreset, ChatSettings, PresetModel
from app.core.errors import UserError
from app.core.sampling import SamplingSettings
from app.services.chat_presets import LONGEST_NAME, ChatPresets
from app.system.settings_file import Settings, SettingsFile
from tests.desk import Desk

KIND = ChatPreset("Be kind.", SamplingSettings(temperature=0.2, seed=7), PresetModel("Tiny", "/m/tiny.gguf", "12-ab"))
BRIEF = ChatPreset("Be brief.")


@pytest.fixture
def presets(desk: Desk) -> ChatPresets:
    return desk.program.chat_presets


def refusal(call: Callable[[], None]) -> str:
    with pytest.raises(UserError) as raised:
        call()
    return raised.value.sentence.english()


def test_a_preset_keeps_the_parts_that_it_was_given(presets: ChatPresets) -> None:
    told: list[int] = []
    presets.changed.connect(lambda: told.append(len(presets.all)))
    presets.save(" Kind ", KIND)
    presets.save("Brief", BRIEF)
    assert presets.all == {"Kind": KIND, "Brief": BRIEF}
    assert told == [1, 2]


def test_a_preset_without_a_part_is_refused(presets: ChatPresets) -> None:
    assert refusal(lambda: presets.save("Nothing", ChatPreset())).startswith("Tick at least one part")
    assert presets.all == {}


@pytest.mark.parametrize(
    ("text", "says"), [("x\n" * 50_000 + "y", "100,001 characters"), ("x" * 5_001, "more than 5,000 characters")]
)
def test_a_system_prompt_that_is_too_long_is_refused_and_a_preset_with_one_is_not_used(
    desk: Desk, presets: ChatPresets, text: str, says: str
) -> None:
    assert says in refusal(lambda: presets.save("Long", ChatPreset(text)))
    assert presets.all == {}
    program = desk.program
    program.settings.change(chats=ChatSettings({"Long": ChatPreset(text, KIND.sampling)}))
    before = program.sampling.values
    for use in (program.preset_use.use, program.preset_use.begin):
        program.notices.dismiss()
        use("Long")
        assert says in desk.told
        assert (program.system_prompt.text, program.sampling.values) == ("", before)


@pytest.mark.parametrize(
    "part", [ChatPreset(""), ChatPreset(sampling=SamplingSettings()), ChatPreset(model=KIND.model)]
)
def test_one_part_is_enough(presets: ChatPresets, part: ChatPreset) -> None:
    presets.save("One", part)
    assert presets.all == {"One": part}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "Type a name"),
        (" \t", "Type a name"),
        ("\u3164\u2800", "Type a name"),
        ("x" * (LONGEST_NAME + 1), "at most 60"),
        ("a\nb", "on one line"),
        ("\u202eBrief", "on one line"),
    ],
)
def test_a_name_that_cannot_be_is_refused_in_words(presets: ChatPresets, name: str, says: str) -> None:
    assert says in refusal(lambda: presets.save(name, BRIEF))
    presets.save("Brief", BRIEF)
    assert says in refusal(lambda: presets.rename("Brief", name))
    assert list(presets.all) == ["Brief"]


def test_a_name_that_is_there_is_replaced_and_that_can_be_taken_back(desk: Desk, presets: ChatPresets) -> None:
    presets.save("Kind", KIND)
    presets.start_with("Kind")
    assert presets.same_name(" KIND") == "Kind"
    presets.save("kind", BRIEF)
    assert presets.all == {"Kind": BRIEF}
    assert (desk.told, desk.notice.remedy) == ("The chat preset “Kind” was replaced.", "restore_preset")
    presets.restore()
    assert presets.all == {"Kind": KIND}
    assert presets.start == "Kind"
    assert desk.program.notices.latest is None


def test_a_preset_gets_another_name_and_keeps_its_place(presets: ChatPresets) -> None:
    presets.save("Kind", KIND)
    presets.save("Brief", BRIEF)
    presets.start_with("Kind")
    presets.rename("Kind", "Friendly")
    assert list(presets.all) == ["Friendly", "Brief"]
    assert presets.start == "Friendly"
    assert refusal(lambda: presets.rename("Friendly", "BRIEF")) == "“Brief” exists already: use another name."
    presets.rename("Friendly", "friendly")
    assert list(presets.all) == ["friendly", "Brief"]


def test_a_preset_is_deleted_and_brought_back(desk: Desk, presets: ChatPresets) -> None:
    presets.save("Kind", KIND)
    presets.start_with("Kind")
    presets.delete("Kind")
    assert (presets.all, presets.start, presets.lost) == ({}, None, "Kind")
    assert (desk.told, desk.notice.remedy) == ("The chat preset “Kind” was deleted.", "restore_preset")
    presets.restore()
    assert (presets.all, presets.start, presets.lost) == ({"Kind": KIND}, "Kind", None)
    presets.delete("Kind")
    presets.save("Other", BRIEF)
    presets.restore()
    assert list(presets.all) == ["Kind", "Other"]  # where it was


@pytest.mark.parametrize("way", ["saved", "renamed"])
def test_a_deleted_preset_never_takes_the_place_of_another_one_of_its_name(
    desk: Desk, presets: ChatPresets, way: str
) -> None:
    presets.save("Kind", KIND)
    presets.delete("Kind")
    if way == "saved":
        presets.save("kind", BRIEF)
    else:
        presets.save("Brief", BRIEF)
        presets.rename("Brief", "kind")
    assert presets.lost is None
    assert desk.program.notices.latest is None
    presets.restore()
    assert presets.all == {"kind": BRIEF}


def test_a_replaced_preset_comes_back_beside_the_one_that_has_another_name_by_now(presets: ChatPresets) -> None:
    presets.save("Kind", KIND)
    presets.save("Kind", BRIEF)
    presets.rename("Kind", "Brief")
    presets.restore()
    assert presets.all == {"Kind": KIND, "Brief": BRIEF}


def test_so_many_presets_that_the_file_could_not_be_read_are_refused(presets: ChatPresets) -> None:
    huge = ChatPreset(f"{'日' * 999}\n" * 100)
    for number in range(13):
        presets.save(f"Huge {number}", huge)
    assert "delete one first" in refusal(lambda: presets.save("One more", huge))
    assert len(presets.all) == 13


def test_presets_are_written_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    chats = ChatSettings({"Kind": KIND, "Empty": ChatPreset("")}, "Kind", "unsent", {"0": "dra"})
    first = SettingsFile(path, lambda _name, _work: None)
    first.change(chats=chats, unfold_thinking=True, thinking_tags=("reflection",))
    first.write()
    again = SettingsFile(path, lambda _name, _work: None)
    assert again.values == Settings(chats=chats, unfold_thinking=True, thinking_tags=("reflection",))
    assert again.problems == ()


def test_sampling_settings_that_are_all_usual_are_still_a_part(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    first = SettingsFile(path, lambda _name, _work: None)
    first.change(chats=ChatSettings({"Usual": ChatPreset(sampling=SamplingSettings())}))
    first.write()
    read = SettingsFile(path, lambda _name, _work: None).values.chats.presets["Usual"]
    assert read == ChatPreset(sampling=SamplingSettings())


@pytest.mark.parametrize(
    ("damage", "kept"),
    [
        ({"Kind": 7}, {}),
        ({"Kind": {"system_prompt": 7}}, {}),
        ({"Kind": {"system_prompt": "Be kind.", "sampling": "hot"}}, {"Kind": ChatPreset("Be kind.")}),
        ({"Kind": {"system_prompt": "Be kind.", "model": {"path": 3}}}, {"Kind": ChatPreset("Be kind.")}),
        ({"Kind": {"system_prompt": "Be kind.", "model": {}}}, {"Kind": ChatPreset("Be kind.")}),
        (
            {"Kind": {"sampling": {"temperature": 1e9}}, "Brief": {"system_prompt": "Be brief."}},
            {"Kind": ChatPreset(sampling=SamplingSettings(temperature=5.0)), "Brief": BRIEF},
        ),
        ([], {}),
    ],
)
def test_a_damaged_value_costs_that_value_alone(
    tmp_path: Path, desk: Desk, damage: object, kept: dict[str, ChatPreset]
) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"theme": "dark", "chats": {"presets": damage, "start_with": "Kind"}}))
    settings = SettingsFile(path, lambda _name, _work: None)
    assert settings.values.theme == "dark"
    presets = ChatPresets(settings, desk.program.notices)
    assert presets.all == kept
    assert presets.start == ("Kind" if "Kind" in kept else None)
    assert settings.values.chats.start.is_empty is ("Kind" not in kept)


@pytest.mark.parametrize("identity", ["", "12", "-ab", "x-ab", "²-ab", "12-"])
def test_a_model_whose_identity_cannot_be_read_is_known_by_its_path_alone(identity: str) -> None:
    assert PresetModel("Tiny", "/m/tiny.gguf", identity).ref is None
