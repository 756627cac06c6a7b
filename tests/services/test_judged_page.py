"""What of a repository's page is recommended, by what is known of it: a header, the catalogue, or sizes alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from app.core.catalogue import Catalogue, read_catalogue
from app.core.hub_model import HubFile
from app.core.hub_page import HubPage, HubQuantisation
from app.core.hub_search import HubRepository
from app.core.quality import read_quality
from app.core.words import Sentence
from app.planner.memory_plan import PlannedDevice
from app.services.judged_page import judge_page
from app.services.page_header import HeaderRead, PageHeader, readable_model
from app.services.recommended_files import FileChoice
from app.system.resources import find_resources
from tests.desk import Desk
from tests.ggufs import write_tiny_llama, write_tiny_mixture
from tests.ggufs_kinds import write_tiny_encoder
from tests.hub.loopback_hub import LoopbackHub, Request
from tests.hub.planned_hub import planned_hub
from tests.planner.planned_models import planned

GIB = 1 << 30
TABLE = read_quality(find_resources().quality_table())
CATALOGUE = read_catalogue(find_resources().catalogue())
FAILED = HeaderRead(problem=Sentence("Hub", "It does not answer."))
MIXTURE = planned("gpt-oss-20b")
PROCESSOR = (PlannedDevice("CPU", False, 64 * GIB, 64 * GIB),)


def page(*names: str, repository: str = "org/m", parameters: int = 20_914_757_184, **told: Any) -> HubPage:
    bits = {"Q8_0": 8.5, "Q5_K_M": 5.7, "Q4_K_M": 4.8}
    files = [
        HubQuantisation(name, (HubFile(f"m-{name}.gguf", round(parameters * bits[name] / 8)),), bits[name])
        for name in names
    ]
    about = HubRepository(repository, parameters=parameters, context=131_072)
    return HubPage(replace(about, **told), tuple(files))


def judged(page: HubPage, header: HeaderRead = FAILED, catalogue: Catalogue = CATALOGUE) -> FileChoice:
    return judge_page(page, header, PROCESSOR, catalogue, TABLE)


def test_a_mixture_is_judged_by_what_works_on_a_token_once_its_header_is_read() -> None:
    both = page("Q5_K_M", "Q4_K_M")
    by_size = judged(both, HeaderRead())
    assert by_size.recommended == "m-Q4_K_M.gguf" and by_size.note is not None, "it would be slow if it were dense"
    assert "its header is being read" in by_size.note.english() and by_size.problem is None
    read = judged(both, HeaderRead(MIXTURE))
    assert read.recommended == "m-Q5_K_M.gguf" and read.note is None
    assert read.files[0].read_bytes < both.quantisations[0].size / 3


def test_where_no_header_could_be_read_that_and_why_is_said_once() -> None:
    choice = judged(page("Q4_K_M"))
    assert choice.note is not None and "judged as a dense model" in choice.note.english()
    assert choice.problem == FAILED.problem
    old = replace(page("Q4_K_M"), problem=FAILED.problem)
    assert judged(old).problem is None, "the page says so anyway"
    assert judged(old).note == choice.note
    gated = judged(page("Q4_K_M", gate="auto"))
    assert (gated.note, gated.problem) == (choice.note, None), "its gate is on the page"


def test_of_a_model_of_the_catalogue_its_share_is_known_without_a_network() -> None:
    known = page("Q4_K_M", repository="unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF", parameters=30_532_000_000)
    choice = judged(known)
    assert choice.note is None and choice.files[0].read_bytes < known.quantisations[0].size / 5
    dense = judged(known, catalogue=Catalogue())
    assert dense.note is not None and dense.files[0].read_bytes == known.quantisations[0].size


def test_a_header_tells_nothing_of_another_model_of_the_same_repository() -> None:
    small = page("Q8_0", parameters=1_000_000_000).quantisations
    large = page("Q4_K_M")
    both = HubPage(replace(large.repository, parameters=None), (*small, *large.quantisations))
    choice = judged(both, HeaderRead(MIXTURE))
    assert [each.loss is None for each in choice.files] == [True, False], "of small models nothing was measured"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"architecture": "bert"}, "an embedding model"),
        ({"architecture": "qwen3", "tags": ("gguf", "sentence-similarity")}, "an embedding model"),
        ({"architecture": "bert", "tags": ("text-generation",)}, "an embedding model"),
        ({"architecture": "qwen3", "tags": ("text-ranking",)}, "a reranker"),
        ({"architecture": "llama", "tags": ("base_model:adapter:org/m",)}, "an adapter"),
    ],
)
def test_of_what_is_not_for_chat_nothing_is_recommended_and_it_is_said(told: dict[str, Any], said: str) -> None:
    choice = judged(page("Q8_0", parameters=8_000_000_000, **told))
    assert choice.recommended == "" and choice.reason is not None and said in choice.reason.english()
    assert [each.fit.verdict for each in choice.files] == ["unknown"] and choice.note is None


def test_projectors_alone_are_no_model() -> None:
    alone = replace(page("Q8_0").quantisations[0], is_projector=True)
    reason = judged(replace(page(), quantisations=(alone,))).reason
    assert reason is not None and "only projectors" in reason.english()
    nothing = judged(page()).reason
    assert nothing is not None and "no whole model" in nothing.english()


@pytest.mark.parametrize("tag", ["text-generation", "conversational"])
def test_a_chat_model_is_one_whatever_else_it_is_called(tag: str) -> None:
    assert judged(page("Q8_0", architecture="qwen3", tags=("feature-extraction", tag))).recommended
    assert judged(page("Q8_0", tags=("feature-extraction",)), HeaderRead(MIXTURE)).recommended, "its header says so"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LoopbackHub]:
    with planned_hub(tmp_path, monkeypatch) as made:
        made.files = {
            "mixture.gguf": write_tiny_mixture(tmp_path / "mixture.gguf").read_bytes(),
            "encoder.gguf": write_tiny_encoder(tmp_path / "encoder.gguf").read_bytes(),
            "plain.gguf": write_tiny_llama(tmp_path / "plain.gguf").read_bytes(),
        }
        yield made


@pytest.fixture
def header(hub: LoopbackHub, desk: Desk) -> PageHeader:
    return desk.program.planner.recommending._header


def of(hub: LoopbackHub, name: str) -> HubPage:
    file = HubFile(name, len(hub.files[name]))
    return HubPage(HubRepository(hub.repository, revision="main"), (HubQuantisation("F16", (file,)),))


def test_a_header_is_read_once_and_what_fails_is_tried_again(
    hub: LoopbackHub, header: PageHeader, desk: Desk
) -> None:
    hub.delivering = lambda request: request.send_text("", 404)
    header.want(of(hub, "mixture.gguf"))
    assert header.known.is_under_way
    desk.until(lambda: not header.known.is_under_way)
    assert header.known.problem is not None and not header.known.is_other
    hub.delivering = None
    header.again()
    desk.until(lambda: not header.known.is_under_way)
    model = header.known.model
    assert model is not None and (model.active_parameters or 0) < (model.parameters or 0)
    header.want(of(hub, "encoder.gguf"))
    desk.until(lambda: header.known.is_other)
    asked = len(hub.asked)
    header.again()
    header.want(of(hub, "mixture.gguf"))
    assert header.known.model == model and len(hub.asked) == asked, "both are known"


def test_who_goes_on_waits_for_no_header_of_the_page_before(hub: LoopbackHub, header: PageHeader, desk: Desk) -> None:
    held: list[Request] = []

    def hold(request: Request) -> None:
        if "mixture" not in request.path:
            request.send_part(hub.content_of(request))
            return
        held.append(request)
        request.rfile.read(1)  # until who asked goes away

    hub.delivering = hold
    header.want(of(hub, "mixture.gguf"))
    desk.until(lambda: held)
    watch = header._watch
    header.want(of(hub, "plain.gguf"))
    desk.until(lambda: not header.known.is_under_way)
    model = header.known.model
    assert model is not None and model.kind == "dense" and watch.is_cancelled
    header.rest()
    header.again()
    assert not header._job.is_busy


def test_the_header_that_is_read_is_of_the_fewest_and_smallest_files() -> None:
    small, large = HubFile("s.gguf", 10), HubFile("l.gguf", 20)
    parts = HubQuantisation("Q2_K", (HubFile("p-1.gguf", 1), HubFile("p-2.gguf", 1)))
    seeing = HubQuantisation("F16", (HubFile("mmproj.gguf", 1),), is_projector=True)
    missing = HubQuantisation("F16", (HubFile("m.gguf", 1),), missing_parts=1)
    all_of_them = (parts, HubQuantisation("Q8_0", (large,)), HubQuantisation("Q4_0", (small,)), seeing, missing)
    chosen = readable_model(HubPage(HubRepository("org/m"), all_of_them))
    assert chosen is not None and chosen.path == "s.gguf"
    assert readable_model(HubPage(HubRepository("org/m"), (seeing, missing))) is None
