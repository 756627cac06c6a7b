"""Why an action cannot be chosen now, by its name."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

translate = QCoreApplication.translate


def why_not(action: str) -> str:
    """Return what has to be so before an action can be chosen; empty for one that always can."""
    no_answer = translate("Palette", "There is no answer in this chat: ask something first.")
    not_kept = translate("Palette", "This chat is kept with its first message: write one first.")
    nothing = translate("Palette", "Nothing is said in this chat yet: write a message first.")
    return {
        "rename_action": not_kept,
        "delete_chat_action": not_kept,
        "pin_action": not_kept,
        "move_action": not_kept,
        "undo_delete_action": translate(
            "Palette", "Nothing was deleted just now; the trash has what was deleted before."
        ),
        "export_chat_action": not_kept,
        "export_all_action": not_kept,
        "print_action": nothing,
        "save_pdf_action": nothing,
        "copy_answer_action": no_answer,
        "answer_again_action": translate(
            "Palette", "There is no answer yet, or it is being written: wait for its end."
        ),
        "go_on_action": translate("Palette", "Only an answer that was stopped before its end can go on."),
        "stop_action": translate("Palette", "No answer is being written."),
    }.get(action, "")
