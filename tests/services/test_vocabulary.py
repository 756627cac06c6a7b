"""What tokens say: asked of the store, else of the engine, kept, and never asked of an engine that is not there."""

from __future__ import annotations

from app.core.commands import ListPieces
from app.core.events import Failed, LoadProgress
from app.core.store_commands import KeepPieces, ReadPieces
from app.core.words import translate
from app.services.vocabulary import PART_TOKENS
from tests.made_up_steps import listed, loaded, read
from tests.onlooker import Onlooker

SIZE = 2 * PART_TOKENS + 5
TEXTS = [b"<|end|>", b" a", b"\xe6\x97", b"\xa5", b"", "ü\n".encode(), *(f"t{n}".encode() for n in range(6, SIZE))]


def asked_of_engine(desk: Onlooker) -> list[ListPieces]:
    return [command for command in desk.sent if isinstance(command, ListPieces)]


def asked_of_store(desk: Onlooker) -> list[ReadPieces]:
    return [command for command in desk.store.sent if isinstance(command, ReadPieces)]


def kept(desk: Onlooker) -> list[KeepPieces]:
    return [command for command in desk.store.sent if isinstance(command, KeepPieces)]


def with_a_model(size: int = SIZE) -> Onlooker:
    desk = Onlooker()
    desk.load(loaded(1, "a.gguf", size))
    return desk


def answer_part(desk: Onlooker) -> None:
    """Let the engine tell the tokens that it was asked for last."""
    question = asked_of_engine(desk)[-1]
    texts = TEXTS[question.first : question.first + question.count]
    desk.vocabulary.take(listed(question.request, texts, question.first))


def test_pieces_that_are_kept_are_read_and_the_engine_is_not_asked() -> None:
    desk = with_a_model()
    told: list[None] = []
    desk.vocabulary.changed.connect(lambda: told.append(None))
    (question,) = asked_of_store(desk)
    assert question.tokenizer == "made-up"
    desk.vocabulary.take(read(question.request, TEXTS))
    assert [desk.vocabulary.piece(token) for token in range(SIZE)] == TEXTS
    assert told and not asked_of_engine(desk) and not kept(desk)


def test_pieces_that_are_not_kept_are_asked_part_by_part_and_kept() -> None:
    desk = with_a_model()
    desk.vocabulary.take(read(asked_of_store(desk)[0].request, None))
    for done, first in enumerate((0, PART_TOKENS, 2 * PART_TOKENS), 1):
        assert [question.first for question in asked_of_engine(desk)] == [0, PART_TOKENS, 2 * PART_TOKENS][:done]
        answer_part(desk)
        assert desk.vocabulary.known == min(first + PART_TOKENS, SIZE)
    assert len(asked_of_engine(desk)) == 3
    assert [desk.vocabulary.piece(token) for token in range(SIZE)] == TEXTS
    assert [(keep.pieces.first, keep.vocabulary) for keep in kept(desk)] == [
        (0, SIZE),
        (PART_TOKENS, SIZE),
        (2 * PART_TOKENS, SIZE),
    ]


def test_texts_are_for_display_and_unknown_tokens_have_none() -> None:
    desk = with_a_model()
    assert desk.vocabulary.text(1) is None and desk.vocabulary.piece(1) is None
    desk.vocabulary.take(read(asked_of_store(desk)[0].request, TEXTS))
    texts = [desk.vocabulary.text(token) for token in range(6)]
    assert texts == ["<|end|>", " a", "<0xE6><0x97>", "<0xA5>", "", "ü\n"]
    assert desk.vocabulary.text(-1) is None and desk.vocabulary.text(SIZE) is None


def test_tokens_that_hold_a_text_are_found_and_no_others() -> None:
    desk = with_a_model(7)
    desk.vocabulary.take(read(asked_of_store(desk)[0].request, [b"a\n", b"ba", b"b", b"\n\n", b"", b"ab", b"b\nb"]))
    assert desk.vocabulary.holding(b"\n") == [0, 3, 6]
    assert desk.vocabulary.holding(b"ab") == [5]  # not where one token ends with “a” and the next begins with “b”
    assert desk.vocabulary.holding(b"x") == [] == desk.vocabulary.holding(b"")


