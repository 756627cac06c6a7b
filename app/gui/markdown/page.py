"""Conversations as one page that can be handed out: no script, nothing from elsewhere, light or dark as its reader has it.

Needs no window and no application, so that the command line can make it, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape

from PySide6.QtCore import QCoreApplication, QLocale

from app.core.attached_files import as_markdown
from app.core.conversation import Conversation, Message, Pieces
from app.core.version import VERSION
from app.core.whole_chat import WholeChat
from app.gui.markdown.document import Document
from app.gui.markdown.links import is_link
from app.gui.markdown.values import Block, Code, Formula, Paragraph, Rule, Run, Runs, Table
from app.services.chat_markdown import authors, day, parted_answers, shown_messages
from app.system.resources import Resources

translate = QCoreApplication.translate
_COLOURS = ("window", "surface", "border", "text", "muted")
_ALIGNED = {"left": "start", "centre": "center", "right": "end"}
_STYLE = """
:root { color-scheme: light dark; LIGHT }
@media (prefers-color-scheme: dark) { :root { DARK } }
body { background: var(--window); color: var(--text); font: 16px/1.55 system-ui, sans-serif; margin: 0; }
main { max-width: 800px; margin: 0 auto; padding: 24px; overflow-wrap: anywhere; }
h1 { font-size: 24px; margin-top: 48px; } h2 { font-size: 14px; color: var(--muted); margin: 28px 0 4px; }
h3, h4, h5, h6 { margin: 16px 0 4px; } p { margin: 8px 0; white-space: pre-wrap; } .muted { color: var(--muted); font-size: 14px; }
.user, .system { background: var(--surface); border: 1px solid var(--border); border-radius: 10px; padding: 4px 16px; }
blockquote { border-inline-start: 3px solid var(--border); margin: 0; padding-inline-start: 12px; }
.item { margin-inline-start: 24px; } .marker { margin-inline-start: -20px; }
pre { background: var(--surface); border: 1px solid var(--border); border-radius: 8px; padding: 10px; overflow-x: auto; }
code { font-family: ui-monospace, monospace; font-size: 0.92em; } .wide { overflow-x: auto; }
table { border-collapse: collapse; } th, td { border: 1px solid var(--border); padding: 4px 8px; vertical-align: top; }
details { margin: 8px 0; } summary { color: var(--muted); cursor: pointer; font-size: 14px; }
.thought { border-inline-start: 3px solid var(--border); color: var(--muted); margin-top: 8px; padding-inline-start: 12px; }
a { color: inherit; } hr { border: 0; border-top: 1px solid var(--border); }
"""


class PageWriter:
    """Writes the branch that is shown of each conversation, below a list of their titles where there are several."""

    tokenizers: tuple[str, ...] = ()

    def __init__(self, resources: Resources) -> None:
        looks = [json.loads(resources.read_text(f"themes/{name}.json")) for name in ("light", "dark")]
        both = [" ".join(f"--{name}: {look[name]};" for name in _COLOURS) for look in looks]
        self._style = _STYLE.replace("LIGHT", both[0]).replace("DARK", both[1])

    def begin(self, heads: Sequence[Conversation]) -> bytes:
        """Return the head of the page and the list of titles."""
        title = _title(heads[0].title) if len(heads) == 1 else translate("ChatPage", "Conversations")
        language = QLocale().name().replace("_", "-")
        parts = [
            f'<!DOCTYPE html>\n<html lang="{"en" if language in ("", "C", "POSIX") else escape(language)}"><head>',
            '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{self._style}</style></head><body><main>",
        ]
        if len(heads) > 1:
            rows = "".join(f'<li><a href="#c{head.id}">{escape(_title(head.title))}</a></li>' for head in heads)
            parts.append(f"<nav><h1>{escape(title)}</h1><ul>{rows}</ul></nav>")
        return _bytes(parts)

    def add(self, chat: WholeChat) -> bytes:
        """Return a conversation."""
        head, names = chat.head, authors(chat)
        parts = [f'<article id="c{head.id}"><h1 dir="auto">{escape(_title(head.title))}</h1>']
        parts.append(f'<p class="muted">{escape(day(head.created_ms))}</p>')
        if head.system_prompt:
            parts += [_heading(translate("ChatPage", "System prompt")), _said(head.system_prompt, "system")]
        answers = parted_answers(chat)
        for message in shown_messages(chat):
            thought, text = answers.get(message.id) or ("", as_markdown(message.text))
            parts.append(_heading(_author(message, names)))
            parts += [_folded(thought)] if thought else []
            parts.append(_said(text, "user" if message.role == "user" else "answer"))
        return _bytes([*parts, "</article>"])

    def begin_vocabularies(self) -> bytes:
        """Return nothing: no page has tokens."""
        return b""

    def add_vocabulary(self, _pieces: Pieces) -> bytes:
        """Return nothing, as above."""
        return b""

    def end(self) -> bytes:
        """Return the end of the page."""
        made = translate("ChatPage", "Made with {program}").format(program=f"Tokenlight {VERSION}")
        return _bytes([f'<p class="muted">{escape(made)}</p></main></body></html>'])


def _bytes(parts: Sequence[str]) -> bytes:
    return "".join(f"{part}\n" for part in parts).encode("utf-8", "replace")


def _title(title: str) -> str:
    return title or translate("ChatPage", "Conversation")


def _heading(words: str) -> str:
    return f"<h2>{escape(words)}</h2>"


def _author(message: Message, names: dict[int, str]) -> str:
    if message.role == "user":
        return translate("ChatPage", "You")
    return names.get(message.id) or translate("ChatPage", "Model")


def _folded(thought: str) -> str:
    """Return the thinking before an answer, which its reader opens."""
    words = escape(translate("ChatPage", "Thinking"))
    return f"<details><summary>{words}</summary>{_said(thought, 'thought')}</details>"


def _said(text: str, kind: str) -> str:
    document = Document(text)
    document.finish()
    return f'<div class="{kind}" dir="auto">{"".join(map(_framed, document.blocks))}</div>'


def _framed(block: Block) -> str:
    """Return a block inside of the lists and quotes that it stands in."""
    place = block.place
    opened = "".join("<blockquote>" if frame == "quote" else '<div class="item">' for frame in place.frames)
    closed = "".join("</blockquote>" if frame == "quote" else "</div>" for frame in reversed(place.frames))
    marker = f'<span class="marker">{escape(place.marker)} </span>' if place.marker else ""
    return opened + _block(block, marker) + closed


def _block(block: Block, marker: str) -> str:
    match block:
        case Paragraph(runs, level):
            name = f"h{min(level + 2, 6)}" if level else "p"
            return f"<{name}>{marker}{_runs(runs)}</{name}>"
        case Code(code):
            return f"{marker}<pre><code>{escape(code)}</code></pre>"
        case Table():
            return f'{marker}<div class="wide"><table>{"".join(_rows(block))}</table></div>'
        case Rule():
            return f"{marker}<hr>"
        case Formula(_, source):
            return f"<p>{marker}<code>{escape(source)}</code></p>"


def _rows(table: Table) -> Iterator[str]:
    for number, row in enumerate(table.rows):
        cells = []
        for column, cell in enumerate(row):
            align = table.aligns[column] if column < len(table.aligns) else "left"
            name = "td" if number else "th"
            cells.append(f'<{name} style="text-align: {_ALIGNED[align]}">{_runs(cell)}</{name}>')
        yield f"<tr>{''.join(cells)}</tr>"


def _runs(runs: Runs) -> str:
    return "".join(map(_run, runs))


def _run(run: Run) -> str:
    written = escape(run.text)
    marks = (
        (run.code or bool(run.formula), "code"),
        (run.bold, "b"),
        (run.italic, "i"),
        (run.struck, "s"),
        (run.raised, "sup"),
    )
    for is_so, name in marks:
        if is_so:
            written = f"<{name}>{written}</{name}>"
    if is_link(run.target):
        written = f'<a href="{escape(run.target)}" rel="noreferrer">{written}</a>'
    return written
