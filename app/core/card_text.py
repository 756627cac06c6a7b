"""A model's card as text that can be shown: what others wrote in Markdown, without what would load, run or deceive.

Everything takes time in proportion to the text, whatever stands in it. Code stays as it is.
"""

from __future__ import annotations

import re

from app.core.hub_page import HubLink
from app.core.printable import REPLACEMENT, printable

MOST_CHARACTERS = 200_000
MOST_LINKS = 100
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
"""Lower case without changing a text's length."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HIDDEN = (("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>"))
"""What stands between these is for no reader."""
_IMAGE = re.compile(r'!\[([^\[\]\n]{0,300})\]\([^()\s]{0,2000}(?:\s{1,20}"[^"\n]{0,300}")?\)')
_LINK = re.compile(
    r'(?<!!)\[([^\[\]\n]{0,500})\]\(<?((?:[^()\s<>]|\([^()\s<>]{0,200}\)){0,2000})>?(?:\s{1,20}"[^"\n]{0,300}")?\)'
)
_DEFINITION = re.compile(
    r"^ {0,3}\[([^\[\]\n^][^\[\]\n]{0,300})\]: {0,20}<?([^\s<>]{1,2000})>?"
    r"(?: {1,20}(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|\([^()\n]{0,300}\)))? {0,20}$\n?",
    re.MULTILINE,
)
"""Where a link leads that is written `[words][name]`."""
_REFERENCE = re.compile(r"(!?)\[([^\[\]\n]{1,500})\] ?\[([^\[\]\n]{0,300})\](?!\()")
_OTHER_LINK = re.compile(r"\]\((?!https?://)", re.IGNORECASE)
_ANCHOR = re.compile(r"<a\s([^<>]{0,2000})>([^<>]{0,500})</a>", re.IGNORECASE)
_TARGET = re.compile(r"href\s?=\s?[\"']?([^\"'\s]{1,2000})", re.IGNORECASE)
_BARE = re.compile(r"<(https?://[^<>\s]{1,2000})>", re.IGNORECASE)
_BREAK = re.compile(r"<br\s?/?>", re.IGNORECASE)
_ELEMENTS = (
    "a|abbr|address|area|article|aside|audio|b|base|bdi|bdo|big|blockquote|body|br|button|canvas|caption"
    "|center|cite|code|col|colgroup|data|datalist|dd|del|details|dfn|dialog|div|dl|dt|em|embed|fieldset"
    "|figcaption|figure|font|footer|form|frame|frameset|g|h1|h2|h3|h4|h5|h6|head|header|hgroup|hr|html|i"
    "|iframe|img|input|ins|kbd|label|legend|li|link|main|map|mark|marquee|math|menu|meta|meter|nav|nobr"
    "|noscript|object|ol|optgroup|option|output|p|param|path|picture|pre|progress|q|rp|rt|ruby|s|samp|script"
    "|search|section|select|slot|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td"
    "|template|textarea|tfoot|th|thead|time|title|tr|track|tt|u|ul|var|video|wbr"
)
"""What HTML knows; anything else between < and > is the authors' own text, such as a type in angle brackets."""
_TAG = re.compile(rf"<(?:!|/?(?:{_ELEMENTS})(?=[\s/>]))[^<>]{{0,2000}}>", re.IGNORECASE)
_TICKS = re.compile(r"`+")
_BEGINS = re.compile(r"\s*(?:$|[-*+#>|]|\d{1,9}[.)])")
"""What a line begins with that goes on with no paragraph: nothing, an item of a list, a heading, a quotation, a table."""
_GUARD = str.maketrans("<>", "\x01\x02")
_UNGUARD = str.maketrans("\x01\x02", "<>")
"""Angle brackets in code, while tags are taken out: no control character is left in a text."""
_ADDRESS = re.compile(r"https?://[^\s<>()\[\]\"'`|]{1,2000}", re.IGNORECASE)
_WEB = re.compile(r"https?://[\w.-]{1,255}(?::\d{1,5})?(?:[/?#][^\\]*)?", re.ASCII | re.IGNORECASE)
_BLANK = re.compile(r"\n{3,}")


def card_of(written: str) -> tuple[str, tuple[HubLink, ...]]:
    """Return the text of a card and its links, each address once."""
    text = written[:MOST_CHARACTERS].replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    # first of all: what is taken out later could join the two halves of something
    text = "\n".join(printable(line).replace(REPLACEMENT, "") for line in text.split("\n"))
    links: dict[str, HubLink] = {}
    pieces = _parts(_without_head(text))
    named = {
        _name(found[1]): found[2] for is_code, part in pieces if not is_code for found in _DEFINITION.finditer(part)
    }
    parts = [part if is_code else _plain(_inline(part, named), links) for is_code, part in pieces]
    return _BLANK.sub("\n\n", "".join(parts)).strip(), tuple(links.values())[:MOST_LINKS]


