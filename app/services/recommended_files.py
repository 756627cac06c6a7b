"""Which quantisation of a repository suits this machine, and why: by whether each fits and what it is expected to lose.

A header that was read counts; of a repository of which none was, sizes do. Takes some milliseconds a file; never raises.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from app.core.download import refusal_of
from app.core.hub_page import HubPage, HubQuantisation
from app.core.model import LoadOptions
from app.core.quality import LossLevel, QualityLoss, QualityTable, expected_loss
from app.core.words import Sentence, translate
from app.planner.guessed_model import guessed_model
from app.planner.memory_plan import PlannedDevice, Verdict
from app.planner.planned_model import PlannedModel
from app.planner.quantised import BITS_PER_WEIGHT, of_size
from app.planner.suited import most_read, usual
from app.services.fit_verdict import Fit, fit_now, fit_of
from app.services.planning_models import PlannedFile

WHOLE_BITS = 9.0
"""A file of more bits per weight takes memory and time, and is no better than one of eight."""
FEWEST_BITS = 4.0
"""Where nothing was measured, fewer are not recommended."""
MOST_JUDGED = 500
"""Models of a repository: judging one takes a millisecond, and with more of them none is the one."""
OTHER_MODEL = 1.8
"""A file of so many times as many parameters, or as few, is no quantisation of the same model."""
_ACCEPTABLE: tuple[LossLevel, ...] = ("none", "small")
_TRAINED_SO = ("MXFP", "NVFP")
"""Models in these were trained in them, so that nothing is lost."""


class JudgedFile(msgspec.Struct, frozen=True):
    """One quantisation of a repository."""

    path: str
    """The file that is opened."""
    fit: Fit
    """By what is free now."""
    loss: QualityLoss | None
    """None is unknown."""
    bits: float | None = None
    """Per weight; by its name where the hub does not tell."""
    size: int = 0
    usually: Verdict = "unknown"
    """By what is usually free on this machine, which does not change."""
    read_bytes: int = 0
    """Of weights, for each token."""

    @property
    def is_good_enough(self) -> bool:
        """Whether it loses little, or where that was not measured, has bits enough."""
        if self.loss is not None:
            return self.loss.level in _ACCEPTABLE
        return self.bits is None or self.bits >= FEWEST_BITS


class FileChoice(msgspec.Struct, frozen=True):
    """What was judged, and the one that is recommended."""

    files: tuple[JudgedFile, ...] = ()
    recommended: str = ""
    """The path of one of them; empty where none is."""
    reason: Sentence | None = None
    """Why it is, or why none is."""
    note: Sentence | None = None
    """On what that is founded where no header was read."""
    problem: Sentence | None = None
    """Why none was, once it is known."""

    def of(self, path: str) -> JudgedFile | None:
        """Return what is known of one of them."""
        return next((file for file in self.files if file.path == path), None)


def choose_file(
    page: HubPage,
    devices: Sequence[PlannedDevice],
    table: QualityTable,
    read: PlannedModel | None = None,
    *,
    share: float = 1.0,
) -> FileChoice:
    """Return what suits this machine at the usual context; `read` is one of the models by its header, if that was read.

    `share` is which part of the model works on one token, for where it was not.
    """
    whole = [each for each in page.quantisations if not each.is_projector and not each.missing_parts]
    refusals = {each.path: refusal_of(page.repository.id, (file.path for file in each.files)) for each in whole}
    refused = tuple(
        JudgedFile(each.path, Fit("unknown", refusal), None, size=each.size)
        for each in whole
        if (refusal := refusals[each.path]) is not None
    )
    models = [each for each in whole if refusals[each.path] is None]
    known = page.repository.parameters
    here = (tuple(devices), usual(devices))
    share = share if read is None else _active_share(read)
    files = tuple(
        replace(each, read_bytes=round(each.size * share))
        for each in (_judged(each, page, here, table, read, known) for each in models[:MOST_JUDGED])
    )
    if len(models) > MOST_JUDGED:
        rest = tuple(JudgedFile(each.path, _NOT_JUDGED, None, size=each.size) for each in models[MOST_JUDGED:])
        return FileChoice((*files, *rest, *refused), reason=_TOO_MANY)
    if not files and refused:
        return FileChoice(refused, reason=refused[0].fit.reason)
    if not files:
        return FileChoice(
            reason=translate("Recommending", "There is no whole model in this repository: look for another one.")
        )
    is_shared = any(device.shares_main_memory for device in devices)
    chosen, reason = _chosen(files, most_read(devices), _SLOW_SHARED if is_shared else _SLOW)
    return FileChoice((*files, *refused), "" if chosen is None else chosen.path, reason)


def no_chat(page: HubPage, reason: Sentence) -> FileChoice:
    """Return what is said of a repository that is not for chat: nothing of it is judged or recommended."""
    models = (each for each in page.quantisations if not each.is_projector)
    files = (JudgedFile(each.path, Fit("unknown", reason), None, size=each.size) for each in models)
    return FileChoice(tuple(files), reason=reason)


def planned_guess(name: str, size: int, parameters: int, context: int | None) -> PlannedFile:
    """Return a model of which only these are known as something that can be planned."""
    return PlannedFile(name, guessed_model(name, size, parameters, context))


def _judged(
    quantisation: HubQuantisation,
    page: HubPage,
    here: tuple[tuple[PlannedDevice, ...], tuple[PlannedDevice, ...]],
    table: QualityTable,
    read: PlannedModel | None,
    known: int | None,
) -> JudgedFile:
    """`here` is this machine with what is free now, and with what usually is."""
    bits = quantisation.bits_per_weight or BITS_PER_WEIGHT.get(quantisation.name.removeprefix("UD-"))
    if read is not None and not _is_of(read, quantisation.size, bits):
        read = None
    parameters = (None if read is None else read.parameters) or known
    if parameters is None and bits is not None:
        parameters = round(quantisation.size * 8 / bits)
    loss = None
    if not quantisation.name.startswith(_TRAINED_SO):
        loss = expected_loss(table, bits, parameters)
    file = PlannedFile(quantisation.path)
    other = None if read is None else of_size(read, quantisation.name, quantisation.size)
    if other is not None:
        file = PlannedFile(quantisation.path, other)
    elif parameters:
        file = planned_guess(quantisation.path, quantisation.size, parameters, page.repository.context)
    now, usually = (fit_of(file, LoadOptions(), devices) for devices in here)
    return JudgedFile(quantisation.path, fit_now(now, usually), loss, bits, quantisation.size, usually.verdict)


def _is_of(read: PlannedModel, size: int, bits: float | None) -> bool:
    """Return whether a file may be of the model that was read: a repository may hold several, small and large."""
    if bits is None or not read.parameters:
        return True
    return 1 / OTHER_MODEL < size * 8 / bits / read.parameters < OTHER_MODEL


def _active_share(read: PlannedModel) -> float:
    """Return which part of a model works on one token."""
    return (read.active_parameters or read.parameters or 1) / (read.parameters or read.active_parameters or 1)


def _chosen(files: Sequence[JudgedFile], most: int | None, slow: Sentence) -> tuple[JudgedFile | None, Sentence]:
    """Return one and why; `most` is how many bytes of weights a token may take to come soon enough, else it is `slow`."""
    fitting = [file for file in files if file.usually == "fits"]
    good = [file for file in fitting if file.is_good_enough]
    enough = [file for file in good if file.bits is None or file.bits <= WHOLE_BITS] or good[:1]
    quick = [file for file in enough if most is None or file.read_bytes <= most]
    if enough and not quick:
        return min(enough, key=_size), slow
    if quick:
        best = max(quick, key=_size)
        return best, _why_best(best, is_bounded=len(quick) < len(enough))
    part = [file for file in files if file.usually in _IN_PART and file.is_good_enough]
    if part:
        smallest = min(part, key=_size)
        return smallest, _IN_PART[smallest.usually]
    if fitting:
        return max(fitting, key=_size), _ONLY_POOR
    if all(file.fit.verdict == "unknown" for file in files):
        return None, files[0].fit.reason
    return None, translate(
        "Recommending", "None of its files fits on this machine with little loss: choose a smaller model."
    )


def _size(file: JudgedFile) -> int:
    return file.size


def _why_best(file: JudgedFile, *, is_bounded: bool) -> Sentence:
    if is_bounded:
        return _QUICK
    if file.loss is None:
        return translate(
            "Recommending",
            "The largest that fits on this machine; what it loses of the model's quality is not known for its size.",
        )
    if file.loss.level == "none":
        return translate(
            "Recommending",
            "The largest that is worth its memory and fits on this machine: practically nothing of the model's quality is"
            " lost.",
        )
    return translate("Recommending", "The largest that fits on this machine: little of the model's quality is lost.")


_IN_PART: dict[str, Sentence] = {
    "partly": translate(
        "Recommending",
        "None fits on the GPU as a whole; of those that lose little this is the smallest, which is slowed down least by"
        " layers in main memory.",
    ),
    "less_context": translate(
        "Recommending",
        "None fits with the usual context; of those that lose little this is the smallest, and it fits with a shorter one.",
    ),
}
_QUICK = translate(
    "Recommending",
    "The largest that this machine can write with about as fast as you read; larger ones fit as well, but are slower.",
)
_SLOW = translate(
    "Recommending",
    "Of those that lose little this is the smallest, and so the quickest; without a GPU even it is slow. A smaller model"
    " answers sooner.",
)
_SLOW_SHARED = translate(
    "Recommending",
    "Of those that lose little this is the smallest, and so the quickest; from memory that the GPU shares with the"
    " processor even it is slow. A smaller model answers sooner.",
)
_TOO_MANY = translate(
    "Recommending", "There are too many models in this repository to recommend one: search for the one that you want."
)
_NOT_JUDGED = Fit(
    "unknown", translate("Recommending", "Of so many models only the smallest are judged; once it is here, it is.")
)
_ONLY_POOR = translate(
    "Recommending",
    "Only files fit that lose much of the model's quality, and of these it loses least: a smaller model answers better.",
)


def loss_words(loss: QualityLoss | None) -> Sentence:
    """Return in words what a quantisation is expected to lose."""
    if loss is None:
        return translate("Recommending", "unknown")
    words: dict[LossLevel, Sentence] = {
        "none": translate("Recommending", "practically none"),
        "small": translate("Recommending", "small"),
        "noticeable": translate("Recommending", "noticeable"),
        "large": translate("Recommending", "large"),
    }
    return words[loss.level]
