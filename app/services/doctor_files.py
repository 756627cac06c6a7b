"""Whether files can be kept: pure rules over folders, settings and models."""

from __future__ import annotations

import msgspec

from app.core.model import FoundModel
from app.core.words import Sentence, translate
from app.services.findings import Finding
from app.services.surroundings import FolderKey, Surroundings
from app.services.units import byte_size
from app.system.model_files import shown
from app.system.paths import HOME_VARIABLE

LITTLE_BYTES = 2 << 30
"""A model of a useful size takes more than this."""
_NOT_WRITABLE: dict[FolderKey, Sentence] = {
    "settings": translate(
        "Doctor", "Settings cannot be kept in {path}: check its permissions and the disk it is on."
    ),
    "data": translate("Doctor", "Chats cannot be kept in {path}: check its permissions and the disk it is on."),
    "models": translate("Doctor", "Models cannot be kept in {path}: check its permissions and the disk it is on."),
    "logs": translate("Doctor", "Logs cannot be kept in {path}: check its permissions and the disk it is on."),
    "cache": translate("Doctor", "The cache cannot be kept in {path}: check its permissions and the disk it is on."),
}


def file_findings(
    around: Surroundings, settings_problems: tuple[Sentence, ...], models: tuple[FoundModel, ...]
) -> list[Finding]:
    """Return what is wrong with the program's files."""
    found = []
    if around.home is not None and not all(folder.is_writable for _, folder in around.folders):
        sentence = translate(
            "Doctor",
            "Nothing can be kept in {path}, which {variable} names: remove this variable, or name a folder there that "
            "can be written to.",
            path=shown(around.home),
            variable=HOME_VARIABLE,
        )
        found.append(Finding("files", "problem", sentence, around.remedies.unset(HOME_VARIABLE)))
    for key, folder in around.folders:
        if around.home is None and not folder.is_writable:
            sentence = msgspec.structs.replace(_NOT_WRITABLE[key], values={"path": shown(folder.path)})
            found.append(Finding("files", "problem", sentence))
    found += [Finding("files", "note", problem) for problem in settings_problems]
    models_folder = next((folder for key, folder in around.folders if key == "models"), None)
    if models_folder is not None and models_folder.free is not None and models_folder.free < LITTLE_BYTES:
        sentence = translate(
            "Doctor",
            "Only {free} are free for models in {path}: make some room before you download one.",
            free=byte_size(models_folder.free),
            path=shown(models_folder.path),
        )
        found.append(Finding("files", "note", sentence))
    takes_models = models_folder is None or models_folder.is_writable
    if takes_models and not any(model.problem is None for model in models):
        folder_path = shown(models_folder.path) if models_folder is not None else ""
        sentence = translate(
            "Doctor", "There is no model that can be used yet: put a .gguf file into {path}.", path=folder_path
        )
        command = around.remedies.set_up() if around.remedies.installation == "checkout" else ""
        found.append(Finding("files", "note", sentence, command))
    return found
