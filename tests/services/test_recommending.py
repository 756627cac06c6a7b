"""The model of the catalogue that suits a machine, worked out beside the window and without a network."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from app.core.catalogue import Catalogue, read_catalogue
from app.core.commands import ListDevices
from app.core.devices import Device, LibraryFacts
from app.core.events import DevicesListed
from app.core.hub_model import HubFile
from app.core.hub_page import HubPage, HubQuantisation
from app.core.hub_search import HubRepository
from app.planner.memory_plan import PlannedDevice
from app.planner.suited import READ_BY_PROCESSOR
from app.services.recommending import ModelChoice, choose_model
from app.system.resources import find_resources
from tests.desk import Desk

GIB = 1 << 30
CATALOGUE = read_catalogue(find_resources().catalogue())
LIBRARY = LibraryFacts("0", "", False, (), ())
CPU = Device("CPU", "a processor", "cpu", "CPU", 16 * GIB, None)
L4 = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 * GIB, 23 * GIB)


def machine(main: float, gpu: float = 0, *, shared: bool = False, free: float = 1.0) -> tuple[PlannedDevice, ...]:
    """Return a machine with so many GiB, of which the share `free` is free now."""
    cpu = PlannedDevice("CPU", False, round(main * GIB), round(free * main * GIB))
    return (PlannedDevice("GPU0", True, round(gpu * GIB), round(free * gpu * GIB), shared), cpu) if gpu else (cpu,)


def why(choice: ModelChoice) -> str:
    assert choice.reason is not None
    return choice.reason.english()


@pytest.mark.parametrize(
    ("devices", "name", "said"),
    [
        (machine(2), "SmolLM2 135M", "has memory for."),
        (machine(4), "SmolLM2 1.7B", "has memory for."),
        (machine(8), "Qwen3 4B Instruct 2507", "has memory for."),
        (machine(16), "Qwen3 4B Instruct 2507", "as fast as you read"),
        (machine(32), "Qwen3 30B-A3B Instruct 2507", "as fast as you read"),
        (machine(64), "Qwen3 30B-A3B Instruct 2507", "as fast as you read"),
        (machine(32, 8), "Qwen3 8B", "has memory for."),
        (machine(32, 12), "Qwen3 14B", "has memory for."),
        (machine(64, 24), "Qwen3 32B", "has memory for."),
        (machine(128, 80), "Llama 3.3 70B", "has memory for."),
        (machine(32, 32, shared=True), "Qwen3 30B-A3B Instruct 2507", "as fast as you read"),
    ],
)
def test_each_machine_has_its_model(devices: tuple[PlannedDevice, ...], name: str, said: str) -> None:
    choice = choose_model(CATALOGUE, devices)
    assert choice.recommended is not None
    assert (choice.recommended.name, said in why(choice)) == (name, True), why(choice)
    judged = next(each for each in choice.models if each.model is choice.recommended)
    assert judged.fit.verdict == "fits" and judged.model.kind == "chat"
    if len(devices) == 1:
        assert judged.model.read_bytes <= READ_BY_PROCESSOR


MACHINES = [
    machine(4),
    machine(8),
    machine(16),
    machine(32),
    machine(64),
    machine(32, 8),
    machine(32, 12),
    machine(64, 24),
]


@pytest.mark.parametrize("devices", MACHINES, ids=range(len(MACHINES)))
@pytest.mark.parametrize("share", [0.9, 0.6, 0.3, 0.05])
def test_what_is_free_at_the_moment_changes_no_offer(devices: tuple[PlannedDevice, ...], share: float) -> None:
    full = choose_model(CATALOGUE, devices)
    less = tuple(replace(device, free=round((device.free or 0) * share)) for device in devices)
    now = choose_model(CATALOGUE, less)
    offered = (full.recommended, full.reason, full.starter, full.starter_reason)
    assert offered == (now.recommended, now.reason, now.starter, now.starter_reason) and full.recommended is not None
    judged = next(each for each in now.models if each.model == now.recommended)
    is_said = judged.fit.state == "busy" and "close some" in judged.fit.reason.english()
    assert judged.fit.verdict == "fits" or is_said, "what cannot be loaded now says so"


@pytest.mark.parametrize("devices", MACHINES, ids=range(len(MACHINES)))
def test_what_is_recommended_leaves_room_for_a_desktop(devices: tuple[PlannedDevice, ...]) -> None:
    choice = choose_model(CATALOGUE, devices)
    assert choice.recommended is not None
    most = max(device.total or 0 for device in devices if device.is_gpu == (len(devices) > 1))
    assert choice.recommended.size < 0.85 * most
    assert {each.fit.state for each in choice.models if each.model == choice.recommended} == {""}, "not even tight"


def test_beside_a_large_one_a_small_one_is_offered_to_begin_with() -> None:
    choice = choose_model(CATALOGUE, machine(16))
    assert choice.starter is not None and choice.starter.name == "SmolLM2 360M"
    assert choice.starter_reason is not None and "only 369 MiB" in choice.starter_reason.english()
    small = choose_model(CATALOGUE, machine(2))
    assert small.recommended is not None and small.starter is None, "a small one is here as soon"


def test_where_little_is_spare_it_is_called_tight() -> None:
    taken = next(each for each in choose_model(CATALOGUE, machine(32)).models if each.model.name == "Qwen3 8B").fit
    assert taken.state == ""
    for free in range(100, 0, -1):
        fit = next(
            each.fit
            for each in choose_model(CATALOGUE, machine(32, free=free / 100)).models
            if each.model.name == "Qwen3 8B"
        )
        if fit.state:
            break
    assert (fit.verdict, fit.state) == ("fits", "tight") and "tight" in fit.reason.english()


def test_where_nothing_fits_that_is_said() -> None:
    choice = choose_model(CATALOGUE, machine(0.1))
    assert choice.recommended is None and "No model that Tokenlight knows fits" in why(choice)
    assert len(choice.models) == len(CATALOGUE.models)


def test_where_none_fits_whole_the_smallest_that_fits_in_part_is_taken() -> None:
    large = Catalogue(CATALOGUE.models[-1:])
    choice = choose_model(large, machine(64, 24))
    assert choice.recommended is not None and "layers are on the GPU" in why(choice)


def test_a_machine_that_is_not_known_yet_has_none() -> None:
    choice = choose_model(CATALOGUE, ())
    assert choice.recommended is None and "being found out" in why(choice)


def test_a_damaged_catalogue_says_so() -> None:
    choice = choose_model(read_catalogue("?"), machine(64))
    assert choice.models == () and "damaged" in why(choice)


def wanted(desk: Desk) -> int:
    """Want the recommendation, and return the request that asks which devices there are."""
    desk.program.planner.recommending.want_models(desk)
    (asked,) = desk.engine.all(ListDevices)
    return asked.request


def test_beside_no_model_the_engine_is_asked_which_devices_there_are(desk: Desk) -> None:
    recommending = desk.program.planner.recommending
    heard: list[bool] = []
    recommending.changed.connect(lambda: heard.append(True))
    request = wanted(desk)
    assert not recommending.is_listed
    desk.engine.say(DevicesListed(request, LIBRARY, (CPU, L4)))
    desk.until(lambda: recommending.models.recommended)
    assert heard and recommending.is_listed
    assert recommending.models.recommended.name == "Qwen3 32B"


def test_an_engine_that_cannot_tell_leaves_main_memory(desk: Desk) -> None:
    recommending = desk.program.planner.recommending
    request = wanted(desk)
    desk.engine.fail("engine", request=request)
    desk.until(lambda: recommending.models.models and recommending.models.models[0].fit.verdict != "unknown")
    assert not any(device.is_gpu for device in desk.program.planner.fits.devices)


def test_of_a_page_one_file_is_recommended_and_the_next_page_begins_anew(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKENLIGHT_OFFLINE", "1")
    recommending = desk.program.planner.recommending
    file = HubFile("m-Q4_K_M.gguf", 4 * 10**6)
    page = HubPage(HubRepository("org/m", parameters=8 * 10**6), (HubQuantisation("Q4_K_M", (file,), 4.0),))
    recommending.want_files(page)
    (asked,) = desk.engine.all(ListDevices)
    desk.engine.say(DevicesListed(asked.request, LIBRARY, (CPU,)))
    desk.until(lambda: recommending.files.recommended)
    assert recommending.files.recommended == file.path
    recommending.want_files(HubPage(HubRepository("org/other"), ()))
    assert recommending.files.files == ()
    desk.until(lambda: recommending.files.reason)
    assert len(desk.engine.all(ListDevices)) == 1


def test_who_looks_no_more_ends_it_for_nobody_else(desk: Desk) -> None:
    recommending = desk.program.planner.recommending
    for who in ("the chat", "the page"):
        recommending.want_models(who)
    recommending.rest_models("the chat")
    recommending.rest_models("the chat")
    assert recommending.is_followed
    recommending.rest_models("the page")
    assert not recommending.is_followed
