"""The one sentence with the number that each stage of the loop is about; where it is unknown, the reason."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication

from app.gui.inside.loop.memory_words import counted, kept_words, layers_words
from app.gui.inside.loop.reading_words import begun_words, done_words, took_words, why_no_speed
from app.gui.widgets.part_words import part_words
from app.gui.widgets.runs import end_of_text
from app.gui.widgets.token_words import known_per_cent, quoted
from app.gui.widgets.words import isolated, render
from app.services.loop_values import LoopCandidate, LoopModel, LoopValues, StageName
from app.services.units import count, rate

translate = QCoreApplication.translate
_MOST_CHARACTERS = 16
_MOST_OF_ANSWER = 100
"""So much is shown of what an answer says: two lines, in letters that are not too small to read from afar."""


def said(token: LoopCandidate) -> str:
    """Return what a token says, in quotation marks."""
    return quoted(token.text, token.token, _MOST_CHARACTERS)


def number(stage: StageName, values: LoopValues) -> str:
    """Return what a stage's number is here; never empty."""
    return _SAYS[stage](values)


def why_no_model(values: LoopValues) -> str:
    """Return why the sizes of the model are unknown."""
    return render(values.model_why) if values.model_why is not None else ""


def why_no_step(values: LoopValues) -> str:
    """Return why no step is shown."""
    return render(values.step_why) if values.step_why is not None else ""


def _prompt(values: LoopValues) -> str:
    if values.prompt.tokens is None and not values.prompt.question:
        return why_no_step(values)
    one, several = (
        translate("Loop", "Your message has 1 character;"),
        translate("Loop", "Your message has {count} characters;"),
    )
    whole_one, whole = (
        translate("Loop", "the whole prompt has 1 token."),
        translate("Loop", "the whole prompt has {count} tokens."),
    )
    prompt = values.prompt
    if prompt.tokens is None and values.phase in ("queued", "waiting"):
        whole = translate("Loop", "the tokens of the whole prompt are counted once it is made.")
    return f"{counted(one, several, prompt.characters)} {counted(whole_one, whole, prompt.tokens)}"


def _tokens(values: LoopValues) -> str:
    if values.prompt.tokens is None:
        return why_no_step(values)
    whole = counted(
        translate("Loop", "The whole prompt is 1 token"),
        translate("Loop", "The whole prompt is {count} tokens"),
        values.prompt.tokens,
    )
    parts = ", ".join(f"{part_words(each.name)} {count(each.tokens)}" for each in values.prompt.parts)
    whole = f"{whole}: {parts}." if parts else f"{whole}."
    first = ", ".join(
        f"{quoted(each.text, each.token, _MOST_CHARACTERS)} ({each.token})" for each in values.prompt.first
    )
    if not first:
        return whole
    begins = (
        translate("Loop", "Your message begins with {tokens}.")
        if values.prompt.is_of_question
        else translate("Loop", "It begins with {tokens}.")
    )
    return f"{whole} {begins.format(tokens=first)}"


def _embedding(values: LoopValues) -> str:
    if values.model is None:
        return why_no_model(values)
    words = translate("Loop", "In this model {width} numbers stand for each token.").format(
        width=count(values.model.shape.embedding)
    )
    if values.is_example and not values.embedding:
        return words
    if not values.embedding:
        return f"{words} {_why_no_row(values)}"
    shown = translate("Loop", "The strip shows its numbers: from {least} to {most}.").format(
        least=f"{min(values.embedding):.2f}", most=f"{max(values.embedding):.2f}"
    )
    return f"{words} {_what_goes_in(values)} {shown}"


def _what_goes_in(values: LoopValues) -> str:
    """Return which token goes in for the one that is shown."""
    step, found = values.step, values.embedding_of
    if step is None:
        return ""
    said = quoted(found.text, found.token, _MOST_CHARACTERS) if found is not None else ""
    words = translate("Loop", "For token {place} the one before goes in.")
    if step.place == 0 and said:
        words = translate("Loop", "For token 1 the last one of the prompt goes in: {token}.")
    elif step.place == 0:
        words = translate("Loop", "For token 1 the last one of the prompt goes in.")
    elif said:
        words = translate("Loop", "For token {place} the one before goes in: {token}.")
    return words.format(token=said, place=count(step.place + 1))


