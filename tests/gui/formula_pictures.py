"""What tests of formulas write, and what they see of it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from app.gui import theme
from app.gui.chat.formula_view import FormulaView
from app.gui.chat.rich_text import RichText
from app.gui.formulas.shelf import Formulas
from app.gui.markdown.values import Formula, Run

LINE_PX = theme.READING_LINE_PX
FRACTION = Run(r"$\frac{a}{b}$", formula=r"\frac{a}{b}")
HIGH = Run(r"$\displaystyle\sum_{i=1}^n\frac{a}{b}$", formula=r"\displaystyle\sum_{i=1}^n\frac{a}{b}")
BLACK = Run(r"$\rule{3em}{1em}$", formula=r"\rule{3em}{1em}")
LETTER = Run("$x$", formula="x")
BROKEN = Run(r"$\unknown$", formula=r"\unknown")
WIDE = "+".join(f"a_{{{number}}}" for number in range(60))


def rich(*runs: Run, width: float = 400.0, formulas: Formulas | None = None) -> RichText:
    made = RichText(runs, theme.reading_font(theme.READING_PX), LINE_PX, formulas=formulas or Formulas())
    made.lay_out(width)
    return made


def painted(text: RichText | FormulaView, look: theme.Theme, selected: tuple[int, int] | None = None) -> QImage:
    image = QImage(420, int(text.height) + 10, QImage.Format.Format_RGB32)
    image.fill(look.colour("surface"))
    painter = QPainter(image)
    text.draw(painter, QPointF(0, 0), QRectF(image.rect()), look, selected)
    painter.end()
    return image


def colours(image: QImage, area: QRectF | None = None) -> dict[str, int]:
    """Return how often each colour is there."""
    box = (area or QRectF(image.rect())).toAlignedRect() & image.rect()
    counted: dict[str, int] = {}
    for x in range(box.left(), box.right() + 1):
        for y in range(box.top(), box.bottom() + 1):
            name = image.pixelColor(x, y).name()
            counted[name] = counted.get(name, 0) + 1
    return counted


def ink_rows(image: QImage, left: int, right: int, paper: QColor) -> range:
    rows = [y for y in range(image.height()) if any(image.pixelColor(x, y) != paper for x in range(left, right))]
    return range(min(rows), max(rows) + 1)


def alone(
    latex: str, width: float = 400.0, *, formulas: Formulas | None = None, is_open: bool = False
) -> FormulaView:
    view = FormulaView(Formula(latex, f"$${latex}$$"), formulas or Formulas(), is_open=is_open)
    view.lay_out(width)
    return view
