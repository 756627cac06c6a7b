"""Makes of a conversation that came out of a file one that can be kept here: checked, in its ranges, with ids of its own.

Pure. Files come from anywhere: what they say is taken for nothing more than text and numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from string import Formatter

from msgspec import msgpack
from msgspec.structs import replace

from app.core.chat import clean_text
from app.core.commands import SettingsChange
from app.core.comparison import Comparison
from app.core.conversation import LONGEST_TITLE, Message, StoredAnswer
from app.core.errors import UserError
from app.core.sampling import MAX_SEED
from app.core.whole_chat import MOST_IDS, WholeAnswer, WholeChat, WholeFile, WholePrompt, WholeStretch
from app.core.words import Sentence, translate
from app.services.chat_folders import LONGEST_NAME

_LATEST_MS = 253_000_000_000_000
"""A moment of the year 9987: later ones are no date."""
_MOST_TOKENS = 1 << 31
_TOKEN_BYTES = 4
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
_HOW = re.compile(r"[,]?(\.[0-9])?[dfgs]?")
"""How a number may be written; a width could ask for more text than memory holds."""


def checked(chat: WholeChat) -> WholeChat:
    """Return the conversation as it may be kept, its ids as they were; raise `UserError` where its parts do not fit."""
    if chat.ids > MOST_IDS:
        raise _misfit(translate("Importing", "It has more than {most} messages.", most=MOST_IDS))
    keys = list(_ids(chat))
    known = {message.id: message for message in chat.messages}
    if len(set(keys)) != len(keys):
        raise _misfit(translate("Importing", "Two of its parts have the same number."))
    if any(each.parent in known and (each.parent or 0) >= each.id for each in chat.messages):
        raise _misfit(translate("Importing", "A message of it stands before the one that it answers."))
    answers = tuple(_answer(each, chat, known) for each in chat.answers)
    if len({each.answer.message for each in answers}) != len(answers):
        raise _misfit(translate("Importing", "A message of it was written twice."))
    head = chat.head
    title = clean_text(" ".join(head.title.split()))[:LONGEST_TITLE]
    return WholeChat(
        replace(
            head,
            title=title,
            created_ms=_moment(head.created_ms),
            changed_ms=_moment(head.changed_ms),
            settings=head.settings.validated(),
            system_prompt=clean_text(head.system_prompt),
            leaf=head.leaf if head.leaf in known else None,
            folder=clean_text(" ".join(head.folder.split()))[:LONGEST_NAME],
            deleted_ms=None,
        ),
        tuple(sorted((_message(each, head.id, known) for each in chat.messages), key=lambda each: each.id)),
        tuple(sorted(answers, key=lambda each: each.answer.message)),
        tuple(_comparison(each, head.id, known) for each in chat.comparisons),
        tuple(_file(each, known) for each in chat.files),
    )


def renumbered(chat: WholeChat, first: int) -> WholeChat:
    """Return a checked conversation whose ids are `first` and those behind it, in the order that they had."""
    new: dict[int | None, int | None] = {None: None}
    for place, key in enumerate(sorted(_ids(chat))):
        new[key] = first + place

    def of(key: int) -> int:
        return new[key] or 0

    head = replace(chat.head, id=of(chat.head.id), leaf=new[chat.head.leaf])
    messages = (
        replace(each, id=of(each.id), conversation=head.id, parent=new[each.parent]) for each in chat.messages
    )
    answers = (
        replace(
            each,
            answer=replace(each.answer, message=of(each.answer.message), comparison=new[each.answer.comparison]),
            prompt=each.prompt and replace(each.prompt, base=new[each.prompt.base]),
        )
        for each in chat.answers
    )
    comparisons = (
        replace(
            each,
            id=of(each.id),
            conversation=head.id,
            parent=new[each.parent],
            lanes=tuple(map(of, each.lanes)),
        )
        for each in chat.comparisons
    )
    files = tuple(replace(each, message=of(each.message)) for each in chat.files)
    return WholeChat(head, tuple(messages), tuple(answers), tuple(comparisons), files)


def contents(chat: WholeChat) -> bytes:
    """Return a digest of what was said in a conversation, in which order and branch, whatever its ids are."""
    places = {message.id: place for place, message in enumerate(chat.messages)}
    said = [(each.role, each.text, places.get(each.parent or 0)) for each in chat.messages]
    return sha256(msgpack.encode((chat.head.system_prompt, said))).digest()


def _ids(chat: WholeChat) -> Iterator[int]:
    yield chat.head.id
    yield from (message.id for message in chat.messages)
    yield from (comparison.id for comparison in chat.comparisons)


def _misfit(sentence: Sentence) -> UserError:
    return UserError(sentence)


def _moment(ms: int) -> int:
    return min(max(ms, 0), _LATEST_MS)


def _message(message: Message, conversation: int, known: dict[int, Message]) -> Message:
    return replace(
        message,
        conversation=conversation,
        parent=message.parent if message.parent in known else None,
        text=clean_text(message.text),
        created_ms=_moment(message.created_ms),
        deleted_ms=None,
    )


def _answer(whole: WholeAnswer, chat: WholeChat, known: dict[int, Message]) -> WholeAnswer:
    answer = whole.answer
    if answer.message not in known or known[answer.message].role != "assistant":
        raise _misfit(translate("Importing", "It says how a message was written that is no answer of it."))
    is_lane = any(answer.message in each.lanes for each in chat.comparisons if each.id == answer.comparison)
    prompt = whole.prompt
    if prompt is not None:
        _check_prompt(prompt, answer.message, {each.answer.message for each in chat.answers})
    made = replace(
        answer,
        state="interrupted" if answer.state == "open" else answer.state,
        model_name=clean_text(answer.model_name),
        tokenizer=clean_text(answer.tokenizer),
        ids=b"",
        settings=tuple(SettingsChange(each.token, each.settings.validated()) for each in answer.settings),
        seed=answer.seed if answer.seed is None or 0 <= answer.seed <= MAX_SEED else None,
        reason=answer.reason and _harmless(answer.reason),
        notes=tuple(map(_harmless, answer.notes)),
        comparison=answer.comparison if is_lane else None,
        lane=_lane(answer, chat.comparisons),
    )
    return WholeAnswer(made, tuple(map(_stretch, whole.stretches)), prompt)


def _lane(answer: StoredAnswer, comparisons: Iterable[Comparison]) -> int | None:
    most = max((len(each.lanes) for each in comparisons if each.id == answer.comparison), default=_MOST_TOKENS)
    return answer.lane if answer.lane is not None and 0 <= answer.lane < most else None


def _check_prompt(prompt: WholePrompt, message: int, answers: set[int]) -> None:
    is_built = prompt.base is None or (prompt.base in answers and prompt.base < message)
    counts = (prompt.shared, prompt.shared_spans, *prompt.dropped)
    fits = len(prompt.ids) % _TOKEN_BYTES == 0 and all(0 <= each < _MOST_TOKENS for each in counts)
    if not is_built or not fits:
        raise _misfit(translate("Importing", "The prompt of an answer is not what it builds on."))


def _stretch(stretch: WholeStretch) -> WholeStretch:
    if len(stretch.ids) % _TOKEN_BYTES:
        raise _misfit(translate("Importing", "An answer of it has half a token."))
    return replace(stretch, text=clean_text(stretch.text))


def _comparison(comparison: Comparison, conversation: int, known: dict[int, Message]) -> Comparison:
    if not set(comparison.lanes) <= known.keys():
        raise _misfit(translate("Importing", "A comparison of it has a lane that is not there."))
    parent = comparison.parent if comparison.parent in known else None
    moment = _moment(comparison.created_ms)
    return replace(comparison, conversation=conversation, parent=parent, created_ms=moment)


def _file(file: WholeFile, known: dict[int, Message]) -> WholeFile:
    if file.message not in known:
        raise _misfit(translate("Importing", "A file of it belongs to no message."))
    tokens = file.tokens if file.tokens is None or 0 <= file.tokens < _MOST_TOKENS else None
    return replace(file, name=clean_text(file.name), text=clean_text(file.text), tokens=tokens)


def _harmless(sentence: Sentence) -> Sentence:
    """Return a sentence whose template fills in plain values alone; of any other the text stays."""
    try:
        fields = list(Formatter().parse(sentence.template))
    except ValueError:
        fields = [("", "!", None, None)]
    for _, name, how, conversion in fields:
        if name is None:
            continue
        is_plain = _FIELD.fullmatch(name) is not None and name in sentence.values
        value = sentence.values.get(name)
        written = not how or (_HOW.fullmatch(how) is not None and not isinstance(value, str))
        if not is_plain or not written or conversion:
            return translate("Importing", "{text}", text=clean_text(sentence.template))
    values = {name: clean_text(each) if isinstance(each, str) else each for name, each in sentence.values.items()}
    return Sentence(clean_text(sentence.context), clean_text(sentence.template), values)