def _why_no_row(values: LoopValues) -> str:
    """Return what is between people and the row of a token."""
    words = translate("Loop", "Once read, its numbers are a strip in the box.")
    if values.reads_embedding:
        words = translate("Loop", "Its numbers are being read.")
    elif values.embedding_why is not None:
        return render(values.embedding_why)
    return f"{_what_goes_in(values)} {words}".strip()


def _prefill(values: LoopValues) -> str:
    read = values.prefill
    if read is None:
        return why_not_read(values)
    words = done_words(read)
    took = took_words(values)
    if took and read.done >= read.total:
        words = took
    elif read.begun:
        words += " " + begun_words(read.begun)
    if no_speed := why_no_speed(values):
        words += " " + no_speed
    if values.model is not None:
        one = translate("Loop", "At most 1 goes through the layers at once.")
        several = translate("Loop", "At most {count} go through the layers at once.")
        words += " " + counted(one, several, values.model.most_at_once)
    return words


def why_not_read(values: LoopValues) -> str:
    """Return why nothing is known of the reading of the prompt."""
    if values.phase in ("queued", "waiting"):
        return (
            translate("Loop", "The prompt, and what is there of the answer, are read before it goes on.")
            if values.written
            else translate("Loop", "The prompt is not read yet.")
        )
    return (why_no_step(values) if values.phase == "empty" else "") or translate(
        "Loop", "How the prompt was read was not kept."
    )


def _transformer(values: LoopValues) -> str:
    model = values.model
    if model is None:
        return why_no_model(values)
    return f"{layers_words(model)} {_experts(model)}".rstrip()


def _experts(model: LoopModel) -> str:
    if model.shape.experts is None:
        return ""
    words = translate("Loop", "{used} of {experts} experts work on each token.")
    if model.shape.experts_used == 1:
        words = translate("Loop", "1 of {experts} experts works on each token.")
    return words.format(used=count(model.shape.experts_used), experts=count(model.shape.experts))


def _kv(values: LoopValues) -> str:
    if values.cells_used is None and values.model is None:
        return why_no_model(values)
    return kept_words(values)


def _logits(values: LoopValues) -> str:
    if values.model is None:
        return why_no_model(values)
    return translate(
        "Loop", "This vocabulary has {count} tokens: so many scores for each token of the answer."
    ).format(count=count(values.model.vocabulary))


def _probabilities(values: LoopValues) -> str:
    step = values.step
    if step is None or not step.candidates:
        return why_no_step(values) or translate("Loop", "It was not recorded what else could have come here.")
    best = step.candidates[0]
    return translate("Loop", "For token {place} of the answer {token} was the likeliest, with {share}.").format(
        place=count(step.place + 1), token=said(best), share=known_per_cent(best.raw)
    )


def _sampling(values: LoopValues) -> str:
    step = values.step
    if step is None:
        return why_no_step(values)
    words = translate("Loop", "It was not recorded how many tokens were left here.")
    if step.survivors is not None:
        words = ""
    if step.survivors is not None and values.model is not None:
        left = count(step.survivors) if step.is_exact else f"≥\u00a0{count(step.survivors)}"
        is_one = step.is_exact and step.survivors == 1
        one = translate("Loop", "{left} of {all} tokens is left for the draw.")
        several = translate("Loop", "{left} of {all} tokens are left for the draw.")
        words = (one if is_one else several).format(left=left, all=count(values.model.vocabulary))
    if not step.is_drawn:
        waits = translate("Loop", "The draw waits for you: press One token.")
        where = translate("Loop", "Where it would fall, the sampler laboratory shows below the part Answer.")
        return f"{words} {waits} {where}".strip()
    taken = step.taken
    if taken is not None:
        words += " " + translate("Loop", "{token} was drawn, which had {share} of the draw.").format(
            token=said(taken), share=known_per_cent(taken.after)
        )
    return words.strip() or why_no_model(values)


