from __future__ import annotations

import math
from pathlib import Path

import pytest

from app.core.errors import ExitCode, UserError
from app.core.model import ModelRef
from app.core.sampling import PRESETS
from app.core.words import translate
from app.services.notices import Level, Notice, Notices
from app.services.units import byte_size, count, milliseconds, parameter_count, rate
from app.system.resources import Resources
from tests.desk import Desk


def notice(text: str, level: Level = "error") -> Notice:
    return Notice(translate("Test", text), level)


def test_the_latest_error_is_shown_and_a_hint_does_not_hide_it() -> None:
    notices, shown = Notices(), []
    notices.changed.connect(lambda: shown.append(notices.latest))
    notices.post(notice("one"))
    notices.post(notice("two"))
    notices.post(notice("by the way", "hint"))
    notices.post(notice("two"))
    notices.dismiss()
    notices.dismiss()
    assert shown == [notice("one"), notice("two"), None]


def test_a_preset_is_copied_and_leaves_seed_limit_and_stops(desk: Desk) -> None:
    sampling = desk.program.sampling
    sampling.change(seed=7, max_tokens=99, stop=("END",))
    sampling.use_preset("Wild")
    assert sampling.preset == "Wild"
    assert sampling.values.temperature == PRESETS["Wild"].temperature
    assert (sampling.values.seed, sampling.values.max_tokens, sampling.values.stop) == (7, 99, ("END",))
    sampling.change(top_k=41)
    assert sampling.preset is None


def test_values_out_of_range_are_held_in_it(desk: Desk) -> None:
    desk.program.sampling.change(temperature=99.0, top_p=-1.0, min_p=math.nan)
    values = desk.program.sampling.values
    assert (values.temperature, values.top_p, values.min_p) == (5.0, 0.0, 0.05)


def test_sampling_is_kept_for_the_next_start(desk: Desk) -> None:
    desk.program.sampling.change(temperature=1.3)
    assert desk.program.settings.values.sampling.temperature == 1.3


def test_a_template_can_be_a_file(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "own.jinja").write_text("{{ 1 }}", encoding="utf-8")
    assert desk.program.templates.named_or_file(str(tmp_path / "own.jinja")) == "{{ 1 }}"


@pytest.mark.parametrize("content", [b"\xff\xfe", b"x" * (1 << 20) + b"x"])
def test_a_template_file_that_cannot_be_one_is_refused(desk: Desk, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "own.jinja").write_bytes(content)
    with pytest.raises(UserError) as raised:
        desk.program.templates.named_or_file(str(tmp_path / "own.jinja"))
    assert raised.value.exit_code is ExitCode.WRONG_USE


def test_figures_read_as_people_write_them() -> None:
    assert [count(1482), rate(77.6), rate(131.24), rate(3.456)] == ["1,482", "77.6", "131", "3.46"]
    assert [milliseconds(112.4), milliseconds(12_345)] == ["112 ms", "12.3 s"]
    assert [byte_size(512), byte_size(98_362_432), byte_size(7 << 30)] == ["512 B", "93.8 MiB", "7.0 GiB"]
    assert [byte_size(1 << 41), byte_size(33_817_093 << 30)] == ["2.0 TiB", "> 100 TiB"]
    assert [parameter_count(134_515_008), parameter_count(7_240_000_000)] == ["135M", "7.2B"]


def test_parameters_are_counted_as_models_are_named() -> None:
    counts = (512, 411_900, 999_499, 999_500, 134_515_008, 999_500_000, 7_248_023_552)
    assert [parameter_count(each) for each in counts] == ["512", "412K", "999K", "1M", "135M", "1.0B", "7.2B"]


def test_what_is_unknown_is_a_dash() -> None:
    assert {count(None), rate(None), milliseconds(None), byte_size(None), parameter_count(None)} == {"–"}


def test_a_name_too_long_for_a_file_is_no_template(desk: Desk) -> None:
    with pytest.raises(UserError, match="chatml"):
        desk.program.templates.named_or_file("x" * 5000)


@pytest.mark.parametrize("typed", ["ChatML", "chat ml", "CHATML", "chat-ml"])
def test_a_template_is_found_however_its_name_is_written(desk: Desk, typed: str) -> None:
    templates = desk.program.templates
    assert templates.named_or_file(typed) == templates.named_or_file("chatml")
    assert templates.named_or_file("Llama 3") == templates.named_or_file("llama-3")


def test_a_template_that_no_longer_ships_is_never_rendered_as_one(desk: Desk) -> None:
    templates = desk.program.templates
    model = ModelRef(1, "digest")
    templates.choose(model, "chatml")
    assert templates.for_model(model) == desk.program.resources.template("chatml")
    templates.choose(model, "no longer here")
    assert templates.for_model(model) is None


def test_the_same_sentence_of_another_file_is_another_notice() -> None:
    notices, sentence = Notices(), translate("Test", "It is empty.")
    notices.post(Notice(sentence, file="a.gguf"))
    notices.post(Notice(sentence))
    assert notices.latest is not None and notices.latest.file == "a.gguf"
    notices.post(Notice(sentence, file="b.gguf"))
    assert notices.latest.file == "b.gguf"


def test_the_shipped_templates_are_read_before_there_is_a_window(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    templates, source = desk.program.templates, desk.program.resources.template("chatml")
    model = ModelRef(1, "digest")
    templates.choose(model, "chatml")

    def read(_resources: Resources, name: str) -> str:
        raise AssertionError(f"{name} was read")

    monkeypatch.setattr(Resources, "read_text", read)
    assert templates.for_model(model) == templates.named_or_file("chatml") == source
