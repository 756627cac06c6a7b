"""The title that a chat gets by its first question, until people give it another one. Pure.

The first sentence that is no greeting, without the signs of Markdown, cut at the end of a clause or a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

LONGEST = 50
"""Columns: a letter of East Asian writing takes two."""
LEAST_CLAUSE = 20
"""Columns of a clause that can stand for its sentence."""
_LOOKED_AT = 4000
"""Characters of a question."""

_FENCE = re.compile(r"^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1[`~]*\s*$|\Z)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_LINE_START = re.compile(r"^\s*(?:(?:#{1,6}|>|[-*+•]|\d{1,3}[.)])\s+)+(?:\[[ xX]\]\s+)?")
_RULE = re.compile(r"^\s*(?:[-*_=`~]\s*){3,}\S*\s*$")
_EMPHASIS = re.compile(r"(\*{1,3}|~~|(?<!\w)_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)")
_CODE = re.compile(r"(`+)(.+?)\1")
_END = re.compile(r"[。！？｡]+[”’」』）]*|[.!?…؟।]+[\"'”’»)]*(?=\s|$)")
_SHORT = frozenset(
    [
        "e.g",
        "i.e",
        "z.b",
        "d.h",
        "u.a",
        "dr",
        "mr",
        "mrs",
        "ms",
        "prof",
        "st",
        "vs",
        "ca",
        "bzw",
        "nr",
        "no",
        "sr",
        "sra",
        "p.ex",
        "etc",
        "fig",
        "p",
        "vol",
        "approx",
        "inc",
    ]
)
"""What a full stop behind ends no sentence."""
_CLAUSE = re.compile(r"[,;:，；：、،](?=\s|[^\x00-\x7f])|\s[–—-]\s")
_AROUND = " \t\"'“”‘’«»„‚「」『』()[]{}*_#>~`-–—,;:.。，、；：…"
_GREETINGS = frozenset(
    """
    hi|hello|hey|hiya|howdy|greetings|good morning|good afternoon|good evening|good day|yo|hi there|hello there|hey there
    |thanks|thank you|please|ok|okay|hallo|hi zusammen|hallo zusammen|guten tag|guten morgen|guten abend|moin|servus|grüezi
    |grüß gott|danke|bitte|bonjour|bonsoir|salut|coucou|merci|hola|buenos días|buenas tardes|buenas noches|buenas|gracias
    |ciao|buongiorno|buonasera|salve|grazie|olá|oi|bom dia|boa tarde|boa noite|obrigado|obrigada|hoi|goedendag|goedemorgen
    |hej|hejsan|god morgon|god dag|hei|moi|terve|cześć|dzień dobry|ahoj|dobrý den|привет|здравствуйте|добрый день|привіт
    |merhaba|selam|günaydın|γεια|γεια σου|καλημέρα|שלום|مرحبا|السلام عليكم|नमस्ते|你好|您好|嗨|早上好|晚上好|大家好|谢谢
    |こんにちは|おはよう|おはようございます|こんばんは|はじめまして|안녕|안녕하세요|สวัสดี|สวัสดีครับ|สวัสดีค่ะ|xin chào|halo|selamat pagi
    """.replace("\n", "")
    .replace("    ", "")
    .split("|")
)


def suggested_title(question: str) -> str:
    """Return the title that a chat gets by a question; empty where that says nothing."""
    text = question[:_LOOKED_AT]
    lines = _lines(_FENCE.sub("\n", text)) or _lines(text)
    sentences = [sentence for line in lines for sentence in _sentences(line)]
    for place, sentence in enumerate(sentences):
        rest = _without_greeting(sentence)
        if rest:
            is_begun_anew = place > 0 or rest != sentence
            return _cut(f"{rest[:1].upper()}{rest[1:]}" if is_begun_anew else rest)
    return _cut(sentences[0]) if sentences else ""


def is_greeting(question: str) -> bool:
    """Return whether a question says no more than good day."""
    sentences = [sentence for line in _lines(question[:_LOOKED_AT]) for sentence in _sentences(line)]
    return not any(map(_without_greeting, sentences))


def next_title(title: str, first: str, question: str) -> str:
    """Return the title of a chat after a further question: another one only where it has that of a mere greeting.

    `first` is the question that the chat began with. A title that people gave stays whatever it is.
    """
    if title == suggested_title(first) and is_greeting(first) and not is_greeting(question):
        return suggested_title(question) or title
    return title


def _lines(text: str) -> list[str]:
    """Return the lines that say something, without the signs of Markdown."""
    lines = [_plain(line) for line in text.splitlines() if not _RULE.match(line)]
    return [line for line in lines if any(map(str.isalnum, line))] or [line for line in map(str.strip, lines) if line]


def _plain(line: str) -> str:
    line = _LINE_START.sub("", _LINK.sub(r"\1", line))
    line = _CODE.sub(r"\2", line)
    for _ in range(3):
        line = _EMPHASIS.sub(r"\2", line)
    return " ".join(line.split())


def _sentences(line: str) -> Iterator[str]:
    """Yield the sentences of a line, each with its end."""
    start = 0
    for end in _END.finditer(line):
        word = line[start : end.start()].rpartition(" ")[2].lower().lstrip("(\"'“„")
        if end[0] == "." and (word in _SHORT or (len(word) == 1 and word.isalpha())):
            continue
        if any(map(str.isalnum, line[start : end.end()])):
            yield line[start : end.end()].strip()
            start = end.end()
    if rest := line[start:].strip():
        yield rest


def _without_greeting(sentence: str) -> str:
    """Return a sentence without the greeting that it begins with; empty where it is no more than one."""
    while True:
        clause = _CLAUSE.search(sentence)
        first = sentence[: clause.start()] if clause is not None else sentence
        if _bare(first) not in _GREETINGS:
            return sentence
        if clause is None:
            return ""
        sentence = sentence[clause.end() :].strip()


def _bare(text: str) -> str:
    return " ".join(text.casefold().strip(f"{_AROUND}!?¡¿！？؟।").split())


def _cut(sentence: str) -> str:
    """Return a sentence as a title: a clause of it or words of it where it is longer than one."""
    whole = sentence.strip().rstrip(" .,;:。，、；：").strip()
    if _columns(whole) <= LONGEST:
        return whole or sentence.strip()
    clauses = [whole[: end.start()].rstrip() for end in _CLAUSE.finditer(whole)]
    fits = [clause for clause in clauses if LEAST_CLAUSE <= _columns(clause) <= LONGEST]
    if fits:
        return fits[-1]
    end, columns = 0, 0
    while columns + _columns(whole[end]) <= LONGEST:
        columns += _columns(whole[end])
        end += 1
    while end > 1 and (
        unicodedata.combining(whole[end]) or whole[end] in "\u200d\ufe0f" or whole[end - 1] == "\u200d"
    ):
        end -= 1  # no letter is parted from its marks
    cut = whole[:end]
    if not whole[end].isspace():
        words = cut.rpartition(" ")[0]
        cut = words if _columns(words) >= LONGEST // 2 else cut
    return f"{cut.rstrip(' ,;:.-–—、，')}…"


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