def test_two_models_with_one_tokenizer_share_their_pieces() -> None:
    desk = with_a_model()
    desk.vocabulary.take(read(asked_of_store(desk)[0].request, TEXTS))
    desk.load(loaded(2, "b.gguf", SIZE))
    assert desk.vocabulary.text(1) == " a"
    assert len(asked_of_store(desk)) == 1 and not asked_of_engine(desk)


def test_another_tokenizer_begins_anew_and_what_came_late_for_the_first_is_ignored() -> None:
    desk = with_a_model()
    late = asked_of_store(desk)[0].request
    desk.load(loaded(2, "b.gguf", 3, "another"))
    desk.vocabulary.take(read(late, TEXTS))
    assert (desk.vocabulary.known, desk.vocabulary.size, desk.vocabulary.tokenizer) == (0, 3, "another")
    desk.vocabulary.take(read(asked_of_store(desk)[1].request, [b"x", b"y", b"z"], "another"))
    assert [desk.vocabulary.text(token) for token in range(4)] == ["x", "y", "z", None]


def test_a_model_that_is_gone_is_not_asked() -> None:
    desk = with_a_model()
    desk.go()
    desk.vocabulary.take(read(asked_of_store(desk)[0].request, None))
    assert not asked_of_engine(desk)


def test_the_next_load_goes_on_where_the_engine_stopped() -> None:
    desk = with_a_model()
    desk.vocabulary.take(read(asked_of_store(desk)[0].request, None))
    answer_part(desk)
    desk.go()
    answer_part(desk)
    assert desk.vocabulary.known == 2 * PART_TOKENS and len(asked_of_engine(desk)) == 2
    desk.load(loaded(2, "a.gguf", SIZE))
    assert asked_of_engine(desk)[-1].first == 2 * PART_TOKENS
    answer_part(desk)
    assert [desk.vocabulary.piece(token) for token in range(SIZE)] == TEXTS
    assert len(asked_of_store(desk)) == 1


def test_an_engine_that_fails_is_left_alone_until_the_next_load() -> None:
    desk = with_a_model()
    desk.vocabulary.take(read(asked_of_store(desk)[0].request, None))
    question = asked_of_engine(desk)[0]
    desk.vocabulary.take(Failed(question.request + 1, "engine", translate("Test", "Another question.")))
    desk.vocabulary.take(Failed(question.request, "engine", translate("Test", "It does not work.")))
    answer_part(desk)
    assert desk.vocabulary.known == 0 and len(asked_of_engine(desk)) == 1
    desk.load(loaded(2, "a.gguf", SIZE))
    desk.vocabulary.take(read(asked_of_store(desk)[-1].request, None))
    answer_part(desk)
    assert desk.vocabulary.known == PART_TOKENS


def test_kept_pieces_of_another_size_are_asked_anew() -> None:
    desk = with_a_model()
    desk.vocabulary.take(read(asked_of_store(desk)[0].request, TEXTS[:7]))
    assert desk.vocabulary.known == 0
    assert [question.first for question in asked_of_engine(desk)] == [0]


def test_a_model_whose_tokenizer_is_unknown_is_not_asked_for() -> None:
    desk = Onlooker()
    desk.session.load_told.emit(LoadProgress(1, 50.0))
    desk.load(loaded(1, "a.gguf", SIZE, ""))
    assert not desk.store.sent and not asked_of_engine(desk)
    assert desk.vocabulary.text(0) is None


def test_where_nobody_reads_single_tokens_nobody_is_asked() -> None:
    desk = Onlooker(asks=False)
    desk.load(loaded(1, "a.gguf", SIZE))
    assert not asked_of_store(desk) and not asked_of_engine(desk)
