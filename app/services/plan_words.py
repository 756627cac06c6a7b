"""What is said of a row of the comparison: whether it fits, what limits it, what fails of what is wanted. Pure."""

from __future__ import annotations

from app.core.words import Sentence, translate
from app.planner.comparison import Row
from app.planner.gpu import CARRIED_OVER, GB, Gpu, Limit
from app.planner.memory_plan import Verdict
from app.planner.needs import Meets
from app.services.planning_words import prompt_remark, rests_on
from app.services.units import byte_size, rate

VERDICTS: dict[Verdict, Sentence] = {
    "fits": translate("PlanComparison", "fits"),
    "less_context": translate("PlanComparison", "less context"),
    "partly": translate("PlanComparison", "partly"),
    "too_large": translate("PlanComparison", "too large"),
    "unknown": translate("PlanComparison", "unknown"),
}
VERDICT_HINTS: dict[Verdict, Sentence] = {
    "fits": translate("PlanComparison", "Everything lies on the GPU, with room to spare."),
    "less_context": translate("PlanComparison", "The weights fit, but not with so long a context: shorten it."),
    "partly": translate("PlanComparison", "Some layers have to lie in main memory, which is slower."),
    "too_large": translate(
        "PlanComparison", "There is no room for it: choose a smaller quantisation or a larger GPU."
    ),
    "unknown": translate("PlanComparison", "What it takes cannot be worked out."),
}
LIMITS: dict[Limit, Sentence] = {
    "memory": translate("PlanComparison", "memory"),
    "bandwidth": translate("PlanComparison", "bandwidth"),
    "layers": translate("PlanComparison", "work per layer"),
    "compute": translate("PlanComparison", "compute"),
    "processor": translate("PlanComparison", "layers off the GPU"),
    "pace": translate("PlanComparison", "slower than bandwidth"),
}
LIMIT_HINTS: dict[Limit, Sentence] = {
    "memory": translate("PlanComparison", "There is not enough memory on the GPU."),
    "bandwidth": translate(
        "PlanComparison", "Every token reads the weights and the KV cache: how fast memory is read sets the pace."
    ),
    "layers": translate(
        "PlanComparison", "The model is so small that starting the work of each layer takes longer than reading it."
    ),
    "compute": translate("PlanComparison", "So many tokens are worked on at once that arithmetic sets the pace."),
    "processor": translate("PlanComparison", "The layers in main memory take most of the time."),
    "pace": translate(
        "PlanComparison",
        "Answers showed this machine to be much slower than its memory allows: too few threads, other programs, or the "
        "arithmetic of this quantisation.",
    ),
}
MUCH_READ = 0.5
"""Share of the bandwidth below which it is said that the rest of it brings one conversation nothing."""
MEETS = translate("PlanComparison", "meets it")
MEETS_BARELY = translate("PlanComparison", "meets it, but hardly: the slow end of the band would not do")


def need_words(found: Meets) -> Sentence:
    """Return the one thing that fails of what is wanted, with both figures, or that nothing does."""
    wanted, there = found.wanted, found.there
    match found.shortfall:
        case None:
            return MEETS_BARELY if found.is_close else MEETS
        case "memory" if wanted is not None and there is not None:
            needs, has = byte_size(round(wanted)), byte_size(round(there))
            return translate("PlanComparison", "needs {wanted}, has {there}", wanted=needs, there=has)
        case "memory":
            return translate("PlanComparison", "too little memory")
        case "context" if there:
            tokens = round(wanted or 0)
            return translate("PlanComparison", "context {there} of {wanted}", wanted=tokens, there=round(there))
        case "context":
            return translate("PlanComparison", "no room for the context")
        case "speed" if wanted is not None and there is not None:
            return translate(
                "PlanComparison", "{there} of {wanted} tok/s each", wanted=rate(wanted), there=rate(there)
            )
        case "first_token" if wanted is not None and there is not None:
            one = translate(
                "PlanComparison", "first token {there} s, not {wanted} s", wanted=rate(wanted), there=rate(there)
            )
            last = translate(
                "PlanComparison",
                "first token of the last one {there} s, not {wanted} s",
                wanted=rate(wanted),
                there=rate(there),
            )
            return one if found.row.first_token == found.row.first_token_together else last
        case _:
            return translate("PlanComparison", "cannot be said")


