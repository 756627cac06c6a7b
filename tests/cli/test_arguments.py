from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.arguments import COMMANDS, Arguments, read_arguments
from app.core.errors import ExitCode, UserError
from app.core.sampling import BOUNDS, PRESETS, STAGES, SamplingSettings
from app.services.ask_options import AskOptions


def options_of(*words: str) -> AskOptions:
    options = read_arguments(["ask", *words]).ask
    assert options is not None
    return options


def settings_of(*words: str) -> SamplingSettings:
    return options_of("Hi", *words).settings(None)


def mistake(*words: str) -> str:
    with pytest.raises(UserError) as raised:
        read_arguments(list(words))
    assert raised.value.exit_code is ExitCode.WRONG_USE
    sentence = raised.value.sentence.english()
    assert "\n" not in sentence
    return sentence


def test_nothing_opens_the_window() -> None:
    assert read_arguments([]) == Arguments()


@pytest.mark.parametrize("name", ["my model.gguf", "日本 ü.GGUF"])
def test_a_model_opens_the_window_with_it(name: str) -> None:
    assert read_arguments([name]) == Arguments(model=Path(name))
    assert read_arguments(["--fake-engine", name]).fake_engine


def test_a_question_takes_balanced_settings_and_no_load_options() -> None:
    options = options_of("Hi")
    assert options.settings(None) == SamplingSettings()
    assert (options.prompt, options.model, options.system, options.load) == ("Hi", None, "", {})


def test_everything_that_shapes_an_answer_can_be_typed() -> None:
    typed = (
        "--system=Brief --model m.gguf --context 2048 --threads 2 --gpu-layers 0 --kv-type q8_0 --template chatml Hi"
    )
    options = options_of(*typed.split())
    assert (options.prompt, options.system, options.model) == ("Hi", "Brief", Path("m.gguf"))
    assert options.template == "chatml"
    assert options.load == {
        "context": 2048,
        "threads": 2,
        "gpu_layers": 0,
        "kv_type_k": "q8_0",
        "kv_type_v": "q8_0",
    }


@pytest.mark.parametrize(
    ("typed", "layers"), [("auto", None), ("AUTO", None), ("all", -1), ("All", -1), ("0", 0), ("21", 21)]
)
def test_layers_on_the_gpu_are_a_number_all_or_as_many_as_fit(typed: str, layers: int | None) -> None:
    assert options_of("Hi", "--gpu-layers", typed).load == {"gpu_layers": layers}


@pytest.mark.parametrize("typed", ["-1", "-2", "some", "", "1.5", "10001"])
def test_other_layers_are_a_sentence(typed: str) -> None:
    said = mistake("ask", "Hi", f"--gpu-layers={typed}")
    assert said == f"--gpu-layers takes auto, all or a whole number from 0 to 10000, not “{typed}”."


def test_a_model_can_be_loaded_although_memory_seems_too_small() -> None:
    assert not options_of("Hi").load_anyway
    assert options_of("Hi", "--load-anyway").load_anyway


@pytest.mark.parametrize("name", BOUNDS)
def test_every_setting_has_an_option_that_takes_both_ends_of_its_range(name: str) -> None:
    option = f"--{name.replace('_', '-')}"
    for value in (BOUNDS[name].low, BOUNDS[name].high):
        read = getattr(settings_of(option, f"{value:.10g}"), name)
        assert read == value
        assert type(read) is type(getattr(SamplingSettings(), name))


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("typed", ["banana", "nan", "inf", "1e99", "", "-1e99"])
def test_what_is_no_value_for_a_setting_is_one_sentence(name: str, typed: str) -> None:
    option = f"--{name.replace('_', '-')}"
    assert mistake("ask", "Hi", f"{option}={typed}").startswith(f"{option} takes a ")


def test_a_preset_is_the_base_of_what_else_is_typed() -> None:
    settings = settings_of("--top-k", "7", "--preset", "wild", "--stop", "A", "--stop", "B", "--seed", "0")
    assert settings.temperature == PRESETS["Wild"].temperature
    assert (settings.top_k, settings.stop, settings.seed) == (7, ("A", "B"), 0)


def test_texts_that_were_typed_can_be_tokenised() -> None:
    assert settings_of("--stop", "a\udcff").stop == ("a\ufffd",)


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (["ask", "Hi", "--temprature", "1"], "--temperature"),
        (["aks", "Hi"], "ask"),
        (["modles"], "models"),
        (["--versoin"], "--version"),
    ],
)
def test_a_slip_of_the_finger_is_answered_with_what_was_meant(words: list[str], suggestion: str) -> None:
    assert f"did you mean {suggestion}?" in mistake(*words)


@pytest.mark.parametrize(
    "words",
    [
        ["ask"],
        ["ask", "Hi", "there"],
        ["ask", "Hi", "--seed"],
        ["ask", "Hi", "--seed", "-1"],
        ["ask", "Hi", "--seed", "4294967296"],
        ["ask", "Hi", "--context", "0"],
        ["ask", "Hi", "--kv-type", "f8"],
        ["ask", "Hi", "--preset", "none"],
        ["ask", "Hi", "--raw", "--template", "chatml"],
        ["--json"],
        ["no-such-file"],
        ["model.gguf", "--json"],
    ],
)
def test_wrong_use_is_one_sentence(words: list[str]) -> None:
    assert mistake(*words).endswith((".", "window."))


