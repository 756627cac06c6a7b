"""Formulas by themselves: what is drawn and what is left as it was written, how many are kept, and when they come."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage, QPainter

from app.gui.formulas import shelf
from app.gui.formulas.picture import Picture
from app.gui.formulas.shelf import BATCH, MOST_FORMULAS, MOST_WAITING, Formulas, Undrawn, draw

PIXELS = 40.0
MARGIN = 10


def drawn(latex: str, *, display: bool = True) -> Picture:
    found = draw((latex, display))
    assert isinstance(found, Picture), latex
    return found


def painted(picture: Picture, scale: float = 1.0, ink: str = "black", paper: str = "white") -> QImage:
    """Return a picture with its baseline at `MARGIN` and its height above."""
    width = int((picture.width * PIXELS + 2 * MARGIN) * scale)
    height = int(((picture.above + picture.below) * PIXELS + 2 * MARGIN) * scale)
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    image.fill(QColor(paper))
    painter = QPainter(image)
    picture.draw(painter, QPointF(MARGIN, MARGIN + picture.above * PIXELS), PIXELS, QColor(ink))
    painter.end()
    return image


def is_ink(image: QImage, x: int, y: int) -> bool:
    return image.pixelColor(x, y).lightness() < 128


def ink_box(image: QImage) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom of what is dark."""
    dots = [(x, y) for x in range(image.width()) for y in range(image.height()) if is_ink(image, x, y)]
    columns, rows = [x for x, _ in dots], [y for _, y in dots]
    return min(columns), min(rows), max(columns) + 1, max(rows) + 1


@pytest.mark.parametrize(
    "latex", [r"\frac{a}{b}", r"\sqrt{x}", r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", "y", r"\boxed{x}"]
)
def test_the_ink_fills_the_room_that_is_kept_for_it(latex: str) -> None:
    picture = drawn(latex)
    left, top, right, bottom = ink_box(painted(picture))
    assert left == pytest.approx(MARGIN, abs=4)
    assert top == pytest.approx(MARGIN, abs=3)
    assert right == pytest.approx(MARGIN + picture.width * PIXELS, abs=9)
    assert bottom == pytest.approx(MARGIN + (picture.above + picture.below) * PIXELS, abs=4)


def test_a_fraction_has_its_bar_above_the_baseline_and_ink_on_both_sides_of_it() -> None:
    picture = drawn(r"\frac{a}{b}")
    image = painted(picture)
    baseline = MARGIN + picture.above * PIXELS
    middle = image.width() // 2
    rows = [y for y in range(image.height()) if all(is_ink(image, x, y) for x in range(middle - 4, middle + 5))]
    assert rows
    assert max(rows) < baseline
    assert ink_box(image)[1] < min(rows) < max(rows) < ink_box(image)[3] - 5


def test_where_a_root_meets_its_bar_nothing_is_left_out() -> None:
    picture = drawn(r"\sqrt{xxx}")
    image = painted(picture, scale=4)
    top = min(y for y in range(image.height()) if is_ink(image, int(image.width() * 0.7), y)) + 3
    across = [is_ink(image, x, top) for x in range(image.width())]
    assert "".join("#" if dot else " " for dot in across).strip().count(" ") == 0


def test_it_is_drawn_in_the_ink_that_is_asked_for() -> None:
    image = painted(drawn(r"\color{red}{\rule{2em}{1em}}"), ink="#3366cc", paper="#101010")
    colours = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert "#3366cc" in colours
    assert "#ff0000" not in colours


def test_it_is_as_sharp_on_a_screen_of_twice_the_pixels() -> None:
    picture = drawn(r"\begin{matrix}1&1\\1&1\end{matrix}")

    def share_of_edges(scale: float) -> float:
        image = painted(picture, scale)
        shades = [image.pixelColor(x, y).lightness() for x in range(image.width()) for y in range(image.height())]
        return sum(20 < shade < 235 for shade in shades) / sum(shade < 235 for shade in shades)

    assert share_of_edges(4) < share_of_edges(2) * 0.75 < share_of_edges(1) * 0.6


def test_inside_of_a_line_a_sum_is_less_high() -> None:
    in_line, alone = drawn(r"\sum_{i=1}^n i", display=False), drawn(r"\sum_{i=1}^n i")
    assert in_line.above + in_line.below < (alone.above + alone.below) * 0.8


@pytest.mark.parametrize(
    "latex",
    [
        r"x=\frac{-b\pm\sqrt{b^2-4ac}}{2a}",
        r"\binom{n}{\frac{k}{2}}",
        r"\begin{aligned}a&=b\\&=c\end{aligned}",
        r"\begin{align*}a&=b\\&=c\end{align*}",
        r"\begin{cases}1&x<0\\0&x\ge0\end{cases}",
        r"\operatorname*{argmax}_\theta \log p(x\mid\theta)",
        r"\bm{x}^\top\boldsymbol{\beta}",
        r"\mathbb{E}[X]\in\mathcal{L}(\mathbb{R}^n)",
        r"E=mc^2\tag{1}\label{eq}",
        r"\left.\frac{df}{dx}\right|_{x=0}",
        r"\lVert x\rVert_2\leq\|y\|",
        r"\underbrace{a+b}_{n}\xrightarrow{f}\cancel{x}",
        r"\text{if } x<y",
        r"\mathop{\mathrm{tr}} A",
        "日本 + é",
    ],
)
def test_what_models_write_is_drawn(latex: str) -> None:
    drawn(latex)


@pytest.mark.parametrize(
    "latex",
    [
        "",
        "  ",
        r"\unknown x",
        r"\frac{a}",
        "{",
        "}{",
        "x^",
        r"\left( x",
        r"\begin{matrix}",
        r"\def\a{\a\a}\a",
        r"\newcommand{\x}{y}\x",
        "{" * 100_000,
        r"\frac{1}{1+" * 39 + "x" + "}" * 39,
        "x+" * 900,
        "x" * 100_000,
        r"\left(" * 200 + r"\right)" * 200,
        r"\hspace{100000em}x",
        r"\rule{9999999em}{1em}",
        r"\left(\rule{1em}{9999999em}\right)",
        r"\quad" * 399 + "x",
        "\0",
        "\ud800",
        r"\phantom{x}",
    ],
)
def test_what_cannot_be_drawn_or_would_cost_too_much_is_refused(latex: str) -> None:
    assert draw((latex, True)) is Undrawn.REFUSED


def test_work_grows_with_the_depth_and_is_not_doubled_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from ziamath.nodes.mnode import Mnode  # noqa: PLC0415  loaded as late as the application does

    made: list[str] = []
    init = Mnode.__init__
    drawn("x")

    def counted(self: Mnode, *args: object, **kwargs: object) -> None:
        made.append(self.mtag)
        init(self, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Mnode, "__init__", counted)

    def nodes(depth: int) -> int:
        made.clear()
        drawn(r"\sqrt{1+" * depth + "x" + "}" * depth)
        return len(made)

    assert nodes(12) < nodes(6) * 5


def test_without_a_thread_for_it_a_formula_is_there_at_once() -> None:
    found = Formulas().find("x", display=False)
    assert isinstance(found, Picture)


def test_a_formula_comes_when_it_was_drawn_and_taken_in_and_is_drawn_once() -> None:
    asked: list[Callable[[], None]] = []
    formulas = Formulas(asked.append)
    assert formulas.find("x", display=False) is Undrawn.WAITS
    assert formulas.find("x", display=False) is Undrawn.WAITS
    assert len(asked) == 1
    asked[0]()
    assert formulas.find("x", display=False) is Undrawn.WAITS
    assert formulas.take_in()
    assert isinstance(formulas.find("x", display=False), Picture)
    assert not formulas.take_in()
    assert (len(asked), formulas.arrived) == (1, 1)


def test_what_was_asked_for_last_is_drawn_first_and_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "draw", lambda _key: Undrawn.REFUSED)
    asked: list[Callable[[], None]] = []
    formulas = Formulas(asked.append)
    for number in range(3 * BATCH):
        formulas.find(f"x_{number}", display=False)
    assert len(asked) == 1
    asked.pop()()
    formulas.take_in()
    asked.pop()()
    formulas.take_in()
    assert formulas.arrived == 1 + BATCH
    assert formulas.find(f"x_{3 * BATCH - 1}", display=False) is Undrawn.REFUSED
    assert formulas.find("x_1", display=False) is Undrawn.WAITS


