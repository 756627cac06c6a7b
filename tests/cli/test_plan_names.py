"""How models and GPUs are named for the command `plan`, and what its help names."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.cli.plan_options import PLAN_EPILOG
from app.core.own_gpu import OwnGpu
from app.services.plan_answer import (
    DecodeValue,
    DeviceValue,
    FirstTokenValue,
    LeverValue,
    ModelValue,
    PlanAsked,
    PlanReport,
    PlanValue,
)
from tests.cli.conftest import CommandLine
from tests.cli.test_plan import asked, gpus, plan
from tests.fake_dry_run import FakeDryRun
from tests.ggufs import write_tiny_llama

__all__ = ["asked", "gpus"]


PRINTED = {
    "A100 80 GB SXM,rtx 4060ti 8gb": ["a100-80-sxm", "rtx-4060-ti-8"],
    "RTX 3060 · 12.0 GiB": ["rtx-3060"],
    "NVIDIA A100-SXM4-80GB,Tesla T4": ["a100-80-sxm", "t4"],
    "My card, 64 GB,L4": ["my-card-64-gb", "l4"],
    "this machine": ["this-machine"],
}


@pytest.mark.parametrize("typed", PRINTED)
def test_a_gpu_is_named_as_it_is_printed_anywhere(
    line: CommandLine, model: Path, asked: FakeDryRun, typed: str
) -> None:
    line.desk.program.settings.change(gpus={"My card, 64 GB": OwnGpu(64, 900)})
    found = plan(line, str(model), "--gpu", typed)["models"][0]["plans"]
    assert [each["gpu"] for each in found] == PRINTED[typed]
    assert line.run("plan", str(model), "--gpu", "this machine,L4") == 2
    assert "leave it out of --gpu" in line.err


def test_a_model_is_named_as_lists_print_it(line: CommandLine, tmp_path: Path, asked: FakeDryRun) -> None:
    folder = tmp_path / "library"
    folder.mkdir()
    for name in ("Small-7B.F16.gguf", "Small-7B-F16.gguf", "Other.F16.gguf"):
        write_tiny_llama(folder / name)
    line.desk.program.settings.change(model_folders=(str(folder),))

    def paths(word: str) -> list[str]:
        return [Path(each["path"]).name for each in plan(line, word)["models"]]

    assert paths("other F16") == paths("Other.F16.gguf") == paths("OTHER") == ["Other.F16.gguf"]
    assert sorted(paths("small 7b")) == ["Small-7B-F16.gguf", "Small-7B.F16.gguf"]
    assert line.run("plan", "Oter") == 2


def test_the_help_names_every_field_of_the_json() -> None:
    kinds = (PlanReport, PlanAsked, ModelValue, PlanValue, DecodeValue, FirstTokenValue, DeviceValue, LeverValue)
    documented = (
        PLAN_EPILOG.replace(",", " ").replace("(", " ").replace(")", " ").replace(";", " ").replace(":", " ").split()
    )
    for kind in kinds:
        for field in msgspec.structs.fields(kind):
            assert field.name in documented, f"{kind.__name__}.{field.name}"
    assert max(map(len, PLAN_EPILOG.splitlines())) < 80