def why_no_memory(row: Row) -> Sentence | None:
    """Return why nothing is said of memory; None where it is."""
    if row.verdict != "unknown":
        return None
    return row.plan.reason or row.model.unknown_reason or VERDICT_HINTS["unknown"]


def why_no_speed(row: Row) -> Sentence | None:
    """Return why nothing is said of how fast it writes; None where it is."""
    if row.speed is not None:
        return None
    if row.verdict == "too_large":
        return VERDICT_HINTS["too_large"]
    if row.verdict == "partly":
        return translate(
            "PlanComparison", "Some layers lie in main memory, and how fast the processor reads that is not known."
        )
    return why_no_memory(row) or translate(
        "PlanComparison", "The file does not say enough of its layers to work out a speed."
    )


def why_no_first_token(row: Row, prompt: int) -> Sentence | None:
    """Return why nothing is said of the time to the first token of a prompt; None where it is."""
    if row.first_token is not None:
        return None
    if row.verdict == "less_context" and prompt > row.context:
        return translate(
            "PlanComparison",
            "A prompt of {prompt} tokens does not fit into the {context} that there is room for.",
            prompt=prompt,
            context=row.context,
        )
    return why_no_speed(row) or prompt_remark(prompt, row.context) or no_reading(row.gpu)


def why_no_roof(row: Row) -> Sentence:
    """Return why there is no roofline."""
    if row.gpu.tflops is None:
        return no_arithmetic(row.gpu)
    return why_no_speed(row) or translate(
        "PlanComparison", "The layers lie on two devices, which have no common roof."
    )


def no_arithmetic(gpu: Gpu) -> Sentence:
    """Return that it is not known how much a GPU computes."""
    return translate("PlanComparison", "How much {gpu} computes in a second is not known.", gpu=gpu.name)


def no_reading(gpu: Gpu) -> Sentence:
    """Return that it is not known how fast a GPU reads a prompt, and what would tell it."""
    if gpu.is_this_machine:
        return translate(
            "PlanComparison",
            "How fast {gpu} reads a prompt is not known yet: ask a model something. The first answer after a load does"
            " not count, nor one that is stopped, nor a prompt of a few words.",
            gpu=gpu.name,
        )
    if gpu.source_kind("bandwidth") == "entered":
        return translate(
            "PlanComparison",
            "How much {gpu} computes is not known: change it, and enter its FP16 figure.",
            gpu=gpu.name,
        )
    return no_arithmetic(gpu)


def how_sure(gpu: Gpu, beside: Sentence | None = None) -> tuple[Sentence, ...]:
    """Return what a speed is judged by, how much of the bandwidth that is, and how far it may be off.

    `beside` is what layers in main memory are judged by, where that is not the processor of the GPU's own machine.
    """
    off = translate(
        "PlanComparison",
        "The speed may be {below} % lower or {above} % higher.",
        below=round(gpu.below * 100),
        above=round(gpu.above * 100),
    )
    if beside is not None:
        return beside, off
    if gpu.is_this_machine or gpu.sources.get("efficiency", "").startswith(CARRIED_OVER):
        return rests_on(gpu), off
    read, full = rate(gpu.effective_bandwidth / GB), rate(gpu.bandwidth)
    match gpu.source_kind("efficiency"):
        case "measured":
            by = translate(
                "PlanComparison",
                "In published runs llama.cpp read {read} of the {full} GB/s of {gpu}, or of GPUs of its class.",
                read=read,
                full=full,
                gpu=gpu.name,
            )
        case "extrapolated":
            by = translate(
                "PlanComparison",
                "By published runs on GPUs like {gpu} llama.cpp reads {read} of its {full} GB/s.",
                read=read,
                full=full,
                gpu=gpu.name,
            )
        case _:
            by = translate(
                "PlanComparison",
                "It is assumed that llama.cpp reads {read} of the {full} GB/s of {gpu}.",
                read=read,
                full=full,
                gpu=gpu.name,
            )
    if gpu.efficiency >= MUCH_READ:
        return by, off
    little = translate("PlanComparison", "With one conversation it gets no more out of so fast a memory.")
    return by, little, off
