from __future__ import annotations

import pytest

from app.core.hub_files import goes_along, quantisation_name, quantisations
from app.core.hub_model import HubFile

GB = 1_000_000_000


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("Qwen3-4B-Q4_K_M.gguf", "Q4_K_M"),
        ("m.q8_0.GGUF", "Q8_0"),
        ("m-UD-IQ2_XXS.gguf", "UD-IQ2_XXS"),
        ("m-UD-Q4_K_XL-00001-of-00002.gguf", "UD-Q4_K_XL"),
        ("m-Q4_0_4_8.gguf", "Q4_0_4_8"),
        ("m-Q6_K.gguf", "Q6_K"),
        ("m-bf16.gguf", "BF16"),
        ("m-fp16.gguf", "F16"),
        ("gpt-oss-20b-mxfp4.gguf", "MXFP4"),
        ("m-TQ1_0.gguf", "TQ1_0"),
        ("Q5_K_S/m-00001-of-00003.gguf", "Q5_K_S"),
        ("Q8_0-distilled/m-Q4_0.gguf", "Q4_0"),
        ("mq4_0x.gguf", ""),
        ("plain.gguf", ""),
    ],
)
def test_a_name_says_its_quantisation(path: str, name: str) -> None:
    assert quantisation_name(path) == name


def test_parts_are_one_and_projectors_come_last_without_bits() -> None:
    files = [
        HubFile("mmproj-m-F16.gguf", 1),
        HubFile("big/m-F16-00002-of-00002.gguf", GB),
        HubFile("big/m-F16-00001-of-00002.gguf", GB),
        HubFile("m-Q4_K_M.gguf", 600_000_000),
        HubFile("m.imatrix.gguf", 5),
    ]
    found = quantisations(files, GB)
    assert [(each.name, each.size, len(each.files), each.is_projector) for each in found] == [
        ("Q4_K_M", 600_000_000, 1, False),
        ("F16", 2 * GB, 2, False),
        ("F16", 1, 1, True),
    ]
    assert [each.bits_per_weight for each in found] == [4.8, 16.0, None]
    assert found[1].path == "big/m-F16-00001-of-00002.gguf"


@pytest.mark.parametrize(
    ("numbers", "count", "missing"),
    [((2,), 3, 2), ((1, 2, 3), 3, 0), ((1, 3), 3, 1), ((0, 1), 2, 1), ((1, 2, 7), 3, 1), ((1,), 99_999, 99_998)],
)
def test_parts_that_are_not_there_are_counted_and_have_no_bits(
    numbers: tuple[int, ...], count: int, missing: int
) -> None:
    files = [HubFile(f"m-Q4_0-{number:05}-of-{count:05}.gguf", GB // 4) for number in numbers]
    (found,) = quantisations(files, GB)
    assert found.missing_parts == missing and (found.bits_per_weight is None) is (missing > 0)


@pytest.mark.parametrize("parameters", [None, 0, GB // 3, 40 * GB])
def test_a_number_of_parameters_that_cannot_be_true_gives_no_bits_at_all(parameters: int | None) -> None:
    files = [HubFile("m-F16.gguf", 2 * GB), HubFile("m-Q8_0.gguf", 1_060_000_000)]
    assert {each.bits_per_weight for each in quantisations(files, parameters)} == {None}


def test_two_models_in_one_repository_have_no_bits_since_the_hub_counts_one_of_them() -> None:
    found = quantisations([HubFile("a-Q8_0.gguf", GB), HubFile("b-Q8_0.gguf", GB)], GB)
    assert [(each.path, each.bits_per_weight) for each in found] == [("a-Q8_0.gguf", None), ("b-Q8_0.gguf", None)]


def test_a_file_whose_name_says_nothing_is_named_as_it_is() -> None:
    (found,) = quantisations([HubFile("folder/plain.gguf", GB)], 2 * GB)
    assert (found.name, found.bits_per_weight) == ("plain.gguf", 4.0)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/MMPROJ-x.gguf", "mmproj"),
        ("x-mmproj.gguf", "mmproj"),
        ("x.imatrix.gguf", "imatrix"),
        ("mmproj/x.gguf", ""),
        ("moondream2-mmproj-f16.gguf", "mmproj"),
        ("llava_mmproj.model.f16.gguf", "mmproj"),
        ("m-imatrix-Q4_K_M.gguf", ""),
        ("xmmprojy.gguf", ""),
    ],
)
def test_what_goes_with_a_model_is_told_by_its_name(path: str, kind: str) -> None:
    assert goes_along(path) == kind
