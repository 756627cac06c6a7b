from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core.card_text import MOST_CHARACTERS, MOST_LINKS, card_of, is_web_address


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("---\nlicense: mit\n---\n# Hello\n\nText", "# Hello\n\nText"),
        ("\ufeff---\r\nlicense: mit\r\n---\r\nText", "Text"),
        ("---\nlicense: mit\n---", ""),
        ("---\nno end", "---\nno end"),
        ("a <!-- hidden --> b <!-- to the end", "a  b"),
        ("a<SCRIPT>alert(1)</script>b<style>x", "ab"),
        ("İİ<script>x</script>b", "İİb"),
        ('<img src="https://x.example/p.png" onerror="x"> <div align="center">in</div>', "in"),
        ("one<br/>two", "one\ntwo"),
        ("vector<int> of `map<string, b>` and ``a ` <i>``", "vector<int> of `map<string, b>` and ``a ` <i>``"),
        ("`<!-- shown -->` <!-- gone `<b>` --> `<b>`", "`<!-- shown -->`  `<b>`"),
        ("write `<b>\nbold</b>` here <i>x</i>", "write `<b>\nbold</b>` here x"),
        ("a ` lone\n\nand <b>b</b> ` later", "a ` lone\n\nand b ` later"),
        ("- a ` lone\n- and <b>b</b> ` later", "- a ` lone\n- and b ` later"),
        ("1. a ` lone\n2. and <b>b</b> ` later", "1. a ` lone\n2. and b ` later"),
        ("a ` lone <b>tick</b> ```` <i>", "a ` lone tick ```` "[:-1]),
        ("<your-name> <T> </nothing> <div class='x'>in</div>", "<your-name> <T> </nothing> in"),
        ("![a logo](https://x.example/p.png) text", "a logo text"),
        ("[![badge](https://x.example/p.svg)](https://x.example/page)", "[badge](https://x.example/page)"),
        ("[run](javascript:alert(1))", "run"),
        ("[a [b]](javascript:x)", "[a [b]] (javascript:x)"),
        ("[a]\u202e(javascript:x)", "a"),
        ("[a]<b>(javascript:x)", "a"),
        ("[a]<!-- -->(javascript:x", "[a] (javascript:x"),
        ("[a](https://x.example/b_(c))", "[a](https://x.example/b_(c))"),
        ("[data](data:text/html,x) [file](file:///etc/passwd) [here](./LICENSE) [top](#top)", "data file here top"),
        ("[me](https://good.example@evil.example/)", "me"),
        ("[me](https://good.example\\@evil.example/)", "me"),
        ("<https://x.example/a>", "https://x.example/a"),
        ('<a class="b" href="https://x.example/a">words</a>', "[words](https://x.example/a)"),
        ("<a name='x'>words</a>", "words"),
        ('[t](https://x.example "a title")', "[t](https://x.example)"),
        ("safe \u202eevil\x1b[2J\x00", "safe evil[2J"),
        ("a\n\n\n\n\nb", "a\n\nb"),
        ("4 < 5 and 6 > 5", "4 < 5 and 6 > 5"),
        ("```html\n<b>kept</b> ![x](y)\n```\n<b>gone</b>", "```html\n<b>kept</b> ![x](y)\n```\ngone"),
        ("~~~\n<b>\n```\n<i>\n~~~\n<u>", "~~~\n<b>\n```\n<i>\n~~~"),
        ("```\n<b> to the end", "```\n<b> to the end"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 |"),
    ],
)
def test_a_card_is_text_that_loads_runs_and_hides_nothing(written: str, text: str) -> None:
    assert card_of(written)[0] == text


def test_links_are_told_apart_once_each_and_only_those_of_web_pages() -> None:
    written = (
        "[a](https://x.example/1) [b](https://x.example/1) https://y.example/2. [c](mailto:x) `https://z.example`"
    )
    assert [(link.text, link.address) for link in card_of(written)[1]] == [
        ("a", "https://x.example/1"),
        ("https://y.example/2", "https://y.example/2"),
        ("https://z.example", "https://z.example"),
    ]
    assert len(card_of(" ".join(f"https://x.example/{n}" for n in range(300)))[1]) == MOST_LINKS


def test_a_card_without_end_is_cut() -> None:
    assert len(card_of("a" * (MOST_CHARACTERS + 5))[0]) == MOST_CHARACTERS


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "[",
        "![",
        "[](",
        "![](",
        "<a ",
        "<a href=",
        "<a href=x ",
        "<!--",
        "<script",
        "`",
        "`\n",
        "```\n",
        "](",
        "---\n",
        "<b",
        '"',
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    """Each of these makes careless patterns take hours; here they are done before anybody notices."""
    card_of((piece * MOST_CHARACTERS)[:MOST_CHARACTERS])
    card_of("<a " + (piece * MOST_CHARACTERS)[:MOST_CHARACTERS])


@given(st.text(alphabet=st.sampled_from("<>[]()!`~\n -a:/\"'=@\\.#") | st.characters(), max_size=300))
@example("[x](https://a.example/<b>)")
def test_whatever_is_written_nothing_of_it_is_dangerous(written: str) -> None:
    text, links = card_of(written)
    assert all(is_web_address(link.address) for link in links)
    plain = re.sub(r"^ {0,3}(`{3,}|~{3,}).*", "", text, flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"\]\((?!https?://)", plain, re.IGNORECASE)
    assert "\u202e" not in text and "\x00" not in text and len(text) <= 2 * len(written) + 10


@pytest.mark.parametrize(
    ("address", "is_safe"),
    [
        ("https://x.example", True),
        ("HTTP://x.example/a?b#c", True),
        ("https://", False),
        ("https://[", False),
        ("ftp://x.example", False),
        ("//x.example", False),
        ("https://xä.example", False),
        ("https://x.example/ä", False),
        ("https://x.example/a\\b", False),
        ("https://x.example/\x1b", False),
        ("", False),
    ],
)
def test_which_addresses_lead_to_a_web_page(address: str, is_safe: bool) -> None:
    assert is_web_address(address) is is_safe


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[click][a]\n\n[a]: file:///etc/passwd", "click"),
        ("![a picture][b]\n\n[b]: https://t.example/p.png", "a picture"),
        (
            'See [the paper][p], [P][].\n\n[p]: <https://arxiv.org/abs/1> "It"\nMore',
            "See [the paper](https://arxiv.org/abs/1), [P](https://arxiv.org/abs/1).\n\nMore",
        ),
        ("> [a]: file:///x\n\n[a]", "> [a] : file:///x\n\n[a]"),
        ("[a]:\nfile:///x\n\n[a]", "[a] :\nfile:///x\n\n[a]"),
        ("[a]<b>: file:///x\n\n[a]", "[a] : file:///x\n\n[a]"),
        ("[nowhere][a]", "[nowhere][a]"),
        ("```\n[a]: file:///x\n```", "```\n[a]: file:///x\n```"),
    ],
)
def test_what_names_an_address_elsewhere_is_written_out_or_leads_nowhere(written: str, shown: str) -> None:
    assert card_of(written)[0] == shown


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("https://huggingface.co", "https://evil.example/x"),
        ("go to https://huggingface.co/org now", "https://evil.example/x"),
        ("https://EVIL.example", "https://EVIL.example"),
        ("our page", "our page"),
    ],
)
def test_words_that_are_another_address_than_the_link_are_not_shown(words: str, shown: str) -> None:
    text, (link, *_) = card_of(f"[{words}](https://evil.example/x)")
    assert text.startswith(f"[{shown}](") and link.text == shown
