from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.core.download import wanted_of
from app.core.errors import UserError
from app.core.hub_search import HubQuery
from app.core.hub_watch import HubWatch
from app.hub.reading import HubReader
from tests.hub.conftest import reader
from tests.hub.loopback_hub import Answer, LoopbackHub, Request

COMMIT, DIGEST = "0123456789" * 4, "ab" * 32
CARD = b"---\nlicense: mit\n---\n# Tiny\n<script>x</script>See [the paper](https://x.example/p)."


@pytest.fixture
def full(hub: LoopbackHub) -> LoopbackHub:
    hub.files = {"tiny-Q8_0.gguf": b"x" * 1063, "tiny-F16.gguf": b"x" * 2000, "mmproj-tiny-F16.gguf": b"x"}
    hub.pointers = {
        "tiny-Q8_0.gguf": {"lfs": {"oid": DIGEST, "size": 1063, "pointerSize": 130}, "oid": "1" * 40},
        "mmproj-tiny-F16.gguf": {"lfs": None, "oid": "2" * 40},
    }
    hub.info = {
        "id": hub.repository,
        "sha": COMMIT,
        "gated": "auto",
        "downloads": 5,
        "gguf": {"total": 1000, "architecture": "llama", "context_length": 4096},
        "cardData": {"license": "mit", "language": ["en"]},
    }
    hub.card = CARD
    return hub


def cached(hub: LoopbackHub, tmp_path: Path, **environment: str) -> HubReader:
    return HubReader({"HF_ENDPOINT": hub.endpoint, **environment}, 8, tmp_path)


def test_a_page_tells_the_repository_its_files_and_its_card(full: LoopbackHub) -> None:
    page = reader(full).describe(full.repository)
    told = page.repository
    assert (told.revision, told.gate, told.license, told.languages) == (COMMIT, "auto", "mit", ("en",))
    assert (told.architecture, told.parameters, told.context) == ("llama", 1000, 4096)
    assert [(each.name, each.size, each.is_projector) for each in page.quantisations] == [
        ("Q8_0", 1063, False),
        ("F16", 2000, False),
        ("F16", 1, True),
    ]
    assert [each.bits_per_weight for each in page.quantisations] == [8.504, 16.0, None]
    files = [each.files[0] for each in page.quantisations]
    assert [(file.sha256, file.etag) for file in files] == [(DIGEST, DIGEST), ("", ""), ("", "2" * 40)]
    assert (page.card.text, page.card.license) == ("# Tiny\nSee [the paper](https://x.example/p).", "mit")
    assert [link.address for link in page.card.links] == ["https://x.example/p"]
    assert (page.age_s, page.problem, page.card.problem) == (0, None, None)


def test_the_web_page_is_that_of_the_hub_which_answered(full: LoopbackHub) -> None:
    assert reader(full).describe(full.repository).web == f"{full.endpoint}/{full.repository}"


def test_everything_is_read_at_one_commit(full: LoopbackHub) -> None:
    reader(full).describe(full.repository)
    paths = [path.partition("?")[0] for _, path, _ in full.asked]
    assert paths == [
        f"/api/models/{full.repository}",
        f"/api/models/{full.repository}/tree/{COMMIT}",
        f"/{full.repository}/resolve/{COMMIT}/README.md",
    ]


@pytest.mark.parametrize("sha", ["../../x", "main", "", 3])
def test_a_commit_that_is_none_is_not_asked_for(full: LoopbackHub, sha: object) -> None:
    full.describing = lambda request: request.send_text(
        json.dumps({**full.info, "sha": sha}), 200, "application/json"
    )
    full.info["sha"] = "main"
    if sha == 3:
        with pytest.raises(UserError, match="cannot be read"):
            reader(full).describe(full.repository)
    else:
        assert reader(full).describe(full.repository).repository.revision == "main"


@pytest.mark.parametrize(
    ("card", "answer", "says"),
    [
        (None, None, ""),
        (b"", None, ""),
        (None, 403, "permission"),
        (None, 503, "trouble of its own"),
        (None, 429, "fewer requests"),
        (None, 200, "sign-in"),
    ],
)
def test_a_card_that_cannot_be_read_is_told_beside_the_files(
    full: LoopbackHub, card: bytes | None, answer: int | None, says: str
) -> None:
    full.card = card
    if answer is not None:
        full.resolving = lambda request: request.send_text("<html>", answer, "text/html")
    page = reader(full).describe(full.repository)
    assert len(page.quantisations) == 3 and page.card.text == "" and page.card.license == "mit"
    assert (page.card.problem.english() if page.card.problem is not None else "").count(says) and (
        (page.card.problem is None) == (says == "")
    )


