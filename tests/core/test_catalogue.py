"""The catalogue of models that ships: every entry can be chosen, and a damaged file is one sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.catalogue import CatalogueModel, read_catalogue
from app.core.hub_files import quantisation_name
from app.core.hub_model import HubReference, hub_reference
from app.system.resources import find_resources
from devtools.starter_model import STARTER

TEXT = find_resources().catalogue()
MODELS = read_catalogue(TEXT).models
BITS = {"Q4_1": (5.0, 6.0), "Q8_0": (8.4, 8.7), "Q4_K_M": (4.7, 6.6), "MXFP4": (4.2, 4.8)}
"""What such files take for each parameter: small models have a large share of tokens' tables, which keep more bits."""


def test_there_is_a_choice_for_every_machine() -> None:
    assert read_catalogue(TEXT).problem is None
    assert 20 <= len(MODELS) <= 30
    assert [model.parameters for model in MODELS] == sorted(model.parameters for model in MODELS)
    assert MODELS[0].parameters < 150_000_000 and MODELS[-1].parameters > 69_000_000_000
    assert {model.kind for model in MODELS} == {"chat", "code", "reasoning"}
    assert len({model.repository.split("/")[1].split("-")[0].lower() for model in MODELS}) >= 8
    assert all(sum(part * 10**9 < m.parameters < 4 * part * 10**9 for m in MODELS) >= 2 for part in (1, 2, 4, 8, 16))


def test_the_first_one_is_the_starter_model() -> None:
    first = MODELS[0]
    assert (first.file, first.size, first.sha256) == (STARTER.file_name, STARTER.size, STARTER.sha256)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_the_figures_of_each_fit_together(model: CatalogueModel) -> None:
    low, high = BITS[model.quantisation]
    assert low < model.bits_per_weight < high
    assert quantisation_name(model.file) == model.quantisation and model.file.endswith(".gguf")
    assert model.purpose.endswith(".") and len(model.purpose) <= 120
    assert model.languages and all(len(code) == 2 or code == "many" for code in model.languages)
    assert model.context % 1024 == 0
    wanted = model.hub_model
    assert (wanted.path, wanted.size, wanted.revision) == (model.file, model.size, model.revision)
    assert wanted.files[0].sha256 == model.sha256
    assert hub_reference(f"{model.repository}:{model.file}") == HubReference(model.repository, model.file)


def test_of_a_mixture_a_token_needs_a_part() -> None:
    mixtures = [model for model in MODELS if model.active]
    assert len(mixtures) == 2
    assert all(model.read_bytes < model.size // 4 for model in mixtures)
    assert MODELS[0].read_bytes == MODELS[0].size


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[[model]]", "[[model"),
        ("size = 98_362_432", "size = 0"),
        ("size = 98_362_432", 'size = "large"'),
        ("context = 8192", "context = 8192\nmood = 1"),
        ('name = "SmolLM2 360M"', 'name = "SmolLM2 135M"'),
        ('repository = "Qwen/Qwen3-8B-GGUF"', 'repository = "../Qwen3-8B-GGUF"'),
        ("active = 3_600_000_000", "active = 36_000_000_000"),
        ('kind = "code"', 'kind = "poetry"'),
        ('sha256 = "b179', 'sha256 = "B179'),
    ],
)
def test_a_damaged_catalogue_is_empty_and_says_what_to_do(old: str, new: str) -> None:
    assert old in TEXT
    read = read_catalogue(TEXT.replace(old, new, 1))
    assert not read.models
    assert read.problem is not None and "install Tokenlight anew" in read.problem.english()


@given(st.text(max_size=200) | st.sampled_from(["", "model = []", "model = 3", "\ud800", "[" * 900]))
def test_no_text_raises(text: str) -> None:
    read = read_catalogue(text)
    assert (read.problem is None) == bool(read.models)
