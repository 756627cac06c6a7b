"""Stage 2: a prompt becomes token ids, and spans that say which tokens are whose.

Answers go in as the ids that they were sampled as, where the prompt holds their text unchanged. People's text never
becomes control tokens: a stretch between answers is tokenised in one call, and a text that names a control token is
broken in two there. Knows nothing of what the model does with the ids.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, assert_never

from app.core.attached_files import frames_in
from app.core.chat import ChatPrompt, Prompt, PromptMessage, PromptSpan, TextPrompt, TokenPrompt, clean_text
from app.core.errors import ExitCode, UserError
from app.core.thinking_tags import TagPair, ends_inside, tag_pairs
from app.core.words import Sentence, translate
from app.engine.answer_ids import end_spliced, ids_of, own_ids, spliced
from app.engine.backend import Vocabulary
from app.engine.control_texts import texts_to_break
from app.engine.deadline import Deadline
from app.engine.message_layout import MessageSpan
from app.engine.message_thoughts import parts_of
from app.engine.prompt_pieces import PromptPieces
from app.engine.prompt_size import refuse_hopeless
from app.engine.special_texts import Occurrence, SpecialTexts
from app.engine.template import NOTHING, Rendered, render

Part = Literal["template", "system", "history", "thinking", "files", "prompt", "answer"]


class TemplateMissing(UserError):
    """A conversation for a model without a chat template, when none was chosen."""

    def __init__(self) -> None:
        super().__init__(
            translate(
                "Prompt",
                "This model's file has no chat template, so it may be a base model that was never taught to chat. "
                "Choose a chat template for it (ChatML, Llama 2, Llama 3, Mistral, Gemma, Alpaca, Vicuna or plain text).",
            )
        )


@dataclass(frozen=True)
class Prepared:
    """A prompt as the model gets it."""

    text: str
    ids: list[int]
    spans: tuple[PromptSpan, ...]
    notes: tuple[Sentence, ...] = ()
    thinking_opened: bool = False
    """Whether it ends inside thinking, before an open answer at its end."""
    template_ns: int | None = field(default=None, compare=False)
    """How long the chat template took; None without one."""


def prepare(
    prompt: Prompt,
    vocabulary: Vocabulary,
    *,
    extra: Mapping[str, object] = NOTHING,
    deadline: Deadline | None = None,
    cells: int | None = None,
) -> Prepared:
    """Return a prompt's text, token ids and spans; `extra` are further variables for the chat template, `cells` how
    many tokens the context holds, where that is known.

    Raises `TemplateMissing`, `TemplateError`, or `UserError` for a prompt that comes to nothing.
    """
    match prompt:
        case ChatPrompt():
            prepared = _chat(prompt, vocabulary, extra, deadline, cells)
        case TextPrompt():
            prepared = _plain_text(prompt, vocabulary)
        case TokenPrompt():
            prepared = _given_ids(prompt, vocabulary)
        case _:
            assert_never(prompt)
    if not prepared.ids:
        raise _nothing_to_send()
    return prepared


def _chat(
    prompt: ChatPrompt,
    vocabulary: Vocabulary,
    extra: Mapping[str, object],
    deadline: Deadline | None,
    cells: int | None,
) -> Prepared:
    messages = [PromptMessage(each.role, clean_text(each.text), each.ids) for each in prompt.messages]
    source = prompt.template if prompt.template is not None else vocabulary.chat_template()
    if source is None:
        raise TemplateMissing
    if not messages:
        raise _nothing_to_send()
    specials = SpecialTexts(vocabulary.special_texts())
    is_open = prompt.continue_last and messages[-1].role == "assistant"
    began_ns = time.perf_counter_ns()
    rendered = render(
        source,
        messages,
        bos=_token_text(vocabulary.bos, vocabulary, specials),
        eos=_token_text(vocabulary.eos, vocabulary, specials),
        continue_last=is_open,
        extra=extra,
        deadline=deadline,
    )
    template_ns = time.perf_counter_ns() - began_ns
    if cells is not None:
        refuse_hopeless(rendered.text, specials, cells)
    pieces = PromptPieces(vocabulary, specials)
    spans = _tokenize(rendered, messages, pieces, vocabulary, texts_to_break(rendered, messages, specials))
    places = list(_places(rendered, spans, messages, pieces, tag_pairs(source), is_open=is_open))
    ids, shift = _with_one_bos(pieces.ids, places[0].start if places else len(pieces.ids), vocabulary)
    return Prepared(
        rendered.text,
        ids,
        _filled(places, shift, len(ids)),
        rendered.notes,
        thinking_opened=ends_inside(_template_end(rendered, is_open=is_open), tag_pairs(source)),
        template_ns=template_ns,
    )


def _template_end(rendered: Rendered, *, is_open: bool) -> str:
    """Return what the template puts last: behind the last message, or before an open answer."""
    spans = sorted(rendered.spans, key=lambda span: span.start)
    end = spans.pop().start if is_open else len(rendered.text)
    return rendered.text[max((span.end for span in spans), default=0) : end]


def _plain_text(prompt: TextPrompt, vocabulary: Vocabulary) -> Prepared:
    text = clean_text(prompt.text)
    ids, shift = _with_one_bos(vocabulary.tokenize(text, special=False), 0, vocabulary)
    spans = _filled([PromptSpan(0, len(ids) - shift, "prompt", 0)], shift, len(ids))
    return Prepared(text, ids, spans, thinking_opened=ends_inside(text, tag_pairs(vocabulary.chat_template())))


def _given_ids(prompt: TokenPrompt, vocabulary: Vocabulary) -> Prepared:
    ids = ids_of(prompt.ids, vocabulary)
    if ids is None:
        raise UserError(
            translate("Prompt", "These tokens are not this model's. Load the model that they were made for."),
            ExitCode.WRONG_USE,
        )
    specials = SpecialTexts(vocabulary.special_texts())
    said = [specials.text(token).encode() or vocabulary.piece(token) for token in ids]
    text = b"".join(said).decode("utf-8", "replace")
    is_inside = ends_inside(text, tag_pairs(vocabulary.chat_template()))
    return Prepared(text, ids, (PromptSpan(0, len(ids), "prompt", 0),), thinking_opened=is_inside)


def _tokenize(
    rendered: Rendered,
    messages: Sequence[PromptMessage],
    pieces: PromptPieces,
    vocabulary: Vocabulary,
    breaks: Sequence[Occurrence],
) -> list[MessageSpan]:
    """Tokenise the stretches between spliced answers; return the spans, those of answers as they were spliced."""
    text = rendered.text
    spans = sorted(rendered.spans, key=lambda span: span.start)
    reached = 0
    placed: list[MessageSpan] = []
    for number, span in enumerate(spans):
        message = messages[span.message]
        bounds = (
            placed[-1].end if placed else 0,
            spans[number + 1].start if number + 1 < len(spans) else len(text),
        )
        place = spliced(text, span, message.text, bounds) if message.ids else None
        ids = own_ids(message, vocabulary, pieces) if place is not None else []
        if place is None and message.ids:
            place, ids = end_spliced(text, span, message, vocabulary, pieces) or (None, [])
        if place is None or not ids:
            placed.append(span)
            continue
        _add_stretch(text, reached, place.start, pieces, breaks)
        pieces.add_ids(place.start, text[place.start : place.end], ids)
        reached = place.end
        placed.append(place)
    _add_stretch(text, reached, len(text), pieces, breaks)
    return placed


def _add_stretch(text: str, start: int, end: int, pieces: PromptPieces, breaks: Sequence[Occurrence]) -> None:
    """Tokenise a stretch in one call, or in as many as it takes to break the texts that must stay text."""
    for each in breaks[bisect_left(breaks, start, key=lambda place: place.start) :]:
        if each.start >= end:
            break
        if each.end - each.start == 1:
            # There is no middle to break it at; by itself it can be taken as text.
            pieces.add_text(start, text[start : each.start], special=True)
            pieces.add_text(each.start, text[each.start : each.end], special=False)
            start = each.end
        elif each.start + 1 > start:
            pieces.add_text(start, text[start : each.start + 1], special=True)
            start = each.start + 1
    pieces.add_text(start, text[start:end], special=True)


def _parts(messages: Sequence[PromptMessage], is_open: bool) -> list[Part]:
    """Return what each message is to the prompt: the last question is what is asked, the rest came before."""
    parts: list[Part] = ["system" if message.role == "system" else "history" for message in messages]
    asked = max((index for index, message in enumerate(messages) if message.role == "user"), default=None)
    if asked is not None:
        parts[asked] = "prompt"
    if is_open:
        parts[-1] = "answer"
    return parts


def _places(
    rendered: Rendered,
    spans: Sequence[MessageSpan],
    messages: Sequence[PromptMessage],
    pieces: PromptPieces,
    pairs: Sequence[TagPair],
    *,
    is_open: bool,
) -> Iterator[PromptSpan]:
    """Yield where the messages lie among the tokens; the thinking of earlier answers apart, and files."""
    parts = _parts(messages, is_open)
    for span in spans:
        part, message = parts[span.message], messages[span.message]
        stretches: list[tuple[int, int, Part]] = [(span.start, span.end, part)]
        if message.role == "user":
            stretches = _with_files(rendered.text, span, part)
        elif part == "history" and message.role == "assistant":
            parted = parts_of(rendered.text, span, pairs)
            stretches = [(start, end, "thinking" if is_thinking else part) for start, end, is_thinking in parted]
        for start, end, stretch_part in stretches:
            yield PromptSpan(pieces.index_at(start), pieces.index_at(end), stretch_part, span.message)


def _with_files(text: str, span: MessageSpan, part: Part) -> list[tuple[int, int, Part]]:
    """Return the stretches of a user's message in a prompt, in characters; its files apart."""
    stretches: list[tuple[int, int, Part]] = []
    at = span.start
    for frame in frames_in(text[span.start : span.end]):
        start, end = span.start + frame.start, span.start + frame.end
        stretches += [(at, start, part), (start, end, "files")]
        at = end
    return [each for each in (*stretches, (at, span.end, part)) if each[1] > each[0]]