def is_web_address(address: str) -> bool:
    """Whether a link leads to a web page, and shows where: no other scheme, no name of a user before the host."""
    found = _WEB.fullmatch(address)
    return found is not None and address.isascii() and address.isprintable()


def _host(address: str) -> str:
    return re.split(r"[/?#]", address.partition("://")[2], maxsplit=1)[0].casefold()


def _without_head(text: str) -> str:
    """Drop the facts for machines that stand before the text."""
    if not text.startswith("---\n"):
        return text
    end = text.find("\n---\n", 3)
    if end >= 0:
        return text[end + len("\n---\n") :]
    return "" if text.rstrip().endswith("\n---") else text


def _parts(text: str) -> list[tuple[bool, str]]:
    """Return the text in pieces, each with whether it is code; a block that does not end is code to the end."""
    parts: list[tuple[bool, list[str]]] = [(False, [])]
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            parts[-1][1].append(line)
            if mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
                parts.append((False, []))
        elif mark is not None:
            fence = mark[1]
            parts.append((True, [line]))
        else:
            parts[-1][1].append(line)
    return [(is_code, "".join(lines)) for is_code, lines in parts]


def _inline(text: str, named: dict[str, str]) -> str:
    """Write links and pictures with their addresses in place of names; what names an address stands nowhere else."""

    def inline(found: re.Match[str]) -> str:
        address = named.get(_name(found[3] or found[2]), "")
        return f"{found[1]}[{found[2]}]({address})" if address else found[0]

    return _REFERENCE.sub(inline, _DEFINITION.sub("", text))


def _name(written: str) -> str:
    return " ".join(written.split()).casefold()


def _plain(text: str, links: dict[str, HubLink]) -> str:
    for begin, end in _HIDDEN:
        text = _without(text, begin, end)
    text = _BARE.sub(r"\1", _IMAGE.sub(r"\1", _guarded(text)))
    text = _ANCHOR.sub(_anchor, text)
    text = _TAG.sub("", _BREAK.sub("\n", text)).translate(_UNGUARD)

    def link(found: re.Match[str]) -> str:
        words, address = " ".join(found[1].split()), found[2]
        if not is_web_address(address):
            return words
        words = address if any(_host(each[0]) != _host(address) for each in _ADDRESS.finditer(words)) else words
        links.setdefault(address, HubLink(printable(words) or address, address))
        return f"[{words or address}]({address})"

    # however else something is defined: without its colon it defines nothing
    text = _OTHER_LINK.sub("] (", _LINK.sub(link, text)).replace("]:", "] :")
    for found in _ADDRESS.finditer(text):
        address = found[0].rstrip(".,;:!?*_")
        if is_web_address(address):
            links.setdefault(address, HubLink(address, address))
    return text


def _anchor(found: re.Match[str]) -> str:
    target = _TARGET.search(found[1])
    return f"[{found[2]}]({target[1]})" if target is not None else found[2]


def _guarded(text: str) -> str:
    """Return a text of the same length whose code within paragraphs has other characters for its angle brackets."""
    paragraphs: list[list[str]] = [[]]
    for line in text.splitlines(keepends=True):
        if _BEGINS.match(line):  # code of one line goes on in the next, but not in another paragraph
            paragraphs.append([])
        paragraphs[-1].append(line)
    return "".join(_guarded_paragraph("".join(lines)) for lines in paragraphs)


def _guarded_paragraph(text: str) -> str:
    if "`" not in text:
        return text
    marks = [found.span() for found in _TICKS.finditer(text)]
    ends: list[tuple[int, int] | None] = []
    """Of each mark the next one of its length, which ends the code that it begins."""
    last: dict[int, tuple[int, int]] = {}
    for start, end in reversed(marks):
        ends.append(last.get(end - start))
        last[end - start] = (start, end)
    kept, at = [], 0
    for (start, end), closing in zip(marks, reversed(ends), strict=True):
        if start >= at and closing is not None:
            kept += [text[at:end], text[end : closing[0]].translate(_GUARD), text[closing[0] : closing[1]]]
            at = closing[1]
    return "".join([*kept, text[at:]])


def _without(text: str, begin: str, end: str) -> str:
    kept, at, lower = [], 0, text.translate(_LOWER)
    guarded = _guarded(lower)
    while (start := guarded.find(begin, at)) >= 0:
        kept.append(text[at:start])
        stop = lower.find(end, start)
        if stop < 0:
            return "".join(kept)
        at = stop + len(end)
    return "".join([*kept, text[at:]])
