"""What a model's own files say of it."""

from __future__ import annotations

from pathlib import Path

from app.core.gguf_header import LONGEST_LABEL, Header, read_header
from app.core.model_facts import MOST_LANGUAGES, ModelFacts, model_facts
from app.core.model_file import check_model_file
from tests.gguf_bytes import Entry, open_in_folder, raw_gguf
from tests.ggufs import CHATML, STARTER_MODEL, write_other_tokenizer, write_split_llama, write_tiny_mixture

F32, F16, Q8_0, UNKNOWN = 0, 1, 8, 99


def header_of(content: bytes) -> Header:
    """Return the header of these bytes."""
    return read_header(lambda offset, size: content[offset : offset + size], len(content))


def facts_of(path: Path) -> ModelFacts:
    """Return the facts of a file on disk."""
    return model_facts(check_model_file(path.name, open_in_folder(path.parent)))


def facts_with(**entries: Entry) -> ModelFacts:
    """Return the facts of a header of the llama architecture; `__` in a name stands for a dot."""
    metadata: dict[str, Entry] = {"general.architecture": "llama"}
    metadata |= {name.replace("__", "."): value for name, value in entries.items()}
    return model_facts([header_of(raw_gguf(metadata))])


def test_no_text_of_a_header_is_longer_than_a_row_may_be() -> None:
    long = "x" * 1_000_000
    keys = ("name", "size_label", "license", "architecture")
    facts = facts_with(
        **{f"general__{key}": long for key in keys},
        general__languages=[long, *["en"] * 1_000],
        tokenizer__ggml__model=long,
        tokenizer__ggml__pre=long,
        **{f"tokenizer__chat_template__{long[:60_000]}": "{{ messages }}"},
    )
    tokenizer = facts.tokenizer
    texts = [getattr(facts, key) for key in keys] + [tokenizer.model, tokenizer.pre]
    texts += [*facts.languages, *tokenizer.named_templates]
    assert len(facts.languages) == MOST_LANGUAGES and len(tokenizer.named_templates) == 1
    assert {len(text) for text in texts} == {LONGEST_LABEL, 2} and long[:LONGEST_LABEL] not in texts


def test_the_facts_of_the_starter_model_are_right() -> None:
    facts = facts_of(STARTER_MODEL)
    assert (facts.architecture, facts.layers, facts.heads, facts.kv_heads) == ("llama", 30, 9, 3)
    assert (facts.trained_context, facts.embedding, facts.feed_forward) == (8192, 576, 1536)
    assert (facts.parameters, facts.quantisation, facts.tensor_count) == (134_515_008, "Q4_1", 272)
    assert (facts.name, facts.size_label) == ("Smollm2 135M 8k Lc100K Mix1 Ep2", "135M")
    assert (facts.license, facts.languages) == ("apache-2.0", ("en",))
    assert facts.tensor_bytes == STARTER_MODEL.stat().st_size - 1_785_664
    assert facts.bytes_per_type == {"Q4_1": 66_355_200, "Q8_0": 30_081_024, "F32": 140_544}
    assert (facts.experts, facts.sliding_window, facts.key_length, facts.is_mixture) == (
        None,
        None,
        None,
        False,
    )
    tokenizer = facts.tokenizer
    assert (tokenizer.model, tokenizer.pre, tokenizer.vocabulary) == ("gpt2", "smollm", 49_152)
    assert (tokenizer.bos_id, tokenizer.eos_id, tokenizer.padding_id, tokenizer.eot_id) == (1, 2, 2, None)
    assert (tokenizer.add_bos, tokenizer.add_eos) == (False, None)
    assert tokenizer.chat_template is not None
    assert tokenizer.chat_template.startswith("{% for message in messages %}")


def test_a_mixture_says_how_many_experts_work(tmp_path: Path) -> None:
    facts = facts_of(write_tiny_mixture(tmp_path / "mixture.gguf"))
    assert (facts.experts, facts.experts_used, facts.is_mixture) == (4, 2, True)
    assert facts.quantisation == "F16"
    assert facts.tokenizer.chat_template == CHATML