def _filled(places: Sequence[PromptSpan], shift: int, length: int) -> tuple[PromptSpan, ...]:
    """Return the spans moved by what was put before them, and the template's own in every gap."""
    filled = []
    reached = 0
    for place in places:
        start, end = place.start + shift, place.end + shift
        if start > reached:
            filled.append(PromptSpan(reached, start, "template", -1))
        if end > start:
            filled.append(PromptSpan(start, end, place.part, place.message))
        reached = max(reached, end)
    if reached < length:
        filled.append(PromptSpan(reached, length, "template", -1))
    return tuple(filled)


def _with_one_bos(ids: list[int], people_start: int, vocabulary: Vocabulary) -> tuple[list[int], int]:
    """Return the ids with exactly one token that begins the sequence, if the model wants it, and how far they moved."""
    bos = vocabulary.bos
    if bos is None or not vocabulary.add_bos:
        return ids, 0
    if bos not in ids[:people_start]:
        return [bos, *ids], 1
    repeated = 0
    while ids[repeated : repeated + 2] == [bos, bos]:
        repeated += 1
    return ids[repeated:], -repeated


def _token_text(token: int | None, vocabulary: Vocabulary, specials: SpecialTexts) -> str:
    if token is None:
        return ""
    return specials.text(token) or vocabulary.piece(token).decode("utf-8", "replace")


def _nothing_to_send() -> UserError:
    return UserError(translate("Prompt", "There is nothing to send yet. Write a message first."), ExitCode.WRONG_USE)
