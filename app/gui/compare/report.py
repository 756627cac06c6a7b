"""A comparison as one page that can be handed out: no script, nothing from elsewhere, light or dark as its reader has it."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QCoreApplication, QLocale

from app.core.attached_files import unframed
from app.core.comparison import LETTERS
from app.core.version import VERSION
from app.gui import theme
from app.gui.compare.branch_words import letters_of
from app.gui.compare.divergence_words import brief_words, percent, share_words, token_words
from app.gui.compare.figures_model import FiguresModel
from app.gui.compare.lane_mark import lane_colour
from app.gui.compare.lane_words import (
    BETWEEN,
    compared_words,
    day_words,
    model_words,
    run_lane_name,
    seed_words,
    shared_words,
)
from app.gui.compare.report_pictures import bar_svg, branches_svg, distributions_svg, entropy_svg
from app.gui.widgets.words import render
from app.services.lane_analysis import AnalysedLane, Analysis, LaneDivergence
from app.services.lane_starts import differing
from app.services.lanes_run import LanesRun
from app.services.units import UNKNOWN

translate = QCoreApplication.translate
MOST_ROWS = 8
_STYLE = """
:root { color-scheme: light dark; LIGHT }
@media (prefers-color-scheme: dark) { :root { DARK } }
body { background: var(--window); color: var(--text); font: 15px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 1100px; margin: 0 auto; padding: 24px; }
h1 { font-size: 22px; } h2 { font-size: 17px; margin-top: 32px; }
section.card, blockquote { background: var(--surface); border: 1px solid var(--border); border-radius: 10px; padding: 12px 16px; margin: 12px 0; }
blockquote, .answer { white-space: pre-wrap; overflow-wrap: anywhere; }
.answer .shared { color: var(--muted); } .answer mark { background: none; color: inherit; font-weight: 600; border-bottom: 3px solid var(--text); }
.muted, .small { color: var(--muted); font-size: 13px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: start; color: var(--muted); font-weight: 500; } th, td { padding: 5px 8px; border-bottom: 1px solid var(--border); vertical-align: top; white-space: nowrap; }
tbody tr:last-child td { border-bottom: 0; } table.brief { width: auto; margin-bottom: 12px; } section.card h3 { margin: 4px 0 8px; }
td.number, th.number { text-align: end; font-variant-numeric: tabular-nums; } svg.cell { display: block; margin-inline-start: auto; }
svg { max-width: none; } svg text { fill: var(--text); font: 13px system-ui, sans-serif; } svg text.small { fill: var(--muted); font-size: 11px; }
svg text.end { text-anchor: end; } svg text.code { white-space: pre; } svg text.letter { text-anchor: middle; font-weight: 700; font-size: 12px; }
.line { fill: none; stroke: currentColor; stroke-width: 1.5; } .line.shared { color: var(--border_strong); } .bar { fill: currentColor; }
.bar.hatched { fill: none; stroke: currentColor; stroke-width: 2; stroke-dasharray: 3 2; } .raw { fill: var(--text); } .badge { fill: var(--surface); stroke: currentColor; stroke-width: 2; }
.letter-name { display: inline-block; min-width: 1.4em; text-align: center; border: 2px solid currentColor; border-radius: 5px; font-weight: 700; }
.letter-name b { color: var(--text); }
@media print { body { background: #fff; } }
"""


def report(run: LanesRun, analysis: Analysis, light: theme.Theme, dark: theme.Theme) -> bytes:
    """Return the page, as UTF-8."""
    compared = compared_words([lane.settings for lane in analysis.lanes], len(analysis.lanes))
    title = translate("Compare", "Comparison: {what}").format(what=compared)
    when = day_words(run.comparison.created_ms)
    made_with, program = translate("Compare", "Made with {program}"), f"Tokenlight {VERSION}"
    parts = [
        f'<!DOCTYPE html>\n<html lang="{escape(_language())}"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(BETWEEN.join((title, when)))}</title><style>{_style(light, dark)}</style></head><body><main>",
        f"<h1>{escape(title)}</h1>",
        _paragraph(BETWEEN.join(part for part in (model_words(run), when) if part)),
        f"<h2>{_words('Prompt')}</h2><blockquote>{escape(unframed(run.question.text))}</blockquote>",
        _paragraph(seed_words([lane.settings for lane in analysis.lanes])),
        f'<h2>{_words("Branches")}</h2><section class="card wide">',
        branches_svg(analysis, translate("Compare", "Branches of the lanes")),
        f"</section><h2>{_words('Figures')}</h2>",
        _figures(run, analysis),
        f"<h2>{_words('Answers')}</h2>",
        *(_lane(run, analysis, lane) for lane in analysis.lanes),
        f'<p class="small">{escape(made_with.format(program=program))}</p></main></body></html>\n',
    ]
    return "\n".join(parts).encode("utf-8", "replace")


def _language() -> str:
    """Return the language as pages name it; the one without a name writes English."""
    name = QLocale().name()
    return "en" if name in ("", "C", "POSIX") else name.replace("_", "-")


def _words(name: str) -> str:
    titles = {
        "Prompt": translate("Compare", "Prompt"),
        "Branches": translate("Compare", "Branches"),
        "Figures": translate("Compare", "Figures"),
        "Answers": translate("Compare", "Answers"),
    }
    return escape(titles[name])


def _style(light: theme.Theme, dark: theme.Theme) -> str:
    """Return the style with the colours of both looks."""
    names = (
        "window",
        "surface",
        "border",
        "border_strong",
        "text",
        "muted",
        *(lane_colour(lane) for lane in range(8)),
    )
    both = [" ".join(f"--{name}: {look.colours[name]};" for name in names) for look in (light, dark)]
    lanes = " ".join(f".l{lane} {{ color: var(--{lane_colour(lane)}); }}" for lane in range(8))
    return _STYLE.replace("LIGHT", both[0]).replace("DARK", both[1]) + lanes


def _paragraph(text: str) -> str:
    return f'<p class="muted">{escape(text)}</p>' if text else ""


def _letter(lane: int) -> str:
    return f'<span class="letter-name l{lane % 8}"><b>{LETTERS[lane]}</b></span>'


def _name(run: LanesRun, index: int) -> str:
    return next((run_lane_name(run, lane) for lane in run.lanes if lane.index == index), "")


def _figures(run: LanesRun, analysis: Analysis) -> str:
    """Return the table of figures, with a bar in each cell."""
    model = FiguresModel()
    model.show_analysis(analysis, [(lane.index, _name(run, lane.index)) for lane in analysis.lanes])
    lane_title, end_title = translate("Compare", "Lane"), translate("Compare", "Ended")
    heads = [f"<th>{escape(lane_title)}</th>"]
    heads += [f'<th class="number" title="{escape(each.hint)}">{escape(each.title)}</th>' for each in model.columns]
    heads.append(f"<th>{escape(end_title)}</th>")
    rows = []
    for row, lane in enumerate(analysis.lanes):
        cells = [f"<td>{_letter(lane.index)} {escape(_name(run, lane.index))}</td>"]
        for place in range(1, len(model.columns) + 1):
            value, most = model.value(lane.figures, place), model.most(place)
            bar = bar_svg(abs(value) / most, lane.index) if value is not None and most else ""
            said = str(model.data(model.index(row, place)))
            cells.append(f'<td class="number">{escape(said)}{bar}</td>')
        cells.append(f"<td>{escape(str(model.data(model.index(row, len(model.columns) + 1)) or UNKNOWN))}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    head, body = "".join(heads), "\n".join(rows)
    return f'<section class="card wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></section>'


def _lane(run: LanesRun, analysis: Analysis, lane: AnalysedLane) -> str:
    """Return an answer with what differs, its settings, and where it leaves the baseline."""
    differs = differing(each.settings for each in analysis.lanes)
    top = max((value for each in analysis.lanes for value in each.entropies if value is not None), default=1.0)
    parts = [f"<section class='card'><h3>{_letter(lane.index)} {escape(_name(run, lane.index))}</h3>"]
    parts.append(_paragraph(shared_words(lane.settings, differs)))
    found = analysis.divergence(lane.index)
    if lane.index == analysis.baseline:
        parts.append(_paragraph(translate("Compare", "The baseline: the others are compared with it.")))
    elif found is None:
        same = translate("Compare", "The same tokens as the baseline")
        parts.append(
            _paragraph(translate("Compare", "The same tokens as the baseline so far") if lane.is_open else same)
        )
    if lane.entropies:
        title = translate("Compare", "Entropy, token by token")
        parts.append(entropy_svg(lane.entropies, top, lane.index, title))
    parts.append(f'<p class="answer" dir="auto">{_answer(lane, found)}</p>')
    if found is not None:
        parts.append(_divergence(found, analysis.baseline))
    return "\n".join(part for part in parts if part) + "</section>"


def _answer(lane: AnalysedLane, found: LaneDivergence | None) -> str:
    if found is None:
        return escape(lane.text)
    start, end = found.in_lane.start, found.in_lane.end
    shared, token, rest = lane.text[:start], lane.text[start:end], lane.text[end:]
    marked = f"<mark>{escape(token)}</mark>" if token else ""
    return f'<span class="shared">{escape(shared)}</span>{marked}{escape(rest)}'


def _divergence(found: LaneDivergence, baseline: int) -> str:
    """Return why a lane leaves the baseline, with both distributions."""
    lanes = (baseline, found.lane)
    said = [brief_words(found, baseline) + ".", render(found.reason)]
    if found.draws is not None:
        said.append(render(found.draws))
    head = "".join(
        f"<th>{escape(each)}</th>"
        for each in ("", translate("Compare", "Model"), LETTERS[baseline], LETTERS[found.lane])
    )
    body = "".join(
        _row(
            letters_of([lane]) + " " + token_words(token),
            percent(token.raw),
            *map(share_words, (token.baseline, token.lane)),
        )
        for lane, token in zip(lanes, (found.baseline_token, found.lane_token), strict=True)
        if token is not None
    )
    rows = found.picture[:MOST_ROWS]
    shown = {place: f"{share_words(row.baseline)} · {share_words(row.lane)}" for place, row in enumerate(rows)}
    title = translate("Compare", "Both distributions over one another")
    picture = distributions_svg(rows, lanes, title, shown) if rows else ""
    table = f"<table class='brief'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<p>{escape(' '.join(said))}</p><div class='wide'>{table}{picture}</div>"


def _row(*cells: str) -> str:
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
