"""Which file of a repository is recommended for which machine, and why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.core.hub_model import HubFile
from app.core.hub_page import HubPage, HubQuantisation
from app.core.hub_search import HubRepository
from app.core.quality import read_quality
from app.planner.memory_plan import PlannedDevice
from app.planner.quantised import BITS_PER_WEIGHT
from app.services.recommended_files import MOST_JUDGED, FileChoice, choose_file, loss_words
from app.system.resources import find_resources
from tests.examples import examples
from tests.planner.planned_models import planned

GIB = 1 << 30
TABLE = read_quality(find_resources().quality_table())
EIGHT = 8_030_261_248
BITS = {"F16": 16.0, **BITS_PER_WEIGHT}


def page(*names: str, parameters: int | None = EIGHT, tells: bool = True) -> HubPage:
    """Return a repository with these quantisations of a model."""
    files = [
        HubQuantisation(
            name,
            (HubFile(f"m-{name}.gguf", round(BITS.get(name, 4.6) * (parameters or EIGHT) / 8)),),
            BITS.get(name, 4.6) if tells else None,
        )
        for name in names
    ]
    return HubPage(HubRepository("org/m", parameters=parameters if tells else None, context=131_072), tuple(files))


ALL = page(*BITS)


def graphics(gib: float, main: float = 64) -> tuple[PlannedDevice, ...]:
    total = round(gib * GIB)
    return PlannedDevice("CUDA0", True, total, total), *processor(main)


def processor(gib: float) -> tuple[PlannedDevice, ...]:
    return (PlannedDevice("CPU", False, round(gib * GIB), round(gib * GIB)),)


def name_of(choice: FileChoice) -> str:
    return choice.recommended.removeprefix("m-").removesuffix(".gguf")


def why(choice: FileChoice) -> str:
    assert choice.reason is not None
    return choice.reason.english()


@pytest.mark.parametrize(
    ("devices", "name", "said"),
    [
        (graphics(80), "Q8_0", "practically nothing"),
        (graphics(24), "Q8_0", "practically nothing"),
        (graphics(9.2), "Q6_K", "practically nothing"),
        (graphics(8.6), "Q5_K_M", "little of the model"),
        (graphics(7.2), "Q4_K_M", "little of the model"),
        (graphics(6.5), "Q4_K_M", "a shorter one"),
        (graphics(4), "Q4_K_M", "None fits on the GPU as a whole"),
        (processor(64), "Q4_K_M", "the quickest; without a GPU even it is slow"),
        (processor(9.2), "Q4_K_M", "the quickest"),
        (processor(8.3), "Q3_K_M", "lose much"),
    ],
)
def test_the_largest_that_fits_and_loses_little(devices: tuple[PlannedDevice, ...], name: str, said: str) -> None:
    choice = choose_file(ALL, devices, TABLE)
    assert (name_of(choice), said in why(choice)) == (name, True), why(choice)


def test_what_is_slow_on_a_gpu_with_main_memory_is_not_said_to_be_without_a_gpu() -> None:
    shared = (PlannedDevice("MTL0", True, 96 * GIB, 96 * GIB, True), *processor(96))
    choice = choose_file(page("Q4_K_M", "Q8_0", parameters=70_000_000_000), shared, TABLE)
    assert name_of(choice) == "Q4_K_M" and "without a GPU" not in why(choice)
    assert "memory that the GPU shares with the processor even it is slow" in why(choice)


def test_without_a_gpu_the_largest_that_is_quick_enough_is_taken() -> None:
    choice = choose_file(page("F16", "Q8_0", "Q6_K", "Q4_K_M", parameters=3_000_000_000), processor(64), TABLE)
    assert name_of(choice) == "Q8_0" and "practically nothing" in why(choice)
    choice = choose_file(page("Q8_0", "Q6_K", "Q4_K_M", parameters=4_000_000_000), processor(64), TABLE)
    assert name_of(choice) == "Q6_K" and "larger ones fit as well, but are slower" in why(choice)


@pytest.mark.parametrize(
    "devices", [processor(8), processor(16), processor(64), graphics(8), graphics(12), graphics(24)]
)
@pytest.mark.parametrize("share", [0.8, 0.5, 0.1])
def test_what_is_free_at_the_moment_changes_no_recommendation(
    devices: tuple[PlannedDevice, ...], share: float
) -> None:
    full = choose_file(ALL, devices, TABLE)
    now = choose_file(ALL, [replace(each, free=round((each.free or 0) * share)) for each in devices], TABLE)
    assert (now.recommended, now.reason) == (full.recommended, full.reason) and full.recommended
    fit = now.of(now.recommended).fit  # type: ignore[union-attr]
    assert fit.verdict == "fits" or fit.state == "busy"


def test_a_shorter_context_comes_before_a_file_that_loses_much() -> None:
    choice = choose_file(ALL, processor(8.7), TABLE)
    assert choice.of(choice.recommended).usually == "less_context"  # type: ignore[union-attr]
    assert name_of(choice) == "Q4_K_M" and "shorter" in why(choice)


def test_where_nothing_fits_none_is_recommended() -> None:
    choice = choose_file(ALL, processor(2), TABLE)
    assert choice.recommended == "" and "smaller model" in why(choice)


def test_where_the_machine_is_not_known_none_is_recommended() -> None:
    choice = choose_file(ALL, (), TABLE)
    assert choice.recommended == "" and "being found out" in why(choice)
    assert {file.fit.verdict for file in choice.files} == {"unknown"}
    assert choice.of("m-Q6_K.gguf").loss.level == "none"  # type: ignore[union-attr]


def test_sixteen_bits_are_recommended_where_there_is_nothing_else() -> None:
    assert name_of(choose_file(page("F16"), graphics(80), TABLE)) == "F16"


def test_projectors_and_models_with_missing_parts_are_none_to_recommend() -> None:
    whole, projector, part = page("Q4_K_M", "F16", "Q8_0").quantisations
    found = HubPage(
        ALL.repository,
        (
            whole,
            HubQuantisation("F16", projector.files, None, is_projector=True),
            HubQuantisation("Q8_0", part.files, 8.5, missing_parts=1),
        ),
    )
    choice = choose_file(found, graphics(80), TABLE)
    assert name_of(choice) == "Q4_K_M" and len(choice.files) == 1
    none = choose_file(HubPage(ALL.repository, found.quantisations[1:]), graphics(80), TABLE)
    assert none.recommended == "" and "no whole model" in why(none)


def test_where_the_hub_tells_no_parameters_the_name_does() -> None:
    choice = choose_file(page("Q8_0", "Q4_K_M", "Q2_K", tells=False), graphics(24), TABLE)
    assert name_of(choice) == "Q8_0"
    assert choice.of("m-Q2_K.gguf").loss.level == "large"  # type: ignore[union-attr]
    unknown = choose_file(page("X", tells=False), graphics(24), TABLE)
    assert unknown.recommended == "" and "does not tell enough" in why(unknown)


def test_a_model_that_was_trained_in_four_bits_loses_nothing_by_them() -> None:
    choice = choose_file(page("MXFP4", parameters=20_915_000_000), graphics(24), TABLE)
    assert name_of(choice) == "MXFP4" and choice.files[0].loss is None


def test_of_small_models_nothing_was_measured_and_many_bits_are_recommended() -> None:
    choice = choose_file(page("Q8_0", "Q4_K_M", "Q2_K", parameters=500_000_000), processor(8), TABLE)
    assert name_of(choice) == "Q8_0" and "not known for its size" in why(choice)
    low = choose_file(page("Q2_K", parameters=500_000_000), processor(8), TABLE)
    assert "lose much" in why(low)


def test_a_header_that_was_read_counts() -> None:
    windowed = planned("gpt-oss-20b")
    assert windowed.weights is not None
    many = page("Q4_K_M", parameters=windowed.parameters)
    devices = processor(windowed.weights.total / GIB + 1.9)
    assert choose_file(many, devices, TABLE).files[0].fit.verdict != "fits"
    assert choose_file(many, devices, TABLE, windowed).files[0].fit.verdict == "fits"


def test_losses_have_words() -> None:
    assert loss_words(None).english() == "unknown"
    assert [loss_words(file.loss).english() for file in choose_file(page("Q8_0", "Q2_K"), (), TABLE).files] == [
        "practically none",
        "large",
    ]


@examples(20)
@given(st.floats(1, 200), st.sampled_from([None, 4.0, 12.0, 24.0, 80.0]))
def test_what_is_recommended_is_one_of_the_files_and_more_memory_never_recommends_a_worse_one(
    main: float, gpu: float | None
) -> None:
    less = processor(main) if gpu is None else graphics(gpu, main)
    more = processor(2 * main) if gpu is None else graphics(2 * gpu, 2 * main)
    one, other = choose_file(ALL, less, TABLE), choose_file(ALL, more, TABLE)
    for choice in (one, other):
        assert choice.reason is not None
        assert choice.recommended == "" or choice.of(choice.recommended) is not None
    if one.recommended:
        assert BITS[name_of(other)] >= BITS[name_of(one)]


def test_of_thousands_of_models_the_smallest_are_judged_and_none_is_recommended() -> None:
    many = tuple(HubQuantisation("Q4_K_M", (HubFile(f"m-{n}.gguf", 1000 + n),), 4.5) for n in range(3 * MOST_JUDGED))
    choice = choose_file(HubPage(ALL.repository, many), graphics(80), TABLE)
    assert len(choice.files) == len(many) and choice.recommended == ""
    assert [file.fit.verdict == "unknown" for file in choice.files].index(True) == MOST_JUDGED
    assert choice.reason is not None and "too many models" in choice.reason.template


def test_what_cannot_be_kept_under_its_name_is_never_recommended_and_says_why() -> None:
    good, bad = page("Q4_K_M"), page("Q8_0")
    climbing = HubQuantisation("Q8_0", (HubFile("../../m-Q8_0.gguf", bad.quantisations[0].size),), BITS["Q8_0"])
    choice = choose_file(HubPage(ALL.repository, (*good.quantisations, climbing)), graphics(80), TABLE)
    assert name_of(choice) == "Q4_K_M"
    refused = choice.of(climbing.path)
    assert refused is not None and refused.fit.verdict == "unknown"
    assert "cannot be kept safely (../../m-Q8_0.gguf)" in refused.fit.reason.english()
    alone = choose_file(HubPage(ALL.repository, (climbing,)), graphics(80), TABLE)
    assert alone.recommended == "" and alone.reason == refused.fit.reason
