from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from app.core.errors import ExitCode, UserError
from app.core.hub_search import HubQuery
from app.hub import search_cache
from app.hub.reading import HubReader
from tests.hub.loopback_hub import Answer, LoopbackHub, Request

FULL: dict[str, object] = {
    "_id": "1",
    "id": "org/tiny-GGUF",
    "author": "org",
    "sha": "abc",
    "downloads": 1200,
    "likes": 7,
    "lastModified": "2026-03-04T05:06:07.000Z",
    "gated": "manual",
    "tags": ["gguf", "license:mit", "en"],
    "gguf": {"total": 1_100_000_000, "architecture": "llama", "context_length": 4096, "more": {}},
}
QUERY = HubQuery("tiny & fast")


def reader(hub: LoopbackHub, cache: Path | None = None, deadline_s: float = 8, **environment: str) -> HubReader:
    return HubReader({"HF_ENDPOINT": hub.endpoint, **environment}, deadline_s, cache)


def says_nothing(hub: LoopbackHub) -> Answer:
    def wait(_: Request) -> None:
        hub.ended.wait(10)

    return wait


def answers(status: int = 200, text: str = "", kind: str = "application/json", **headers: object) -> Answer:
    return lambda request: request.send_text(text, status, kind, **headers)


def cut_off(request: Request) -> None:
    request.begin(200, {"Content-Type": "application/json", "Content-Length": 1000})
    request.send(b'[{"id":')


def test_what_the_hub_tells_becomes_a_repository(hub: LoopbackHub) -> None:
    hub.found = [FULL, {"id": "org/plain-GGUF"}]
    full, plain = reader(hub).search(QUERY).repositories
    assert (full.id, full.author, full.revision, full.downloads, full.likes) == (
        "org/tiny-GGUF",
        "org",
        "abc",
        1200,
        7,
    )
    assert (full.license, full.gate, full.is_gated, full.updated[:10]) == ("mit", "manual", True, "2026-03-04")
    assert (full.architecture, full.parameters, full.context) == ("llama", 1_100_000_000, 4096)
    assert (plain.downloads, plain.is_gated, plain.parameters, plain.license) == (None, None, None, "")


@pytest.mark.parametrize(
    ("told", "attribute", "value"),
    [
        ({"lastModified": "yesterday"}, "updated", ""),
        ({"lastModified": "20260304T050607Z"}, "updated", ""),
        ({"lastModified": "2026-13-04T05:06:07.000Z"}, "updated", ""),
        ({"lastModified": "2026-03-04T05:06:07Z"}, "updated", "2026-03-04T05:06:07+00:00"),
        ({"cardData": {"license": "other", "license_name": "gemma"}}, "license", "gemma"),
        ({"cardData": {"license": ["mit", "apache-2.0"]}}, "license", "mit, apache-2.0"),
        ({"cardData": {"license": {"a": 1}}}, "license", "mit"),
        ({"cardData": "none"}, "license", "mit"),
        ({"cardData": {"language": "de"}}, "languages", ("de",)),
        ({"cardData": {"language": ["de", "en"]}}, "languages", ("de", "en")),
        ({"gated": "auto"}, "gate", "auto"),
        ({"gated": "somehow"}, "gate", "manual"),
        ({"gated": False}, "gate", ""),
        ({"gguf": {"total": 0}}, "parameters", None),
        ({"gguf": {"total": 10**30}}, "parameters", None),
        ({"gguf": {"context_length": 10**30}}, "context", None),
        ({"tags": ["x" * 5000, "gguf"]}, "tags", ("gguf",)),
        ({"siblings": 3, "config": [1], "inferenceProviderMapping": "x"}, "license", "mit"),
    ],
)
def test_each_fact_holds_or_is_not_told(
    hub: LoopbackHub, told: dict[str, object], attribute: str, value: object
) -> None:
    hub.found = [{**FULL, **told}]
    (found,) = reader(hub).search(QUERY).repositories
    assert getattr(found, attribute) == value


def test_one_goes_on_where_a_search_ended(hub: LoopbackHub) -> None:
    hub.found = [{**FULL, "id": f"org/number-{number}"} for number in range(5)]
    seen, cursor = [], ""
    for _ in range(3):
        listing = reader(hub).search(HubQuery("number", limit=2, cursor=cursor))
        seen.append([each.id[-1] for each in listing.repositories])
        cursor = listing.next
    assert (seen, cursor) == ([["0", "1"], ["2", "3"], ["4"]], "")
    assert len(hub.asked) == 3


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (HubQuery("x", architecture="Qwen3", limit=1), ["org/n-0"]),
        (HubQuery("x", most_parameters=2_000_000_000), ["org/n-0", "org/n-1"]),
        (HubQuery("x", least_parameters=2_000_000_000), ["org/n-2"]),
        (HubQuery("x", least_parameters=500_000_000, most_parameters=1_000_000_000), ["org/n-1"]),
    ],
)
def test_filters_that_the_hub_does_not_know_look_further_and_leave_out_what_is_not_told(
    hub: LoopbackHub, query: HubQuery, expected: list[str]
) -> None:
    facts = [("qwen3", 400_000_000), ("llama", 1_000_000_000), ("llama", 8_000_000_000), ("", None)]
    hub.found = [
        {"id": f"org/n-{at}", "gguf": {"total": total, "architecture": kind}}
        for at, (kind, total) in enumerate(facts)
    ]
    hub.page_entries = 1
    assert [each.id for each in reader(hub).search(query).repositories] == expected


