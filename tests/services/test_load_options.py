from __future__ import annotations

from pathlib import Path

import pytest

from app.core.devices import Device
from app.core.job_events import ModelChecked
from app.core.metrics import DeviceMemory
from app.core.model import FoundModel, LoadOptions
from app.services.load_options import LoadOptionsDraft
from app.system.memory import main_memory
from app.system.settings_file import ModelSettings
from tests.desk import Desk

GIB = 1 << 30
HUGE = 1 << 50
GPU = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 * GIB, 20 * GIB)
CPU = Device("CPU", "a processor", "cpu", "CPU", 16 * GIB, None)


@pytest.fixture
def draft(desk: Desk, model: Path) -> LoadOptionsDraft:
    """Return the options of a model whose file was looked at and whose memory was asked for."""
    begun = desk.program.load_options
    begun.begin(model)
    desk.until(lambda: desk.dry_run.asked)
    return begun


def answer(desk: Desk, *memory: DeviceMemory, devices: tuple[Device, ...] = (CPU,)) -> None:
    desk.dry_run.answer(*memory, devices=devices)
    desk.settle()


def takes(total: int) -> DeviceMemory:
    return DeviceMemory("CPU", total, 0, 0)


def test_choosing_begins_with_what_is_remembered_of_the_model(desk: Desk, model: Path) -> None:
    desk.load(model)
    loaded = desk.program.session.ref
    assert loaded is not None
    desk.program.settings.remember_model(loaded.identity, ModelSettings(options=LoadOptions(context=1024, threads=1)))
    asked = len(desk.dry_run.asked)
    desk.program.load_options.begin(model)
    desk.until(lambda: len(desk.dry_run.asked) > asked)
    assert desk.program.load_options.options == LoadOptions(context=1024, threads=1)
    assert desk.dry_run.asked[-1].options == LoadOptions(context=1024, threads=1)
    desk.program.load_options.reset()
    assert desk.program.load_options.options == LoadOptions()


def test_what_a_dry_run_says_is_told_by_device(desk: Desk, draft: LoadOptionsDraft) -> None:
    assert draft.file is not None and draft.file.name == "tiny"
    assert not draft.is_current
    answer(desk, takes(3 * GIB), DeviceMemory("CUDA0", 2 * GIB, GIB, None, complete=False), devices=(GPU, CPU))
    assert draft.is_current
    gpu, main = draft.needs
    assert (gpu.name, gpu.free, gpu.fits) == ("NVIDIA L4", 20 * GIB, None)
    assert main.use.total == 3 * GIB
    assert main.free is not None
    assert draft.lack is None


def test_the_last_question_wins(desk: Desk, draft: LoadOptionsDraft) -> None:
    for context in (512, 1024, 2048):
        draft.change(context=context)
    assert len(desk.dry_run.asked) == 1
    answer(desk, takes(GIB))
    assert not draft.is_current
    assert [each.options.context for each in desk.dry_run.asked] == [None, 2048]
    answer(desk, takes(2 * GIB))
    assert draft.is_current
    assert draft.needs[0].use.total == 2 * GIB


def test_what_was_asked_for_another_model_is_ignored(desk: Desk, draft: LoadOptionsDraft, other_model: Path) -> None:
    late = desk.dry_run.asked[-1]
    draft.begin(other_model)
    desk.until(lambda: len(desk.dry_run.asked) == 2)
    newest = desk.dry_run.asked.pop()
    answer(desk, takes(HUGE))
    assert (draft.needs, draft.lack) == ((), None)
    desk.dry_run.asked[:] = [late, newest]
    answer(desk, takes(GIB))
    assert draft.is_current


def test_a_load_takes_every_option_as_it_was_chosen(desk: Desk, draft: LoadOptionsDraft, model: Path) -> None:
    draft.change(context=1000, kv_type_k="q8_0", micro_batch=9999, mlock=True)
    assert draft.options.micro_batch == draft.options.batch
    answer(desk, takes(GIB))
    draft.load()
    desk.until(lambda: desk.engine.sent)
    loaded = desk.engine.load
    assert loaded.path == str(model)
    assert (loaded.options.context, loaded.options.kv_type_k, loaded.options.mlock) == (1000, "q8_0", True)


def test_a_default_that_is_chosen_again_replaces_what_is_remembered(desk: Desk, model: Path) -> None:
    desk.load(model)
    assert desk.program.session.ref is not None
    desk.program.settings.remember_model(
        desk.program.session.ref.identity, ModelSettings(options=LoadOptions(context=1024, mmap=False))
    )
    asked = len(desk.dry_run.asked)
    desk.program.load_options.begin(model)
    desk.until(lambda: len(desk.dry_run.asked) > asked)
    desk.program.load_options.change(context=None)
    sent = len(desk.engine.sent)
    desk.program.load_options.load(anyway=True)
    desk.until(lambda: len(desk.engine.sent) > sent)
    assert (desk.engine.load.options.context, desk.engine.load.options.mmap) == (None, False)


def test_where_memory_lacks_the_largest_context_that_fits_is_looked_for(desk: Desk, draft: LoadOptionsDraft) -> None:
    free = main_memory().available
    draft.change(context=100_000)
    answer(desk, takes(GIB))

    def size(context: int) -> int:
        return free * context // 50_000

    while (open_question := desk.dry_run.asked[-1]).options.context is not None:
        before = len(desk.dry_run.asked)
        answer(desk, takes(size(open_question.options.context or 0)))
        if len(desk.dry_run.asked) == before:
            break
    assert draft.lack is not None
    assert draft.options.context == 100_000
    # what is free moves a little from one look to the next
    assert draft.largest_context is not None
    assert 40_000 < draft.largest_context < 60_000
    assert draft.largest_context % 256 == 0
    draft.change(context=draft.largest_context)
    assert draft.largest_context is None


def test_somebody_who_goes_on_choosing_ends_the_search(desk: Desk, draft: LoadOptionsDraft) -> None:
    answer(desk, takes(HUGE))
    assert desk.dry_run.asked[-1].options.context == 256
    draft.change(context=512)
    answer(desk, takes(1))
    assert desk.dry_run.asked[-1].options.context == 512
    answer(desk, takes(1))
    assert (draft.lack, draft.largest_context, draft.is_current) == (None, None, True)


def test_a_dry_run_that_fails_says_why_and_loading_stays_possible(desk: Desk, draft: LoadOptionsDraft) -> None:
    desk.dry_run.fail(text="Nobody knows.")
    desk.settle()
    assert draft.problem is not None and draft.problem.english() == "Nobody knows."
    assert (draft.needs, draft.lack, draft.is_current) == ((), None, True)


def test_a_file_that_is_no_model_is_said_and_not_measured(desk: Desk, tmp_path: Path) -> None:
    page = tmp_path / "page.gguf"
    page.write_text("<html>")
    draft = desk.program.load_options
    draft.begin(page)
    desk.until(lambda: draft.problem)
    draft.change(context=512)
    assert desk.dry_run.asked == []


def test_nothing_is_asked_after_the_end(desk: Desk, draft: LoadOptionsDraft) -> None:
    draft.end()
    answer(desk, takes(HUGE))
    assert (draft.needs, draft.path, len(desk.dry_run.asked)) == ((), None, 1)
    draft.load()
    assert desk.engine.sent == []


def test_a_file_that_was_looked_at_for_somebody_else_is_ignored(desk: Desk, draft: LoadOptionsDraft) -> None:
    desk.program.dispatch(ModelChecked(-1, FoundModel("/other.gguf", 1, "other"), None))
    assert draft.file is not None and draft.file.name == "tiny"
