"""The pictures of a report: the tree of lanes and the figures as SVG that follows the light or dark look of its reader."""

from __future__ import annotations

from html import escape
from textwrap import wrap

from PySide6.QtCore import QCoreApplication

from app.core.comparison import LETTERS
from app.gui.charts.line_patterns import PATTERNS
from app.gui.compare.branch_layout import (
    BADGE_PX,
    HALF_PX,
    Badge,
    BranchLayout,
    NodePlace,
    branch_layout,
)
from app.gui.compare.branch_words import legend_words, letters_of, node_sentence
from app.gui.widgets.token_words import visible
from app.services.lane_analysis import Analysis, BranchNode, Contender
from app.services.units import count

translate = QCoreApplication.translate
_CHARACTER_PX, _SMALL_PX = 7.4, 6.2
"""About as wide is a character; what does not fit ends in …."""
BAR_PX, ROW_PX, TEXT_PX, FIGURE_PX = 8, 30, 120, 150
LEGEND_PX, SWATCH_PX, CELL_PX = 26, 14, 52
TREE_PX, TREE_ROW_PX = 1040.0, 84.0
"""How wide a tree may be, and how high for each lane."""


class CharacterMeasure:
    """Measures texts for a page whose fonts nobody knows."""

    line_px, small_px = 17.0, 13.0

    def width(self, text: str) -> float:
        """Return about how wide a text is."""
        return len(text) * _CHARACTER_PX

    def small(self, text: str) -> float:
        """Return about how wide figures are."""
        return len(text) * _SMALL_PX

    def lines(self, text: str, width: float, most: int) -> tuple[str, ...]:
        """Return the beginning of a text as at most so many lines that are no wider."""
        characters = max(int(width / _CHARACTER_PX), 1)
        return tuple(wrap(text[: (most + 1) * (characters + 1)], characters)[:most])

    def elided(self, text: str, width: float) -> str:
        """Return the beginning of a text, ending in … where that is not all of it."""
        return _fitting(text, width)


def branches_svg(analysis: Analysis, title: str) -> str:
    """Return the tree of lanes, its ruler above it and its legend below."""
    tree = analysis.tree
    lanes = len(tree[0].lanes) if tree else 1
    layout = branch_layout(tree, CharacterMeasure(), TREE_PX, TREE_ROW_PX * (lanes + 1))
    parts = [_ruler(layout)]
    parts += [_fork(analysis, layout, number) for number in range(len(layout.places))]
    parts += [_stretch(node, place) for node, place in zip(tree, layout.places, strict=True)]
    said = [each for each in legend_words(tree) if each]
    for number, words in enumerate(said):
        y = layout.height + 20 + number * 16
        parts.append(f'<text x="22" y="{y:.0f}" class="small">{escape(words)}</text>')
    width = max(layout.width, *(22 + len(words) * _SMALL_PX for words in said))
    return _svg(width, layout.height + 28 + 16 * len(said), title, parts)


def _ruler(layout: BranchLayout) -> str:
    if layout.axis is None:
        return ""
    base = layout.ruler_px - 7
    ways = [f"M{layout.axis.arrives[0]:.1f},{base} H{layout.axis.arrives[-1]:.1f}"]
    ways += [f"M{x:.1f},{base - 4} v4" for x, _number in layout.ticks]
    numbers = "".join(
        f'<text x="{x:.1f}" y="{base - 6}" class="small" text-anchor="middle">{count(number)}</text>'
        for x, number in layout.ticks
    )
    return f'<path d="{" ".join(ways)}" class="line shared" style="stroke-width:1"/>{numbers}'


def distributions_svg(rows: tuple[Contender, ...], lanes: tuple[int, int], title: str, shown: dict[int, str]) -> str:
    """Return two distributions over one another; `shown` are the figures of each row, by its place."""
    width, height = 600.0, float(LEGEND_PX + ROW_PX * len(rows))
    room = width - TEXT_PX - FIGURE_PX
    most = max((max(row.raw or 0, row.baseline.after or 0, row.lane.after or 0) for row in rows), default=1) or 1
    parts = [_legend(lanes)]
    for number, row in enumerate(rows):
        top = LEGEND_PX + number * ROW_PX
        said = _fitting(visible(row.text) if row.text is not None else f"#{row.token}", TEXT_PX - 10)
        parts.append(f'<text x="0" y="{top + 20}" class="code">{escape(said)}</text>')
        for side, share in enumerate((row.baseline, row.lane)):
            if not share.after:
                continue
            length = room * share.after / most
            look = f"l{lanes[side] % 8}" + (" hatched" if side else "")
            y = top + 5 + side * (BAR_PX + 3)
            parts.append(
                f'<rect x="{TEXT_PX}" y="{y}" width="{max(length, 1):.1f}" height="{BAR_PX}" class="bar {look}"/>'
            )
        raw = room * (row.raw or 0) / most
        parts.append(f'<rect x="{TEXT_PX}" y="{top + 14}" width="{max(raw, 1):.1f}" height="1.5" class="raw"/>')
        parts.append(f'<text x="{width:.0f}" y="{top + 20}" class="small end">{escape(shown[number])}</text>')
    return _svg(width, height, title, parts)