def _token(values: LoopValues) -> str:
    step = values.step
    if step is None:
        return why_no_step(values)
    if not step.is_drawn:
        words = translate("Loop", "Token {place} of the answer is not drawn yet.").format(place=count(step.place + 1))
        if values.before is None:
            return words
        before = quoted(values.before.text, values.before.token, _MOST_CHARACTERS)
        drawn = translate("Loop", "Drawn last, as token {place}: {token}.")
        return f"{drawn.format(place=count(step.place), token=before)} {words}"
    shown = quoted(step.text, step.token, _MOST_CHARACTERS)
    return translate("Loop", "Token {place} of the answer says {token}.").format(
        place=count(step.place + 1), token=shown
    )


def _stop(values: LoopValues) -> str:
    if values.is_drawn_last:
        return translate("Loop", "Token {place} did not end it. It waits for you before the next one.").format(
            place=count(values.written)
        )
    if values.is_back and values.step is not None:
        return translate("Loop", "After token {place} it went on to the next.").format(
            place=count(values.step.place + 1)
        )
    if values.end is not None:
        one, several = (
            translate("Loop", "It ended after 1 token:"),
            translate("Loop", "It ended after {count} tokens:"),
        )
        return f"{counted(one, several, values.written)} {render(values.end.words)}"
    if values.tokens_per_s is not None and values.phase == "writing":
        words = translate("Loop", "The loop runs {rate} times a second on average.")
        return words.format(rate=rate(values.tokens_per_s))
    if values.step is None or not values.written:
        return why_no_step(values) or nothing_drawn()
    return translate("Loop", "It goes on after token {count}.").format(count=count(values.written))


def nothing_drawn() -> str:
    """Return why nothing is asked before the first token."""
    return translate("Loop", "No token is drawn yet that could end the answer.")


def _answer(values: LoopValues) -> str:
    if values.phase == "empty":
        return why_no_step(values)
    if values.is_drawn_last:
        one = translate("Loop", "The answer has 1 token so far, drawn last.")
        several = translate("Loop", "The answer has {count} tokens so far, this one drawn last.")
        return f"{counted(one, several, values.written)} {_ending(values)}".rstrip()
    if values.had is not None:
        back_one, back = (
            translate("Loop", "With this token the answer had 1 token, and has {all} now."),
            translate("Loop", "With this token the answer had {count} tokens, and has {all} now."),
        )
        if values.end is not None:
            back_one, back = (
                translate("Loop", "With this token the answer had 1 of its {all} tokens."),
                translate("Loop", "With this token the answer had {count} of its {all} tokens."),
            )
        words = (back_one if values.had == 1 else back).format(count=count(values.had), all=count(values.written))
        return f"{words} {_ending(values)}".rstrip()
    one, several = translate("Loop", "The answer has 1 token."), translate("Loop", "The answer has {count} tokens.")
    words = counted(one, several, values.written)
    words = f"{words} {render(values.end.words)}" if values.end is not None else words
    return f"{words} {_ending(values)}".rstrip()


def _ending(values: LoopValues) -> str:
    """Return the last words of what is there of the answer."""
    text = values.last_words
    if not text:
        return ""
    end = end_of_text(text, _MOST_OF_ANSWER)
    before, _space, rest = end.partition(" ")
    is_part = len(before) <= _MOST_OF_ANSWER // 4 and rest  # of a word; where no spaces stand, all would go with it
    shown = text if end == text else f"…\u00a0{rest if is_part else end}"
    return translate("Loop", "It says: “{text}”").format(text=isolated(shown))


_SAYS: dict[StageName, Callable[[LoopValues], str]] = {
    "prompt": _prompt,
    "tokens": _tokens,
    "embedding": _embedding,
    "prefill": _prefill,
    "transformer": _transformer,
    "kv": _kv,
    "logits": _logits,
    "probabilities": _probabilities,
    "sampling": _sampling,
    "token": _token,
    "stop": _stop,
    "answer": _answer,
}