def test_a_filter_that_finds_nothing_ends_and_can_go_on(hub: LoopbackHub) -> None:
    hub.found, hub.page_entries = [FULL] * 9, 1
    listing = reader(hub).search(HubQuery("x", architecture="none"))
    assert (listing.repositories, listing.next, len(hub.asked)) == ((), "5", 5)


def test_the_hub_is_asked_for_what_was_wanted(hub: LoopbackHub) -> None:
    reader(hub, HF_TOKEN="hf_secret").search(HubQuery(QUERY.text, "date", "mit", "de", 5))
    ((_, path, headers),) = hub.asked
    asked = parse_qs(path.partition("?")[2])
    assert asked["search"] == ["tiny & fast"] and asked["filter"] == ["gguf", "license:mit", "de"]
    assert asked["sort"] == ["lastModified"] and asked["limit"] == ["5"]
    assert "gguf" in asked["expand"] and headers["authorization"] == "Bearer hf_secret"


def test_the_token_stays_with_the_hub_where_a_search_is_sent_on(hub: LoopbackHub) -> None:
    hub.searching = answers(302, Location=f"{hub.store}/elsewhere")
    hub.delivering = answers(text="[]")
    assert reader(hub, HF_TOKEN="hf_secret").search(QUERY).repositories == ()
    assert [(where, "authorization" in headers) for where, _, headers in hub.asked] == [
        ("hub", True),
        ("store", False),
    ]


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"id": 3},
        {"id": "../../etc"},
        {"id": "org/x:file"},
        {"id": "org/x\x1b[2J"},
        {**FULL, "downloads": "many"},
        {**FULL, "gguf": 3},
    ],
)
def test_an_entry_that_does_not_hold_is_left_out(hub: LoopbackHub, broken: dict[str, object]) -> None:
    hub.found = [broken, FULL]
    assert [found.id for found in reader(hub).search(QUERY).repositories] == ["org/tiny-GGUF"]


def test_no_more_than_asked_for_is_taken_and_no_number_is_below_nothing(hub: LoopbackHub) -> None:
    hub.found = [{**FULL, "downloads": -1}, FULL, FULL]
    found = reader(hub).search(HubQuery("x", limit=2)).repositories
    assert [each.downloads for each in found] == [None, 1200]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (answers(401), "permission"),
        (answers(403), "permission"),
        (answers(404), "no such model"),
        (answers(429), "fewer requests"),
        (answers(503), "trouble of its own"),
        (answers(text="<html>sign in", kind="text/html"), "sign-in"),
        (answers(text="{"), "cannot be read"),
        (answers(text='{"error":"no"}'), "cannot be read"),
        (answers(text="[" * 20_000), "cannot be read"),
        (answers(text='[{"name":"other"}]'), "cannot be read"),
        (answers(302, Location="ftp://127.0.0.1/x"), "not safe"),
        (cut_off, "was lost"),
    ],
)
def test_every_failure_is_a_sentence_and_what_was_found_before_is_shown_with_it(
    hub: LoopbackHub, tmp_path: Path, answer: Answer, says: str
) -> None:
    hub.found = [FULL]
    asking = reader(hub, tmp_path)
    fresh = asking.search(QUERY)
    assert fresh.age_s == 0 and fresh.problem is None
    hub.searching = answer
    before = asking.search(QUERY)
    assert before.repositories == fresh.repositories and before.age_s > 0
    assert before.problem is not None and says in before.problem.english()
    with pytest.raises(UserError) as caught:
        asking.search(HubQuery("another question"))
    assert says in caught.value.sentence.english()


def test_a_server_that_says_nothing_is_given_up(hub: LoopbackHub) -> None:
    hub.searching = says_nothing(hub)
    with pytest.raises(UserError, match="too slow: check the internet connection"):
        reader(hub, deadline_s=0.2).search(QUERY)
    hub.ended.set()


