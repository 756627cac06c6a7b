"""What is printed: one moving line on a terminal, few lines elsewhere."""

from __future__ import annotations

import io

import pytest

from devtools.console import ProgressLine, listing, plural


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_one_line_that_is_rewritten() -> None:
    stream = Terminal()
    line = ProgressLine(stream, width=40)
    line.update("step 10 of 83")
    line.update("step 9")
    line.finish("done")
    assert stream.getvalue() == "\rstep 10 of 83\rstep 9       \r      \rdone\n"


def test_a_narrow_terminal_never_wraps() -> None:
    stream = Terminal()
    ProgressLine(stream, width=10).update("a long sentence about a build")
    assert stream.getvalue() == "\ra long se"


def test_a_log_gets_a_line_now_and_then() -> None:
    stream, now = io.StringIO(), [0.0]
    line = ProgressLine(stream, clock=lambda: now[0])
    for step in range(100):
        line.update(f"step {step}")
        now[0] += 0.5
    line.finish()
    assert stream.getvalue().splitlines() == ["step 0", "step 40", "step 80"]


@pytest.mark.parametrize(
    ("names", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_names_are_listed_as_people_do(names: list[str], text: str) -> None:
    assert listing(names) == text


def test_one_is_singular() -> None:
    assert (plural(1, "minute"), plural(2, "minute")) == ("1 minute", "2 minutes")