def test_only_so_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "draw", lambda _key: Undrawn.REFUSED)
    asked: list[Callable[[], None]] = []
    formulas = Formulas(asked.append)
    for number in range(3 * MOST_WAITING):
        formulas.find(f"x_{number}", display=False)
    while asked:
        asked.pop()()
        formulas.take_in()
    assert formulas.arrived == MOST_WAITING + 1


def test_no_more_are_kept_than_the_bounds_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    picture = drawn(r"\frac{a}{b}")
    monkeypatch.setattr(shelf, "draw", lambda _key: picture)
    formulas = Formulas()
    for number in range(MOST_FORMULAS + 50):
        formulas.find(f"x_{number}", display=False)
        formulas.find("often", display=False)
    assert formulas.count == MOST_FORMULAS
    monkeypatch.setattr(shelf, "MOST_BYTES", 20 * picture.size)
    formulas.find("one more", display=False)
    assert 15 < formulas.count <= 20
    assert formulas.bytes <= 20 * picture.size
    monkeypatch.setattr(shelf, "draw", lambda _key: Undrawn.REFUSED)
    assert formulas.find("often", display=False) is picture
    assert formulas.find("x_1", display=False) is Undrawn.REFUSED


def test_a_refused_formula_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def refuse(key: tuple[str, bool]) -> Undrawn:
        tried.append(key[0])
        return Undrawn.REFUSED

    monkeypatch.setattr(shelf, "draw", refuse)
    formulas = Formulas()
    assert [formulas.find("{", display=True) for _ in range(3)] == [Undrawn.REFUSED] * 3
    assert tried == ["{"]