@pytest.mark.parametrize("variable", ["TOKENLIGHT_OFFLINE", "HF_HUB_OFFLINE"])
def test_offline_no_connection_is_made_and_the_age_is_told(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    hub.found = [FULL]
    reader(hub, tmp_path).search(QUERY)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 7200)

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was made")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    offline = HubReader({"HF_ENDPOINT": hub.endpoint, variable: "1"}, cache=tmp_path)
    before = offline.search(QUERY)
    assert before.repositories[0].id == "org/tiny-GGUF" and 7100 < before.age_s < 7300
    assert before.problem is not None and variable in before.problem.english()
    with pytest.raises(UserError) as caught:
        offline.search(HubQuery("new"))
    assert variable in caught.value.sentence.english()


def test_a_mistake_in_the_address_is_not_hidden_by_what_was_found_before(hub: LoopbackHub, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        HubReader({"HF_ENDPOINT": "no address"}, cache=tmp_path).search(QUERY)
    assert caught.value.exit_code == ExitCode.WRONG_USE


def test_what_one_account_found_another_does_not_see_and_no_token_is_written(
    hub: LoopbackHub, tmp_path: Path
) -> None:
    hub.found = [FULL]
    reader(hub, tmp_path, HF_TOKEN="hf_secret").search(QUERY)
    hub.searching = answers(503)
    assert reader(hub, tmp_path, HF_TOKEN="hf_secret").search(QUERY).repositories
    with pytest.raises(UserError):
        reader(hub, tmp_path).search(QUERY)
    for kept in tmp_path.iterdir():
        assert b"hf_secret" not in kept.read_bytes() and "hf_secret" not in kept.name


def kept_at(at: float, answer: bytes = b'{"repositories":[]}') -> bytes:
    return b'{"at":%s,"answer":%s}' % (json.dumps(at).encode(), answer)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[" * 200_000,
        kept_at(time.time(), b'{"repositories":3}'),
        kept_at(time.time(), b"[" * 100_000 + b"]" * 100_000),
        kept_at(time.time(), b'{"repositories":[' + b'{"id":' * 100_000 + b"1" + b"}" * 100_000 + b"]}"),
        *map(kept_at, (1e308, -1e300, 0.0, time.time() + 10**6, -5.0)),
    ],
    ids=range(11),
)
def test_a_kept_search_that_is_damaged_is_not_there(
    hub: LoopbackHub, tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    asking = reader(hub, tmp_path)
    asking.search(QUERY)
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(content)
    hub.searching = answers(503)
    with pytest.raises(UserError, match="trouble of its own"):
        asking.search(QUERY)
    assert "cannot be read" in caplog.text


@pytest.mark.parametrize(
    "wrong",
    [
        {"quantisations": [{"name": "Q4_0", "files": []}]},
        {"quantisations": [{"name": "Q4_0", "files": [{"path": "a.gguf", "size": -5}]}]},
        {"card": {"text": "", "problem": {"context": "Hub", "template": "{host}"}}},
        {"card": {"text": "", "problem": {"context": "Hub", "template": "{}"}}},
        {"card": {"text": "", "problem": {"context": "Hub", "template": "{a.b}", "values": {"a": 1}}}},
        {"card": {"text": "", "problem": {"context": "Hub", "template": "{a"}}},
    ],
)
def test_a_kept_page_that_says_what_cannot_be_is_not_there(
    hub: LoopbackHub, tmp_path: Path, wrong: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    asking = reader(hub, tmp_path)
    asking.describe(hub.repository)
    (kept,) = tmp_path.iterdir()
    told = json.loads(kept.read_bytes())
    told["answer"].update(wrong)
    kept.write_bytes(json.dumps(told).encode())
    hub.describing = answers(503)
    with pytest.raises(UserError, match="trouble of its own"):
        asking.describe(hub.repository)
    assert "cannot be read" in caplog.text


def test_a_folder_in_the_place_of_a_kept_search_hides_nothing(
    hub: LoopbackHub, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hub.found = [FULL]
    asking = reader(hub, tmp_path)
    asking.search(QUERY)
    (kept,) = tmp_path.iterdir()
    kept.unlink()
    kept.mkdir()
    assert len(asking.search(QUERY).repositories) == 1
    hub.searching = answers(503)
    with pytest.raises(UserError, match="trouble of its own"):
        asking.search(QUERY)
    assert "cannot be read" in caplog.text and "not kept" in caplog.text


def test_where_nothing_can_be_kept_a_search_still_finds(
    hub: LoopbackHub, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_bytes(b"")
    hub.found = [FULL]
    assert len(reader(hub, in_the_way).search(QUERY).repositories) == 1
    assert "not kept" in caplog.text


def test_the_oldest_searches_go(hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_cache, "MOST_KEPT", 2)
    reader(hub, tmp_path).search(HubQuery("first"))
    (first,) = tmp_path.iterdir()
    os.utime(first, (1, 1))
    for word in ("second", "third"):
        reader(hub, tmp_path).search(HubQuery(word))
    assert len(list(tmp_path.iterdir())) == 2 and not first.exists()
