from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import psutil
import pytest

from app.core.errors import ExitCode, UserError
from app.core.events import Event
from app.core.job_events import Summoned
from app.system import instance as module
from app.system.instance import ADDRESS_NAME, LOCK_NAME, Instance, claim, summon

GUARD_S = 60.0
HOLD = """
import sys, threading
from pathlib import Path
from app.system.instance import Instance
assert Instance(Path(sys.argv[1])).acquire()
print("held", flush=True)
threading.Event().wait()
"""
on_unix = pytest.mark.skipif(os.name == "nt", reason="sockets and modes as Unix has them")


class Told:
    """Keeps what was posted, and waits for it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._one = threading.Event()

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        self._one.set()

    def wait(self) -> list[Event]:
        """Return what was posted once there is something."""
        assert self._one.wait(GUARD_S)
        return self.events


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def first(tmp_path: Path, told: Told) -> Iterator[Instance]:
    made = Instance(tmp_path)
    assert made.acquire()
    made.deliver_to(told)
    yield made
    made.close()


def door_of(folder: Path) -> str:
    return str(msgspec.json.decode((folder / ADDRESS_NAME).read_bytes())["door"])


def word_of(folder: Path) -> str:
    return str(msgspec.json.decode((folder / ADDRESS_NAME).read_bytes())["word"])


def call_at(folder: Path) -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(GUARD_S)
    line.connect(door_of(folder))
    return line


def is_cut_off(line: socket.socket) -> bool:
    """Return whether the other end has closed a line; what was not heard yet makes that a reset."""
    try:
        return line.recv(10) == b""
    except ConnectionResetError:
        return True


def write_address(folder: Path, door: str) -> None:
    (folder / ADDRESS_NAME).write_bytes(msgspec.json.encode({"door": door, "word": "x"}))


def in_a_thread(work: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    return thread, results


def test_a_folder_belongs_to_one_until_that_one_lets_it_go(tmp_path: Path, first: Instance) -> None:
    second = Instance(tmp_path)
    assert first.acquire() and not second.acquire()
    first.close()
    assert second.acquire()
    second.close()
    assert (tmp_path / LOCK_NAME).is_file() and not (tmp_path / ADDRESS_NAME).exists()


def test_a_later_start_summons_the_first_and_gets_no_claim(tmp_path: Path, first: Instance, told: Told) -> None:
    assert claim(tmp_path, None) is None
    assert told.events == [Summoned()]


def test_a_model_comes_as_the_path_that_it_has_where_the_later_start_stands(
    tmp_path: Path, first: Instance, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert summon(tmp_path, Path("models") / "日本 😀.gguf")
    assert told.events == [Summoned(str(tmp_path / "models" / "日本 😀.gguf"))]


@on_unix
def test_a_path_that_is_no_text_comes_as_it_is(tmp_path: Path, first: Instance, told: Told) -> None:
    assert summon(tmp_path, Path(os.fsdecode(b"/models/caf\xe9.gguf")))
    assert [os.fsencode(event.model) for event in told.events if isinstance(event, Summoned)] == [
        b"/models/caf\xe9.gguf"
    ]


def test_whoever_rings_while_the_first_is_starting_is_heard_later(tmp_path: Path, told: Told) -> None:
    first = Instance(tmp_path)
    assert first.acquire() and summon(tmp_path, tmp_path / "a.gguf") and summon(tmp_path, None)
    assert told.events == []
    first.deliver_to(told)
    assert told.events == [Summoned(str(tmp_path / "a.gguf")), Summoned()]
    first.close()


def test_folders_do_not_know_each_other(tmp_path: Path, first: Instance, told: Told) -> None:
    with_own = claim(tmp_path / "other", None)
    assert with_own is not None
    assert summon(tmp_path / "other", None) and told.events == []
    with_own.close()


def test_what_a_killed_process_left_behind_bars_nobody(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE) as killed:
        assert killed.stdout is not None and killed.stdout.readline().strip() == b"held"
        assert not Instance(tmp_path).acquire()
        left = Path(door_of(tmp_path))
        killed.kill()
    made = claim(tmp_path, None)
    assert made is not None
    assert summon(tmp_path, None)
    assert not left.exists() and (os.name == "nt" or not left.parent.exists())
    made.close()


@on_unix
def test_only_this_user_gets_to_the_door_and_nothing_of_it_stays(tmp_path: Path, first: Instance) -> None:
    door = Path(door_of(tmp_path))
    assert stat.S_IMODE(door.parent.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in (door, tmp_path / ADDRESS_NAME, tmp_path / LOCK_NAME)] == [
        0o600
    ] * 3
    assert psutil.Process().net_connections(kind="inet") == []
    first.close()
    assert not door.parent.exists() and sorted(path.name for path in tmp_path.iterdir()) == [LOCK_NAME]


@on_unix
@pytest.mark.parametrize("name", ["n" * 200, "with ünï cødé 日本"])
def test_long_and_foreign_folder_names_work(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    made = claim(folder / "data", None)
    assert made is not None and summon(folder / "data", None)
    made.close()


@on_unix
def test_nonsense_gets_no_answer_and_the_next_call_does(tmp_path: Path, first: Instance, told: Told) -> None:
    word = word_of(tmp_path)
    bad = [
        b"", b"\xc1", b"GET / HTTP/1.1\r\n\r\n", os.urandom(2000), msgspec.msgpack.encode([1, 2]),
        msgspec.msgpack.encode({"word": "another"}), msgspec.msgpack.encode({"word": 7}),
        msgspec.msgpack.encode({"word": word, "model": b"relative.gguf"}),
        msgspec.msgpack.encode({"word": word, "model": b"/a\0b"}), b"\xdc\xff\xff" * 20_000,
    ]  # fmt: skip
    for message in bad:
        with call_at(tmp_path) as line:
            line.sendall(message)
            line.shutdown(socket.SHUT_WR)
            assert line.recv(100) == b""
    assert told.events == []
    assert summon(tmp_path, None) and told.events == [Summoned()]


@on_unix
def test_who_says_too_much_is_cut_off(tmp_path: Path, first: Instance, told: Told) -> None:
    with call_at(tmp_path) as line, pytest.raises((BrokenPipeError, ConnectionResetError)):
        line.sendall(bytes(50_000_000))
    assert summon(tmp_path, None) and told.events == [Summoned()]


@on_unix
def test_who_rings_and_says_nothing_keeps_nobody_waiting_and_is_not_waited_for(
    tmp_path: Path, first: Instance, told: Told
) -> None:
    silent = [call_at(tmp_path) for _ in range(50)]
    silent[-1].send(b"\x81")
    assert summon(tmp_path, None) and told.events == [Summoned()]
    for line in silent:
        assert is_cut_off(line)
        line.close()


@on_unix
def test_a_door_closes_at_once_in_front_of_somebody_who_says_nothing(tmp_path: Path, first: Instance) -> None:
    with call_at(tmp_path) as line:
        first.close()
        assert is_cut_off(line)


@on_unix
def test_one_that_is_there_and_does_not_answer_is_told_in_a_sentence(tmp_path: Path) -> None:
    first = Instance(tmp_path)
    assert first.acquire()
    first.hang_up()
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(tmp_path / "deaf"))
        deaf.listen()
        write_address(tmp_path, str(tmp_path / "deaf"))
        with pytest.raises(UserError, match="running already but does not answer") as refusal:
            claim(tmp_path, None, answer_s=0.05)
    assert refusal.value.exit_code is ExitCode.WRONG_USE
    first.close()


def test_one_that_never_opens_a_door_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    first = Instance(tmp_path)
    assert first.acquire()
    first.hang_up()
    with pytest.raises(UserError, match="does not answer"):
        claim(tmp_path, None, patience_s=0)
    first.close()


def test_one_that_is_ending_is_waited_for(tmp_path: Path, first: Instance, told: Told) -> None:
    first.hang_up()
    assert not summon(tmp_path, None)
    thread, results = in_a_thread(lambda: claim(tmp_path, None, patience_s=GUARD_S))
    first.close()
    thread.join(GUARD_S)
    (made,) = results
    assert isinstance(made, Instance) and told.events == []
    made.close()


def test_one_that_has_no_door_yet_is_waited_for(
    tmp_path: Path, first: Instance, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, hidden, looked = tmp_path / ADDRESS_NAME, tmp_path / "hidden", threading.Event()
    address.rename(hidden)
    read = module._read_address

    def look(folder: Path) -> module._Address | None:
        found = read(folder)
        looked.set()
        return found

    monkeypatch.setattr(module, "_read_address", look)
    thread, results = in_a_thread(lambda: claim(tmp_path, None, patience_s=GUARD_S))
    assert looked.wait(GUARD_S)
    hidden.rename(address)
    thread.join(GUARD_S)
    assert results == [None] and told.wait() == [Summoned()]


@pytest.mark.parametrize(
    "content", [b"", b"nonsense", b"[]", b'{"door": "\\u0000/x", "word": "x"}', b"\xff" * 100_000]
)
def test_an_address_that_nobody_of_ours_wrote_is_no_door(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ADDRESS_NAME).write_bytes(content)
    assert not summon(tmp_path, None)
    made = claim(tmp_path, None)
    assert made is not None and summon(tmp_path, None)
    made.close()


def test_a_file_of_others_is_never_taken_for_an_old_door(tmp_path: Path) -> None:
    precious = tmp_path / "tokenlight-x" / "door"
    precious.parent.mkdir()
    precious.write_text("precious")
    write_address(tmp_path, str(precious))
    made = claim(tmp_path, None)
    assert made is not None and precious.read_text() == "precious"
    made.close()


def test_a_folder_that_cannot_be_had_stops_no_window(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    made = claim(tmp_path / "file" / "data", None)
    assert made is not None
    made.deliver_to(lambda _event: None)
    made.close()
    assert "Later starts will not find this one" in caplog.text


@on_unix
def test_a_disk_without_locks_stops_no_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_number: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    both = [claim(tmp_path, None), claim(tmp_path, None)]
    for made in both:
        assert made is not None
        made.deliver_to(lambda _event: None)
        made.close()
    assert caplog.text.count("No locks available") == 2


@on_unix
def test_where_no_door_can_be_made_the_lock_still_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / ADDRESS_NAME).mkdir()
    made = claim(tmp_path, None)
    assert made is not None and not Instance(tmp_path).acquire()
    made.deliver_to(lambda _event: None)
    made.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [ADDRESS_NAME, LOCK_NAME]


@on_unix
def test_a_child_of_the_first_does_not_keep_the_folder(tmp_path: Path) -> None:
    first = Instance(tmp_path)
    assert first.acquire()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        first.close()
        second = claim(tmp_path, None)
        assert second is not None and second._lock_file is not None
        second.close()
        child.communicate(b"\n")
