"""A model file with everything that belongs to it, checked before the engine sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core import gguf_header
from app.core.errors import UserError
from app.core.model_file import check_model_file, part_names
from tests.gguf_bytes import Entry, open_in_folder, open_in_memory, raw_gguf
from tests.ggufs import STARTER_MODEL, write_split_llama, write_tiny_llama, write_vocab_only

CHAT: dict[str, Entry] = {"general.architecture": "llama", "tokenizer.ggml.model": "gpt2"}
NAMES = [f"big-0000{number}-of-00003.gguf" for number in (1, 2, 3)]


def part(number: int, *, count: int = 3, tensors: int = 3, name: str | None = None) -> bytes:
    """Return one part of a split model with one tensor in it."""
    split: dict[str, Entry] = {"split.no": number, "split.count": count, "split.tensors.count": tensors}
    metadata = {**CHAT, **split} if number == 0 else split
    return raw_gguf(metadata, [(name or f"t{number}", (4, 2), 0, 0)])


def refusal_of(files: dict[str, bytes], name: str) -> str:
    """Return the sentence that the file of that name is refused with."""
    with pytest.raises(UserError) as caught:
        check_model_file(name, open_in_memory(files))
    return str(caught.value)


def three_parts() -> dict[str, bytes]:
    """Return a whole model in three parts."""
    return {name: part(number) for number, name in enumerate(NAMES)}


def test_the_starter_model_is_usable() -> None:
    (header,) = check_model_file(STARTER_MODEL.name, open_in_folder(STARTER_MODEL.parent))
    assert header.text("general.architecture") == "llama"


def test_the_starter_model_cut_short_says_how_much_is_there() -> None:
    content = STARTER_MODEL.read_bytes()
    whole = f"{len(content):,}"
    for size in (len(content) // 2, len(content) - 1):
        sentence = refusal_of({"s.gguf": content[:size]}, "s.gguf")
        assert sentence == f"“s.gguf” is not complete, {size:,} of {whole} bytes are there: download it again."
    assert "ends after 1,000 bytes, in the middle of its header" in refusal_of({"s.gguf": content[:1000]}, "s.gguf")


def test_a_file_that_went_away_says_so() -> None:
    assert "There is no file “gone.gguf” here" in refusal_of({}, "gone.gguf")


def test_a_vocabulary_written_by_the_reference_writer_is_refused(tmp_path: Path) -> None:
    path = write_vocab_only(tmp_path / "vocab.gguf", architecture="bert")
    with pytest.raises(UserError, match="a vocabulary and no weights"):
        check_model_file(path.name, open_in_folder(tmp_path))


def test_all_parts_of_a_split_model_are_read(tmp_path: Path) -> None:
    whole = write_tiny_llama(tmp_path / "whole.gguf")
    parts = write_split_llama(tmp_path)
    (header,) = check_model_file(whole.name, open_in_folder(tmp_path))
    headers = check_model_file(parts[0].name, open_in_folder(tmp_path))
    assert len(headers) == len(parts) == 3
    assert [t.name for h in headers for t in h.tensors] == [t.name for t in header.tensors]


def test_a_missing_part_is_named() -> None:
    files = three_parts()
    del files[NAMES[1]], files[NAMES[2]]
    sentence = refusal_of(files, NAMES[0])
    assert "comes in 3 files and 2 of them are not in its folder" in sentence
    assert f"“{NAMES[1]}”" in sentence
    files = three_parts()
    del files[NAMES[2]]
    assert f"one of them is not in its folder, “{NAMES[2]}”: download it" in refusal_of(files, NAMES[0])


@pytest.mark.parametrize("number", [2, 3])
def test_another_part_than_the_first_names_the_first(number: int) -> None:
    sentence = refusal_of(three_parts(), NAMES[number - 1])
    assert f"file {number} of 3 of one model" in sentence
    assert "“-00001-of-00003.gguf”" in sentence


def test_a_renamed_first_part_says_how_its_name_must_end() -> None:
    assert "ends in “-00001-of-00003.gguf” again" in refusal_of({"model.gguf": part(0)}, "model.gguf")


def test_a_truncated_part_is_named_with_its_bytes() -> None:
    files = three_parts()
    files[NAMES[2]] = files[NAMES[2]][:-1]
    assert f"“{NAMES[2]}” is not complete" in refusal_of(files, NAMES[0])


@pytest.mark.parametrize("wrong", [b"<html>", part(2), part(1, count=4), raw_gguf(CHAT)])
def test_a_part_that_is_damaged_or_of_another_model_is_named(wrong: bytes) -> None:
    assert f"“{NAMES[1]}”, one of the files of this model" in refusal_of({**three_parts(), NAMES[1]: wrong}, NAMES[0])


def test_parts_with_too_few_tensors_do_not_belong_together() -> None:
    files = {**three_parts(), NAMES[0]: part(0, tensors=5)}
    assert "they hold 3 tensors where 5 should be" in refusal_of(files, NAMES[0])


def test_all_parts_together_have_no_more_tensors_than_one_file_may(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(check_model_file(NAMES[0], open_in_memory(three_parts()))) == 3
    monkeypatch.setattr(gguf_header, "MAX_TENSORS", 2)
    assert "3 tensors, so it is damaged" in refusal_of(three_parts(), NAMES[0])


@pytest.mark.parametrize(("number", "count"), [(0, 60_000), (3, 3), (7, 3)])
def test_an_impossible_part_is_damage(number: int, count: int) -> None:
    assert f"claims to be part {number + 1} of {count:,}," in refusal_of(
        {NAMES[0]: part(number, count=count)}, NAMES[0]
    )


def test_a_first_part_may_hold_no_tensors() -> None:
    split: dict[str, Entry] = {"split.no": 0, "split.count": 3, "split.tensors.count": 2}
    files = {**three_parts(), NAMES[0]: raw_gguf({**CHAT, **split}, [], data=b"")}
    assert [len(header.tensors) for header in check_model_file(NAMES[0], open_in_memory(files))] == [0, 1, 1]


def test_part_names_follow_the_first() -> None:
    assert part_names(NAMES[0], 3) == tuple(NAMES)
    assert part_names(NAMES[0], 4) is None
    assert part_names("-00001-of-00003.gguf", 3) is None
