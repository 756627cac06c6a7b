from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.core.events import Event
from app.core.job_events import FileSaved
from app.services.file_export import FileExport
from app.services.notices import Notices
from app.system.jobs import Jobs


class Bench(Jobs):
    """Does its job when it is told to."""

    def __init__(self) -> None:
        super().__init__(lambda _event: None)
        self.waiting: list[tuple[Callable[[], Event | None], Callable[[], Event] | None]] = []

    def submit(
        self,
        name: str,
        work: Callable[[], Event | None],
        on_error: Callable[[], Event] | None = None,
        *,
        after_s: float = 0.0,
    ) -> None:
        assert (name, after_s) == ("export", 0.0)
        self.waiting.append((work, on_error))

    def do(self) -> FileSaved:
        work, on_error = self.waiting.pop()
        try:
            event = work()
        except ZeroDivisionError:
            assert on_error is not None
            event = on_error()
        assert isinstance(event, FileSaved)
        return event


def made() -> tuple[Bench, FileExport, Notices]:
    bench, notices = Bench(), Notices()
    return bench, FileExport(bench, notices), notices


def told(notices: Notices) -> tuple[str, str]:
    assert notices.latest is not None
    return notices.latest.sentence.english(), notices.latest.level


def test_a_file_is_made_and_written_by_the_job_alone(tmp_path: Path) -> None:
    bench, files, notices = made()
    calls: list[str] = []

    def content() -> bytes:
        calls.append("made")
        return b"content"

    assert files.save(tmp_path / "a.json", content)
    assert (files.is_busy, calls, list(tmp_path.iterdir())) == (True, [], [])
    assert not files.save(tmp_path / "b.json", content), "one at a time"
    files.take(bench.do())
    assert not files.is_busy and (tmp_path / "a.json").read_bytes() == b"content"
    assert files.saved == tmp_path / "a.json" and notices.latest is None
    files.look_away()
    assert files.saved is None


def test_where_a_file_is_that_comes_when_something_else_is_shown_is_told_by_a_notice(tmp_path: Path) -> None:
    bench, files, notices = made()
    files.save(tmp_path / "a.json", lambda: b"content")
    files.look_away()
    files.take(bench.do())
    assert told(notices) == (f"Saved as {tmp_path / 'a.json'}", "hint")
    assert files.saved is None, "it is not of what is shown now"
    files.save(tmp_path / "b.json", lambda: b"content")
    files.take(bench.do())
    assert files.saved == tmp_path / "b.json"


def test_why_nothing_was_written_is_one_sentence(tmp_path: Path) -> None:
    bench, files, notices = made()
    files.save(tmp_path / "missing" / "a.csv", lambda: b"content")
    files.take(bench.do())
    assert told(notices) == ("The file a.csv could not be saved: No such file or directory", "error")
    assert not files.is_busy and files.saved is None
    files.save(tmp_path / "a.csv", lambda: bytes([1 // 0]))
    files.take(bench.do())
    assert told(notices) == ("The file a.csv could not be made; the log has the details.", "error")
    assert list(tmp_path.iterdir()) == []
    assert files.save(tmp_path / "a.csv", bytes), "the next one may come"