def test_help_lists_every_option_and_hides_what_is_for_tests() -> None:
    page = read_arguments(["ask", "--help"]).help
    assert all(f"--{name.replace('_', '-')}" in page for name in BOUNDS)
    assert "fake-engine" not in page
    assert "bench" in read_arguments(["-h"]).help


def test_benchmarks_are_named_one_after_another() -> None:
    arguments = read_arguments(["bench", "--json", "--only", "prefill", "reuse", "--only", "record_cost"])
    assert arguments.only == ("prefill", "reuse", "record_cost")
    assert arguments.json


@pytest.mark.parametrize("prompt", ["Why is the sky blue?", "why" * 100, "日本" * 200])
def test_a_prompt_without_its_command_is_told_the_command(prompt: str) -> None:
    sentence = mistake(prompt)
    assert "tokenlight ask" in sentence
    assert len(sentence) < 200


@pytest.mark.parametrize("words", [["ask"], ["ask", "Hi", "--bogus"], ["ask", "Hi", "--temp", "1"]])
def test_a_mistake_with_ask_points_to_its_own_help(words: list[str]) -> None:
    assert mistake(*words).endswith("see tokenlight ask --help.")


def test_a_mistake_without_a_command_points_to_the_main_help() -> None:
    assert mistake("--bogus").endswith("see tokenlight --help.")


@pytest.mark.parametrize(
    ("typed", "meant"), [("--temp", "--temperature"), ("--ctx-size", "--context"), ("--n-predict", "--max-tokens")]
)
def test_what_other_programs_call_an_option_is_understood(typed: str, meant: str) -> None:
    assert f"did you mean {meant}?" in mistake("ask", "Hi", typed, "1")


def test_help_shows_ranges_defaults_and_what_their_ends_mean() -> None:
    page = " ".join(read_arguments(["ask", "--help"]).help.split())
    assert "--top-k N 0 to 1,000,000, 40 if left out" in page
    assert "--temperature N 0 to 5, 0.8 if left out" in page
    assert "--max-tokens N 0 to 1,000,000, 0 if left out; 0 is no limit" in page
    assert "--penalty-last-n N -1 to 1,000,000, 64 if left out; 0 is off, -1 the whole context" in page
    assert "e+" not in page


def test_every_command_is_listed_and_suggested() -> None:
    page = read_arguments(["--help"]).help
    for command in COMMANDS:
        assert f"\n    {command} " in page
    assert "did you mean doctor?" in mistake("doctr")
    assert "did you mean plan?" in mistake("plann")


def test_an_order_and_stages_that_are_off_can_be_typed() -> None:
    settings = settings_of("--order", "temperature, TOP-K", "--without", "top_p,typical-p", "--without", "xtc")
    assert settings.order == ("penalties", "dry", "temperature", "top_k", "typical", "top_p", "min_p", "xtc")
    assert settings.off == ("typical", "top_p", "xtc")
    assert settings_of("--order", ",".join(STAGES[::-1])).order == STAGES[::-1]


@pytest.mark.parametrize("option", ["--order", "--without"])
@pytest.mark.parametrize("typed", ["top_q", "top_k,", "", "draw"])
def test_what_is_no_stage_is_one_sentence(option: str, typed: str) -> None:
    wrong = typed.rsplit(",", maxsplit=1)[-1]
    assert mistake("ask", "Hi", f"{option}={typed}") == f"{option} takes some of {', '.join(STAGES)}, not “{wrong}”."


def test_a_grammar_is_named_as_a_file_of_one_kind() -> None:
    assert options_of("Hi").grammar is None
    assert options_of("Hi", "--grammar", "a.gbnf").grammar == ("gbnf", Path("a.gbnf"))
    assert options_of("Hi", "--json-schema", "s.json").grammar == ("json_schema", Path("s.json"))
    assert "--json-schema not allowed with" in mistake("ask", "Hi", "--grammar", "a", "--json-schema", "b")


def test_what_was_set_for_a_model_holds_but_for_what_is_typed() -> None:
    own = SamplingSettings(temperature=0.25, top_k=7, stop=("END",))
    assert options_of("Hi").settings(own) == own
    assert options_of("Hi", "--top-k", "9").settings(own) == SamplingSettings(
        temperature=0.25, top_k=9, stop=("END",)
    )
    assert options_of("Hi", "--preset", "Precise").settings(own) == PRESETS["Precise"], (
        "a preset takes the place of all"
    )


@pytest.mark.parametrize("words", [("models", "trash", "a", "--card"), ("models", "token", "--card")])
def test_an_option_that_another_command_has_is_not_suggested_for_itself(words: tuple[str, ...]) -> None:
    assert mistake(*words) == "There is no option --card here: see tokenlight models --help."