def _legend(lanes: tuple[int, int]) -> str:
    """Return which bars are whose, over those bars."""
    words = (translate("Compare", "Model"), LETTERS[lanes[0]], LETTERS[lanes[1]])
    looks = ("raw", f"bar l{lanes[0] % 8}", f"bar l{lanes[1] % 8} hatched")
    left, parts = float(TEXT_PX), []
    for word, look in zip(words, looks, strict=True):
        high = 1.5 if look == "raw" else BAR_PX
        parts.append(
            f'<rect x="{left:.0f}" y="{9 - high / 2:.1f}" width="{SWATCH_PX}" height="{high}" class="{look}"/>'
            f'<text x="{left + SWATCH_PX + 6:.0f}" y="13" class="small">{escape(word)}</text>'
        )
        left += SWATCH_PX + 24 + len(word) * _SMALL_PX
    return "".join(parts)


def bar_svg(share: float, lane: int) -> str:
    """Return the bar of a figure, as a share of the longest one."""
    width = max(CELL_PX * share, 1) if share else 0
    return (
        f'<svg class="cell" viewBox="0 0 {CELL_PX} 5" width="{CELL_PX}" height="5" aria-hidden="true">'
        f'<rect x="{CELL_PX - width:.1f}" width="{width:.1f}" height="5" class="bar l{lane % 8}"/></svg>'
    )


def entropy_svg(values: tuple[float | None, ...], top: float, lane: int, title: str) -> str:
    """Return how undecided the model was, token by token."""
    known = [(place, value) for place, value in enumerate(values) if value is not None]
    step = 300 / max(len(values) - 1, 1)
    points = " ".join(f"{place * step:.1f},{38 - 36 * min(value / max(top, 1e-9), 1):.1f}" for place, value in known)
    return _svg(300, 40, title, [f'<polyline points="{points}" class="line l{lane % 8}"/>'])


def _svg(width: float, height: float, title: str, parts: list[str]) -> str:
    inside = "\n".join(parts)
    return (
        f'<svg role="img" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">'
        f"<title>{escape(title)}</title>\n{inside}\n</svg>"
    )


def _fork(analysis: Analysis, layout: BranchLayout, number: int) -> str:
    node, place = analysis.tree[number], layout.places[number]
    if node.parent is None:
        return ""
    parent = layout.places[node.parent]
    begin = parent.right if parent.y == place.y else parent.fork
    middle = (parent.fork + place.left) / 2
    way = (
        f"M{begin:.1f},{parent.y:.1f} C{middle:.1f},{parent.y:.1f} "
        f"{middle:.1f},{place.y:.1f} {place.left:.1f},{place.y:.1f}"
    )
    return f'<path d="{way}" class="line {_look(node)}" style="stroke-width:{place.thickness:.1f}"/>'


def _stretch(node: BranchNode, place: NodePlace) -> str:
    thickness = place.thickness
    dashes = ""
    if len(node.lanes) == 1 and len(pattern := PATTERNS[node.lanes[0] % len(PATTERNS)]) > 1:
        dashes = f' stroke-dasharray="{" ".join(f"{each * 2:.1f}" for each in pattern)}"'
    line = (
        f'<g><title>{escape(node_sentence(node))}</title><line x1="{place.left:.1f}" y1="{place.y:.1f}" '
        f'x2="{place.right:.1f}" y2="{place.y:.1f}" class="line {_look(node)}" '
        f'style="stroke-width:{thickness:.1f}"{dashes}/>'
    )
    parts = [line]
    above = place.y - HALF_PX - 3
    parts.append(f'<text x="{place.left:.1f}" y="{above:.1f}" class="small">{escape(place.figures)}</text>')
    for number, text in enumerate(place.text):
        y = place.y + HALF_PX + 13 + number * CharacterMeasure.line_px
        parts.append(f'<text x="{place.left:.1f}" y="{y:.1f}">{escape(text)}</text>')
    parts += [_badge(badge, place.y) for badge in place.badges]
    return "".join(parts) + "</g>"


def _badge(badge: Badge, y: float) -> str:
    look = f"l{badge.lanes[0] % 8}" if len(badge.lanes) == 1 else "shared"
    return (
        f'<rect x="{badge.left:.1f}" y="{y - BADGE_PX / 2:.1f}" width="{badge.width:.1f}" height="{BADGE_PX:.0f}" '
        f'rx="5" class="badge line {look}" style="fill:var(--surface);stroke-width:2"/>'
        f'<text x="{badge.left + badge.width / 2:.1f}" y="{y + 4:.1f}" class="letter">'
        f"{escape(letters_of(badge.lanes))}</text>"
    )


def _look(node: BranchNode) -> str:
    return f"l{node.lanes[0] % 8}" if len(node.lanes) == 1 else "shared"


def _fitting(text: str, width: float) -> str:
    most = max(int(width / _CHARACTER_PX), 1)
    return text if len(text) <= most else text[: most - 1] + "…"
