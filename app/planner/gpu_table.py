"""The GPU table that ships with the program, read out of its text, and the GPUs that people added to it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

import msgspec

from app.core.own_gpu import MOST_GB_PER_S, MOST_GIB, MOST_OWN, MOST_TFLOPS, OwnGpu
from app.core.printable import printable
from app.core.words import Sentence, translate
from app.planner.gpu import Family, Gpu, MemoryKind

GIB, MIB = 1 << 30, 1 << 20
SHARED_LOW, SHARED_HIGH = 2 / 3, 3 / 4
"""What macOS lets its GPU have of the memory, up to `SHARED_LIMIT_GIB` and above."""
SHARED_LIMIT_GIB = 36
USABLE_SHARE = 0.95
"""Of a GPU that nothing is known of."""
CAUTIOUS_LAYER_US, CAUTIOUS_EFFICIENCY, CAUTIOUS_BAND = 40.0, 0.65, 0.35
CAUTIOUS_PREFILL = 0.3
"""Share of the tensor rate that prefill reaches there."""
MOST_NAME = 60
MAKERS = ("nvidia", "geforce", "amd", "radeon", "apple", "tesla")
"""Words before a name that tell nothing apart."""
FIGURES = (
    "memory",
    "usable",
    "bandwidth",
    "tflops",
    "layer_us",
    "efficiency",
    "below",
    "above",
    "prefill_tflops",
    "prefill_band",
)
"""Fields of a GPU that have a source."""

_Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
_Band = Annotated[float, msgspec.Meta(gt=0, lt=1)]
_Rate = Annotated[float, msgspec.Meta(gt=0, le=MOST_GB_PER_S)]
_Tflops = Annotated[float, msgspec.Meta(gt=0, le=MOST_TFLOPS)]


class _Class(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    layer_us: Annotated[float, msgspec.Meta(ge=0, le=10_000)]
    below: _Band
    above: _Band
    source: str
    efficiency: _Share | None = None
    read_gb_per_s: _Rate | None = None
    """Instead of the efficiency, which it is with the bandwidth."""


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    name: str
    family: Family
    kind: str = msgspec.field(name="class")
    memory_gib: list[Annotated[float, msgspec.Meta(gt=0, le=MOST_GIB)]] = msgspec.field(default_factory=list)
    """As it is sold; each size is a GPU of its own."""
    bandwidth: _Rate = 1.0
    tflops: _Tflops | None = None
    prefill_tflops: _Tflops | None = None
    prefill_band: _Band = 0.5
    usable_mib: Annotated[int, msgspec.Meta(gt=0)] | None = None
    usable_share: _Share | None = None
    memory_kind: MemoryKind = "own"
    sources: dict[str, str] = {}


class _File(msgspec.Struct, frozen=True):
    sources: dict[str, str]
    classes: dict[str, _Class]
    gpus: list[_Entry]


class GpuTable(msgspec.Struct, frozen=True):
    """The GPUs that can be planned for, and what could not be read of them."""

    gpus: tuple[Gpu, ...] = ()
    problem: Sentence | None = None


def read_gpu_table(text: str) -> GpuTable:
    """Return the GPUs of a table; one that is damaged is empty and has a problem. Never raises."""
    try:
        file = msgspec.json.decode(text.encode("utf-8", "replace"), type=_File)
        gpus = tuple(gpu for entry in file.gpus for gpu in _gpus(entry, file))
    except (msgspec.MsgspecError, KeyError, RecursionError):
        return GpuTable(problem=_damaged())
    return GpuTable(gpus) if len({gpu.id for gpu in gpus}) == len(gpus) else GpuTable(problem=_damaged())


def own_gpus(entries: Mapping[str, OwnGpu], table: Iterable[Gpu]) -> tuple[Gpu, ...]:
    """Return the GPUs that people added, in the order in which they did; one that is named like another is left out."""
    known = {gpu.id: gpu for gpu in table}
    found: dict[str, Gpu] = {}
    for name, entry in list(entries.items())[:MOST_OWN]:
        gpu = _own(printable(name)[:MOST_NAME].strip(), entry, known.get(entry.like))
        if gpu.name and gpu.id not in known:
            found.setdefault(gpu.id, gpu)
    return tuple(found.values())


def name_problem(name: str, table: Iterable[Gpu], own: Iterable[str] = ()) -> Sentence | None:
    """Return why a GPU cannot be added under a name, or None where it can; `own` are the names of those added before."""
    wanted = gpu_id(printable(name)[:MOST_NAME])
    if not wanted:
        return translate("Planner", "A GPU needs a name with a letter or a digit: type one.")
    if any(wanted in (gpu.id, gpu_id(gpu.name)) for gpu in table) or wanted in map(gpu_id, own):
        return translate(
            "Planner", "There is a GPU called “{name}” already: choose another name.", name=printable(name)
        )
    return None


def matching(text: str, gpus: Iterable[Gpu]) -> tuple[Gpu, ...]:
    """Return the GPUs that a text means: the one that is called so, or all whose name begins with its words."""
    wanted, all_of_them = gpu_id(text), tuple(gpus)
    exact = called(text, all_of_them)
    if exact or not wanted:
        return exact
    bare = _without_maker(wanted)
    named = (bare, f"rtx-{bare}", f"rx-{bare}")
    alike = tuple(gpu for gpu in all_of_them if gpu.id in named)
    return alike or tuple(gpu for gpu in all_of_them if gpu.id.startswith(tuple(f"{name}-" for name in named)))


def called(text: str, gpus: Iterable[Gpu]) -> tuple[Gpu, ...]:
    """Return the GPU of a name as it is printed anywhere, with its maker or without, in any case and spacing."""
    wanted = _unspaced(text)
    return tuple(gpu for gpu in gpus if wanted and wanted in _all_names(gpu))


def _all_names(gpu: Gpu) -> set[str]:
    """Return what a GPU is called: its id, its name, and that without the first words of the maker's."""
    words = gpu_id(gpu.name).split("-")
    makers = next((place for place, word in enumerate(words) if word not in MAKERS), len(words) - 1)
    return {_unspaced(gpu.id), *("".join(words[place:]) for place in range(makers + 1))}


