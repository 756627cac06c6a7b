"""A comparison of models and GPUs as files: a table for spreadsheets (CSV), and one for texts (Markdown).

Pure. Names of columns and words are English in every language, so that files stay alike.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

from app.core.version import VERSION
from app.core.words import Sentence, counted, translate
from app.services.comparison_export import csv_cell
from app.services.plan_rows import Worked
from app.services.plan_values import Band, Chosen, ComparedRow, Wanted
from app.services.plan_words import LIMITS, VERDICTS
from app.services.units import UNKNOWN, at_most, count, rate

_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
_BANDS: tuple[tuple[str, Callable[[ComparedRow], Band | None]], ...] = (
    ("first_token_s", lambda row: row.first_token),
    ("first_token_together_s", lambda row: row.first_token_together),
    ("tokens_per_s_each", lambda row: row.each),
    ("tokens_per_s_together", lambda row: row.together),
)
_COLUMNS = (
    "model",
    "quantisation",
    "is_estimate",
    "gpu",
    "gpu_memory_bytes",
    "verdict",
    "needed_bytes",
    "largest_context",
    "users_at_once",
)
_BEHIND_BANDS = (
    "tokens_per_s_at_tokens_in_cache",
    "limited_by",
    "context",
    "users",
    "prompt",
    "wanted_first_token_s",
    "wanted_tokens_per_s",
    "wanted_room",
    "layers_in_main_memory_allowed",
    "meets_need",
    "need",
    "caveats",
)
_MARKDOWN = (
    "Model",
    "GPU",
    "Fits?",
    "Largest context",
    "Users at once",
    "First token (ms)",
    "tok/s each, context full",
    "tok/s together, context full",
    "Limited by",
)
FULL = translate("PlanComparison", "Tok/s: with the context full, where they are slowest.")
LESS_CONTEXT = translate(
    "PlanComparison", "Where less context fits, all figures of the row are for the context that fits."
)

PREDICTED = translate(
    "PlanComparison",
    "Predicted by Tokenlight {version}, with the band in which it should lie. ≈ is an estimate: no file of it was read.",
    version=VERSION,
)


def plan_csv(worked: Worked) -> bytes:
    """Return a row for each model on each GPU, with the use that was planned for.

    UTF-8 with a byte order mark, which spreadsheets need; what is unknown is an empty cell.
    """
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\r\n")
    bands = [f"{name}{end}" for name, _of in _BANDS for end in ("", "_low", "_high")]
    writer.writerow((*_COLUMNS, *bands, *_BEHIND_BANDS))
    chosen, wanted = worked.chosen, worked.chosen.wanted
    for row in worked.rows:
        figures: list[object] = []
        for _name, of in _BANDS:
            band = of(row)
            figures += (
                (None, None, None)
                if band is None
                else (float(f"{each:.6g}") for each in (band.value, band.low, band.high))
            )
        cells = (
            row.model,
            row.quantisation,
            row.is_estimate,
            row.gpu,
            row.gpu_memory,
            row.verdict,
            row.needed,
            row.largest_context,
            row.most_users,
            *figures,
            row.context if row.each is not None else None,  # the context is full, which is where it is slowest
            row.limited_by,
            row.context,
            chosen.users,
            chosen.prompt,
            wanted.first_token_s,
            wanted.tokens_per_s,
            wanted.room,
            wanted.may_split,
            *((None, None) if row.need is None else (row.need.meets, row.need.words.english())),
            " ".join(said.english() for said in row.caveats) or None,
        )
        writer.writerow([csv_cell(cell) for cell in cells])
    return (_BOM + lines.getvalue()).encode("utf-8", "replace")


def plan_markdown(worked: Worked) -> bytes:
    """Return a table with the use that was planned for above it and how to read it below."""
    has_need = any(row.need is not None for row in worked.rows)
    heads = (*_MARKDOWN, *(("Need",) if has_need else ()))
    lines = [f"# {use_words(worked.chosen).english()}", ""]
    if has_need:
        lines += [" ".join(said.english() for said in wanted_words(worked.chosen.wanted)), ""]
    lines += [_line(heads), _line(["---"] * len(heads))]
    for row in worked.rows:
        cells = [
            row.shown_model,
            row.gpu,
            VERDICTS[row.verdict].english(),
            count(row.largest_context),
            count(row.most_users),
            band_words(row.first_token, 1000),
            band_words(row.each),
            band_words(row.together),
            LIMITS[row.limited_by].english() if row.limited_by is not None else UNKNOWN,
        ]
        if has_need:
            cells.append(row.need.words.english() if row.need is not None else UNKNOWN)
        lines.append(_line([_escaped(cell) for cell in cells]))
    lines += ["", FULL.english()]
    for note in dict.fromkeys(said.english() for said in (*besides_of(worked), *caveats_of(worked))):
        lines += ["", _escaped(note)]
    if any(row.verdict == "less_context" for row in worked.rows):
        lines += ["", LESS_CONTEXT.english()]
    lines += ["", PREDICTED.english()]
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def caveats_of(worked: Worked) -> tuple[Sentence, ...]:
    """Return why speeds of a comparison are to be doubted, each once."""
    said = {each.template: each for row in worked.rows for each in row.caveats}
    return tuple(said.values())


def besides_of(worked: Worked) -> tuple[Sentence, ...]:
    """Return what is judged by the processor of this machine in a comparison, each once."""
    return tuple({row.beside.english(): row.beside for row in worked.rows if row.beside is not None}.values())


def wanted_words(wanted: Wanted) -> tuple[Sentence, ...]:
    """Return what people want, a sentence each; nothing where nothing is wanted."""
    said: list[Sentence] = []
    if wanted.is_nothing:
        return ()
    if wanted.first_token_s is not None:
        seconds = f"{wanted.first_token_s:g}"
        said.append(translate("PlanComparison", "Wanted: first token within {seconds} s.", seconds=seconds))
    if wanted.tokens_per_s is not None:
        least = f"{wanted.tokens_per_s:g}"
        said.append(translate("PlanComparison", "Wanted: at least {rate} tok/s each.", rate=least))
    if wanted.room:
        said.append(translate("PlanComparison", "Wanted: room for this context, for so many at once."))
    if wanted.may_split:
        said.append(translate("PlanComparison", "Layers may lie in main memory."))
    return tuple(said)


def use_words(chosen: Chosen) -> Sentence:
    """Return in one line what was planned for."""
    context, users, prompt = chosen.context, chosen.users, chosen.prompt
    one = translate(
        "PlanComparison",
        "Context of {context} tokens, one conversation, prompt of {prompt} tokens",
        context=context,
        prompt=prompt,
    )
    several = translate(
        "PlanComparison",
        "Context of {context} tokens, {users} conversations at once, prompt of {prompt} tokens",
        context=context,
        users=users,
        prompt=prompt,
    )
    if prompt == 1:
        one = translate(
            "PlanComparison", "Context of {context} tokens, one conversation, prompt of 1 token", context=context
        )
        several = translate(
            "PlanComparison",
            "Context of {context} tokens, {users} conversations at once, prompt of 1 token",
            context=context,
            users=users,
        )
    return counted(users, one, several)


def band_words(band: Band | None, times: float = 1.0) -> str:
    """Return a figure, in a unit so many times smaller, with its band."""
    if band is None:
        return UNKNOWN
    return f"{at_most(band.is_most)}{rate(band.value * times)} ({rate(band.low * times)}–{rate(band.high * times)})"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Return text that is one cell: no line breaks, and no mark that ends it or is read as markup."""
    flat = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in "\\|`*_[]<>" else sign for sign in flat)