def test_a_card_in_no_known_characters_is_read_as_far_as_it_can_be(full: LoopbackHub) -> None:
    full.card = b"caf\xe9 ok"
    assert reader(full).describe(full.repository).card.text == "caf ok"


@pytest.mark.parametrize("moment", ["describing", "listing"])
@pytest.mark.parametrize(
    ("status", "kind", "text", "says"),
    [
        (401, "text/plain", "", "permission"),
        (404, "text/plain", "", "no such model"),
        (429, "text/plain", "", "fewer requests"),
        (500, "text/plain", "", "trouble of its own"),
        (200, "text/html", "<html>", "sign-in"),
        (200, "application/json", "{", "cannot be read"),
        (200, "application/json", "3", "cannot be read"),
        (200, "application/json", '{"id":"a/b:c"}', "cannot be read"),
    ],
)
def test_each_failure_at_each_moment_is_told_with_the_page_before(
    full: LoopbackHub, tmp_path: Path, moment: str, status: int, kind: str, text: str, says: str
) -> None:
    asking = cached(full, tmp_path)
    fresh = asking.describe(full.repository)
    answer: Answer = lambda request: request.send_text(text, status, kind)  # noqa: E731
    setattr(full, moment, answer)
    before = asking.describe(full.repository)
    assert before.quantisations == fresh.quantisations and before.card == fresh.card and before.age_s > 0
    assert before.problem is not None and says in before.problem.english()
    with pytest.raises(UserError) as caught:
        cached(full, tmp_path / "empty").describe(full.repository)
    assert says in str(caught.value)


def test_offline_a_page_that_was_read_is_there_and_another_is_not(full: LoopbackHub, tmp_path: Path) -> None:
    cached(full, tmp_path).describe(full.repository)
    asked = len(full.asked)
    offline = cached(full, tmp_path, TOKENLIGHT_OFFLINE="1")
    before = offline.describe(full.repository)
    assert before.card.text.startswith("# Tiny") and before.problem is not None
    with pytest.raises(UserError, match="offline"):
        offline.describe("org/other")
    assert len(full.asked) == asked


def test_a_page_is_downloaded_at_the_commit_that_it_was_read_at(full: LoopbackHub) -> None:
    page = reader(full).describe(full.repository)
    wanted = wanted_of(page.model(page.quantisations[0]))
    assert (wanted.repository, wanted.revision, wanted.files[0].sha256) == (full.repository, COMMIT, DIGEST)


def test_what_waits_can_be_ended(full: LoopbackHub, tmp_path: Path) -> None:
    watch = HubWatch()

    def cancel(_: Request) -> None:
        watch.cancel()
        full.ended.wait(10)

    full.describing = full.searching = cancel
    with pytest.raises(UserError, match="cancelled"):
        cached(full, tmp_path).describe(full.repository, watch)
    watch = HubWatch()
    with pytest.raises(UserError, match="cancelled"):
        cached(full, tmp_path).search(HubQuery("x"), watch)
    full.ended.set()


def test_what_was_ended_before_it_began_asks_nothing(full: LoopbackHub, tmp_path: Path) -> None:
    watch = HubWatch()
    watch.cancel()
    with pytest.raises(UserError, match="cancelled"):
        cached(full, tmp_path).search(HubQuery("x"), watch)
    assert full.asked == []


@pytest.mark.parametrize(
    "broken", [{"size": "much"}, {"lfs": "none"}, {"lfs": {"size": []}}, {"path": 3}, {"type": None}]
)
def test_a_file_that_is_told_in_a_broken_way_is_counted_and_the_others_are_shown(
    full: LoopbackHub, broken: dict[str, object]
) -> None:
    before = reader(full).describe(full.repository)
    full.pointers["broken-Q4_0.gguf"] = broken
    full.files["broken-Q4_0.gguf"] = b"x"
    page = reader(full).describe(full.repository)
    assert (page.quantisations, page.unread, before.unread) == (before.quantisations, 1, 0)
