"""A question on the command line is asked with what people set for its model, as a new chat in the window is."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.sampling import SamplingSettings
from app.services.model_check import check_model
from app.system.settings_file import ModelSettings
from tests.cli.conftest import CommandLine


@pytest.mark.parametrize(
    ("words", "temperature", "top_k"),
    [((), 0.25, 7), (("--top-k", "9"), 0.25, 9), (("--preset", "Balanced"), 0.8, 40)],
)
def test_a_model_is_asked_with_its_own_sampling_settings_unless_told_otherwise(
    line: CommandLine, model: Path, words: tuple[str, ...], temperature: float, top_k: int
) -> None:
    ref = check_model(model)[1]
    assert ref is not None
    own = SamplingSettings(temperature=0.25, top_k=7)
    line.desk.program.settings.remember_model(ref.identity, ModelSettings(sampling=own))
    assert line.run("ask", "Hi", "--json", "--model", str(model), *words) == 0
    (used,) = line.lines()[-1]["settings"]
    assert (used["settings"]["temperature"], used["settings"]["top_k"]) == (temperature, top_k)
    assert line.desk.program.settings.model(ref.identity).sampling == own, "nothing is kept"


def test_a_model_is_not_asked_with_the_settings_of_another(line: CommandLine, model: Path) -> None:
    line.desk.program.settings.remember_model("1-other", ModelSettings(sampling=SamplingSettings(temperature=0.25)))
    assert line.run("ask", "Hi", "--model", str(model)) == 0
    assert line.desk.engine.question.settings == SamplingSettings()