def _without_maker(key: str) -> str:
    words = key.split("-")
    while len(words) > 1 and words[0] in MAKERS:
        words = words[1:]
    return "-".join(words)


def _unspaced(text: str) -> str:
    return gpu_id(text).replace("-", "")


def gpu_id(name: str) -> str:
    """Return what a GPU of that name is called in files and on the command line."""
    return "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())


def _gpus(entry: _Entry, file: _File) -> list[Gpu]:
    kind = file.classes[entry.kind]
    sources = {name: file.sources[key] for name, key in entry.sources.items()}
    sources |= dict.fromkeys(("layer_us", "efficiency", "below", "above"), kind.source)
    sources["prefill_band"] = sources.get("prefill_tflops", "")
    if sorted(sources) != sorted(FIGURES):
        raise KeyError(entry.id)
    several = len(entry.memory_gib) > 1
    return [
        Gpu(
            id=f"{entry.id}-{gib:g}" if several else entry.id,
            name=f"{entry.name} {gib:g} GB" if several else entry.name,
            memory=round(gib * GIB),
            usable=_usable(entry, gib),
            bandwidth=entry.bandwidth,
            tflops=entry.tflops,
            layer_us=kind.layer_us,
            efficiency=_efficiency(kind, entry.bandwidth),
            prefill_tflops=entry.prefill_tflops,
            below=kind.below,
            above=kind.above,
            prefill_band=entry.prefill_band,
            speed_class=entry.kind,
            family=entry.family,
            memory_kind=entry.memory_kind,
            sources=sources,
        )
        for gib in entry.memory_gib
    ]


def _usable(entry: _Entry, gib: float) -> int:
    if entry.usable_mib is not None:
        return entry.usable_mib * MIB
    if entry.memory_kind == "shared":
        return round(gib * GIB * shared_share(gib))
    return round(gib * GIB * (entry.usable_share or USABLE_SHARE))


def shared_share(gib: float) -> float:
    """Return what a GPU that shares so much memory may have of it, unless somebody changed that."""
    return SHARED_LOW if gib <= SHARED_LIMIT_GIB else SHARED_HIGH


def _efficiency(kind: _Class, bandwidth: float) -> float:
    if kind.read_gb_per_s is not None:
        return min(1.0, kind.read_gb_per_s / bandwidth)
    return kind.efficiency or CAUTIOUS_EFFICIENCY


def _own(name: str, entry: OwnGpu, like: Gpu | None) -> Gpu:
    given = "entered by you"
    assumed = f"assumed: as {like.name}" if like else "assumed, with caution"
    share = shared_share(entry.memory_gib) if entry.shares_memory else USABLE_SHARE
    prefill_share = CAUTIOUS_PREFILL
    if like and like.tflops and like.prefill_tflops:
        prefill_share = like.prefill_tflops / like.tflops
    return Gpu(
        id=gpu_id(name),
        name=name,
        memory=round(entry.memory_gib * GIB),
        usable=round(entry.memory_gib * GIB * share),
        bandwidth=entry.bandwidth,
        tflops=entry.tflops,
        layer_us=like.layer_us if like else CAUTIOUS_LAYER_US,
        efficiency=like.efficiency if like else CAUTIOUS_EFFICIENCY,
        prefill_tflops=entry.tflops * prefill_share if entry.tflops else None,
        below=like.below if like else CAUTIOUS_BAND,
        above=like.above if like else CAUTIOUS_BAND,
        prefill_band=max(like.prefill_band, CAUTIOUS_BAND) if like else CAUTIOUS_BAND,
        speed_class=like.speed_class if like else "",
        memory_kind="shared" if entry.shares_memory else "own",
        sources={**dict.fromkeys(FIGURES, assumed), **dict.fromkeys(("memory", "bandwidth", "tflops"), given)},
    )


def _damaged() -> Sentence:
    return translate("Planner", "The table of GPUs that came with the program is damaged: install the program again.")