def test_one_expert_is_no_mixture() -> None:
    assert [facts_with(llama__expert_count=count).is_mixture for count in (0, 1, 2)] == [False, False, True]


def test_another_tokenizer_says_which_it_is(tmp_path: Path) -> None:
    tokenizer = facts_of(write_other_tokenizer(tmp_path / "other.gguf")).tokenizer
    assert (tokenizer.model, tokenizer.bos_id, tokenizer.add_bos) == ("llama", 1, True)


def test_the_facts_of_a_split_model_count_all_its_parts(tmp_path: Path) -> None:
    parts = write_split_llama(tmp_path)
    facts = facts_of(parts[0])
    headers = check_model_file(parts[0].name, open_in_folder(tmp_path))
    assert facts.tensor_count == sum(len(header.tensors) for header in headers) > len(headers[0].tensors)
    assert facts.tensor_bytes == sum(tensor.size or 0 for header in headers for tensor in header.tensors)


def test_a_bare_header_has_no_facts_and_no_error() -> None:
    facts = model_facts([header_of(raw_gguf({}, [], data=b""))])
    assert (facts.architecture, facts.name, facts.quantisation, facts.trained_context) == (
        None,
        None,
        None,
        None,
    )
    assert (facts.parameters, facts.tensor_bytes, facts.bytes_per_type, facts.languages) == (0, 0, {}, ())
    assert (facts.tokenizer.vocabulary, facts.tokenizer.chat_template) == (None, None)


def test_facts_of_the_wrong_type_are_absent() -> None:
    facts = facts_with(
        general__name=7,
        general__languages="en",
        general__license=True,
        llama__context_length="8192",
        llama__block_count=2.0,
        llama__attention__head_count=["9"],
        llama__attention__head_count_kv=[1, 0, 1],
        tokenizer__chat_template=["x"],
        tokenizer__ggml__add_bos_token=1,
        tokenizer__ggml__eos_token_id=True,
    )
    assert (facts.name, facts.languages, facts.license) == (None, (), None)
    assert (facts.trained_context, facts.layers, facts.heads) == (None, None, None)
    assert facts.kv_heads == (1, 0, 1)
    tokenizer = facts.tokenizer
    assert (tokenizer.chat_template, tokenizer.add_bos, tokenizer.eos_id) == (None, None, None)


def test_the_quantisation_is_that_of_the_header_else_of_most_numbers() -> None:
    tensors = [
        ("norm", (4096,), F32, 0),
        ("big", (64, 64), Q8_0, 16384),
        ("small", (32, 2), F16, 16384 + 4352),
    ]

    def quantisation(**metadata: Entry) -> str | None:
        named = {key.replace("__", "."): value for key, value in metadata.items()}
        return model_facts([header_of(raw_gguf(named, tensors))]).quantisation

    assert quantisation(general__file_type=15) == "Q4_K_M"
    assert quantisation(general__file_type=1024 + 7) == "Q8_0"
    assert quantisation(general__file_type=999) == "Q8_0"
    assert quantisation() == "Q8_0"


def test_bytes_are_unknown_where_a_type_is() -> None:
    tensors = [("known", (4, 2), F32, 0), ("new", (4, 2), UNKNOWN, 32)]
    facts = model_facts([header_of(raw_gguf({}, tensors, data=bytes(96)))])
    assert (facts.tensor_bytes, facts.bytes_per_type, facts.parameters) == (None, {"F32": 32}, 16)


def test_named_templates_are_kept_apart_from_the_first() -> None:
    facts = facts_with(
        tokenizer__chat_template="plain",
        tokenizer__chat_template__tool_use="tools",
        tokenizer__chat_template__rag=3,
        tokenizer__chat_templates=["tool_use", "rag"],
    )
    assert facts.tokenizer.chat_template == "plain"
    assert facts.tokenizer.named_templates == {"tool_use": "tools"}


def test_the_vocabulary_counts_tokens_before_it_believes_the_header() -> None:
    assert facts_with(llama__vocab_size=9).tokenizer.vocabulary == 9
    assert facts_with(llama__vocab_size=9, tokenizer__ggml__tokens=["a", "b"]).tokenizer.vocabulary == 2
