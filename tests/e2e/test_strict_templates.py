"""Chats with models whose templates are particular: whatever happened before, the next question is answered."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.remote_window import RemoteWindow
from tests.ggufs import copy_with, write_tiny_llama

READY = "program.session.phase == 'ready'"
ANSWERED = "not program.chat.busy and program.chat.turns[-1].state == 'done' and program.chat.turns[-1].text"
TURN = "{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
STRICT = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for message in messages %}{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    f"{TURN}{{% endfor %}}{{% if add_generation_prompt %}}{{{{ '<|im_start|>assistant\\n' }}}}{{% endif %}}"
)
BROKEN = "{% if messages %}{{ messages[0].content }}"
LONG = "Tell me of the sea. " * 80


def opened(home: Path, model: Path) -> RemoteWindow:
    window = RemoteWindow(home, str(model))
    window.until(READY)
    window.ask("program.sampling.change(temperature=0.0, max_tokens=4)")
    return window


def test_roles_that_must_alternate_never_end_a_chat(tmp_path: Path, starter_model: Path) -> None:
    model = copy_with(starter_model, tmp_path / "strict.gguf", chat_template=STRICT)
    with opened(tmp_path / "home", model) as window:
        window.ask("program.settings.change(system_prompt='Be brief.')")
        window.sends(LONG)
        window.until("program.chat.turns and program.chat.turns[-1].state == 'waiting'")
        window.triggers("stop_action")
        window.until("not program.chat.busy")
        window.ask("find('composer').clear()")
        window.sends("Hello")
        window.until(ANSWERED)
        window.ask("program.branches.delete(program.chat.turns[-1])")
        window.sends("Hello again")
        window.until(ANSWERED)
        window.triggers("answer_again_action")
        window.until(ANSWERED)
        assert window.ask("[turn.state for turn in program.chat.turns if turn.role == 'assistant']")[-1] == "done"
        assert not window.ask("[n.level for n in [program.notices.latest] if n and n.level == 'error']")
        assert window.close() == (0, "")


def test_a_template_that_cannot_be_read_costs_no_load_and_is_named_and_another_one_answers(
    tmp_path: Path,
) -> None:
    model = write_tiny_llama(tmp_path / "broken.gguf", chat_template=BROKEN)
    home = tmp_path / "home"
    with opened(home, model) as window:
        window.sends("Hello")
        window.until("program.notices.latest and not program.chat.busy")
        told = window.ask("program.notices.latest.sentence.english()")
        assert "template" in told and "line 1" in told
        assert window.ask("program.notices.latest.remedy") == "choose_template"
        assert window.ask("find('composer').toPlainText()") == "Hello"
        window.ask("program.templates.choose(program.session.ref, 'chatml')")
        window.sends("")
        window.until(ANSWERED)
        assert window.close() == (0, "")
    with opened(home, model) as window:
        window.sends("What was chosen is remembered")
        window.until(ANSWERED)
        assert window.close() == (0, "")
