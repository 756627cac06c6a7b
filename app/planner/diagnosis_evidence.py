"""The figures that a diagnosis rests on, as rows: what they are, and how much of it in which unit.

A row whose figure is not known is left out, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable

from app.core.circumstances import Circumstances
from app.core.devices import GpuLimit
from app.core.diagnosis import Evidence
from app.core.metrics import Metrics
from app.core.words import Sentence, counted, translate
from app.planner.answer_times import Times
from app.planner.decode_costs import draws_s, processor

_GPU_LIMITS: dict[GpuLimit, Sentence] = {
    "power": translate("Diagnosis", "its power limit"),
    "heat": translate("Diagnosis", "its temperature"),
    "hardware": translate("Diagnosis", "a protection of the card or its power supply"),
}


def known(*rows: Evidence | None) -> tuple[Evidence, ...]:
    """Return the rows that are known."""
    return tuple(row for row in rows if row is not None)


def waiting(times: Times) -> Evidence:
    """Return how long the answer waited for its turn."""
    return Evidence(
        translate("Diagnosis", "Waited for its turn"), translate("Diagnosis", "{seconds:.1f} s", seconds=times.queue)
    )


def preparing(metrics: Metrics, times: Times) -> Evidence:
    """Return how long template and tokenising took."""
    return Evidence(
        translate("Diagnosis", "Template and tokens"),
        counted(
            metrics.prompt_tokens,
            translate("Diagnosis", "{seconds:.2f} s for 1 token", seconds=times.prompt),
            translate(
                "Diagnosis",
                "{seconds:.2f} s for {tokens} tokens",
                seconds=times.prompt,
                tokens=metrics.prompt_tokens,
            ),
        ),
    )


def reading(metrics: Metrics, times: Times) -> Evidence | None:
    """Return what was evaluated in which time."""
    tokens = metrics.prompt_tokens - metrics.prompt_tokens_from_cache
    if tokens <= 0 and not times.prefill:
        return None
    what = translate("Diagnosis", "Read (prefill)")
    if tokens == 1:
        words = translate("Diagnosis", "1 token in {seconds} s", seconds=_seconds(times.prefill))
    elif metrics.prefill_tokens_per_s is None:
        words = translate(
            "Diagnosis", "{tokens} tokens in {seconds} s", tokens=tokens, seconds=_seconds(times.prefill)
        )
    else:
        words = translate(
            "Diagnosis",
            "{tokens} tokens in {seconds} s: {rate:.0f} tok/s",
            tokens=tokens,
            seconds=_seconds(times.prefill),
            rate=metrics.prefill_tokens_per_s,
        )
    return Evidence(what, words)


def from_cache(metrics: Metrics) -> Evidence:
    """Return how much of the prompt was in the cache already."""
    cached, tokens = metrics.prompt_tokens_from_cache, metrics.prompt_tokens
    one = translate("Diagnosis", "{cached} of 1 token", cached=cached)
    several = translate("Diagnosis", "{cached} of {tokens} tokens", cached=cached, tokens=tokens)
    return Evidence(translate("Diagnosis", "From the cache"), counted(tokens, one, several))


def read_again(circumstances: Circumstances) -> Evidence | None:
    """Return how many tokens had been read before."""
    if not circumstances.read_again:
        return None
    return Evidence(
        translate("Diagnosis", "Read before, and again now"),
        counted(
            circumstances.read_again,
            translate("Diagnosis", "1 token"),
            translate("Diagnosis", "{tokens} tokens", tokens=circumstances.read_again),
        ),
    )


def from_disk(pages: int | None, size: int | None) -> Evidence | None:
    """Return what had to come from the disk meanwhile."""
    if pages is None:
        return None
    what = translate("Diagnosis", "Read from the disk meanwhile")
    if size is None:
        one, several = (
            translate("Diagnosis", "1 page fault"),
            translate("Diagnosis", "{pages} page faults", pages=pages),
        )
    else:
        one, several = (
            translate("Diagnosis", "{size}, 1 page fault", size=byte_words(size)),
            translate("Diagnosis", "{size}, {pages} page faults", size=byte_words(size), pages=pages),
        )
    return Evidence(what, counted(pages, one, several))


def writing(metrics: Metrics, times: Times) -> Evidence | None:
    """Return what was written in which time."""
    if metrics.decode_tokens_per_s is None:
        return None
    figures: dict[str, str | float] = {"seconds": _seconds(times.decode), "rate": metrics.decode_tokens_per_s}
    one = translate("Diagnosis", "1 token after the first one in {seconds} s: {rate:.1f} tok/s", **figures)
    several = translate(
        "Diagnosis",
        "{tokens} tokens after the first one in {seconds} s: {rate:.1f} tok/s",
        tokens=metrics.gaps,
        **figures,
    )
    words = counted(metrics.gaps, one, several)
    if metrics.parts > 1:
        words = translate(
            "Diagnosis",
            "{tokens} tokens after the first ones of its {parts} parts in {seconds} s: {rate:.1f} tok/s",
            tokens=metrics.gaps,
            parts=metrics.parts,
            **figures,
        )
        if metrics.gaps == 1:
            words = translate(
                "Diagnosis",
                "1 token after the first ones of its {parts} parts in {seconds} s: {rate:.1f} tok/s",
                parts=metrics.parts,
                **figures,
            )
    return Evidence(translate("Diagnosis", "Written (decode)"), words)


def expected(circumstances: Circumstances) -> Evidence | None:
    """Return what earlier answers let one expect."""
    if circumstances.expected is None:
        return None
    speed, low, high = circumstances.expected
    return Evidence(
        translate("Diagnosis", "Expected from earlier answers"),
        translate("Diagnosis", "{speed:.0f} tok/s ({low:.0f}–{high:.0f})", speed=speed, low=low, high=high),
    )


def expected_reading(metrics: Metrics, circumstances: Circumstances) -> Evidence | None:
    """Return how long earlier answers let one expect the prompt to be read for, beside how long it was."""
    if circumstances.expected_prefill_s is None:
        return None
    seconds, low, high = (f"{each:.3g}" for each in circumstances.expected_prefill_s)
    return Evidence(
        translate("Diagnosis", "Prompt (prefill) expected from earlier answers"),
        translate(
            "Diagnosis",
            "{seconds} s ({low}–{high}), it took {real} s",
            seconds=seconds,
            low=low,
            high=high,
            real=f"{metrics.ttft_parts_ms.prefill / 1000:.3g}",
        ),
    )


def first_text(metrics: Metrics) -> Evidence | None:
    """Return how long the first text took."""
    if metrics.ttft_ms is None:
        return None
    return Evidence(
        translate("Diagnosis", "First text after"),
        translate("Diagnosis", "{seconds:.2f} s", seconds=metrics.ttft_ms / 1000),
    )


def share_of_ceiling(metrics: Metrics, circumstances: Circumstances) -> float | None:
    """Return the memory traffic of a decode as a share of what the memory gives at most; None where one is unknown."""
    traffic, most = metrics.traffic_gb_per_s, circumstances.memory_gb_per_s
    return traffic / most if traffic is not None and most else None


def traffic(metrics: Metrics, circumstances: Circumstances) -> Evidence | None:
    """Return how much was read from memory, beside what it gives at most where that was measured."""
    moved, share = metrics.traffic_gb_per_s, share_of_ceiling(metrics, circumstances)
    if moved is None:
        return None
    what = translate("Diagnosis", "Memory traffic")
    if share is None:
        return Evidence(
            what,
            translate(
                "Diagnosis", "{traffic:.1f} GB/s; how fast this memory can be is not measured yet", traffic=moved
            ),
        )
    most = circumstances.memory_gb_per_s or 0.0
    return Evidence(
        what,
        translate(
            "Diagnosis",
            "{traffic:.1f} of {most:.1f} GB/s: {percent:.0f} %",
            traffic=moved,
            most=most,
            percent=100 * share,
        ),
    )


def layers(circumstances: Circumstances) -> Evidence | None:
    """Return how many layers are on the GPU."""
    on_gpu, every = circumstances.gpu_layers, circumstances.all_layers
    if not every:
        return None
    words = translate("Diagnosis", "none of {layers}", layers=max(1, every - 1))
    if on_gpu:
        words = translate("Diagnosis", "{on_gpu} of {layers}, the output layer counted", on_gpu=on_gpu, layers=every)
    return Evidence(translate("Diagnosis", "Layers on the GPU"), words)


def weights_and_cache(metrics: Metrics, circumstances: Circumstances) -> Evidence | None:
    """Return what is read for the last token: weights, and the cache at the end."""
    weights, cache = circumstances.weight_bytes_per_token, metrics.kv.bytes
    if weights is None or cache is None:
        return None
    return Evidence(
        translate("Diagnosis", "Read for the last token"),
        translate(
            "Diagnosis",
            "{weights} of weights, {cache} of the KV cache",
            weights=byte_words(weights),
            cache=byte_words(cache),
        ),
    )


def drift(metrics: Metrics) -> Evidence | None:
    """Return how far apart tokens were at the beginning and at the end."""
    if metrics.drift is None:
        return None
    return Evidence(
        translate("Diagnosis", "A token, at the beginning and at the end"),
        translate("Diagnosis", "{begin:.1f} ms, {end:.1f} ms", begin=metrics.drift.begin, end=metrics.drift.end),
    )


def sampling(metrics: Metrics, times: Times) -> Evidence | None:
    """Return what the draws took."""
    if metrics.sampling_ms is None or not metrics.sampled_tokens or not times.decode:
        return None
    took = draws_s(metrics, times)
    return Evidence(
        translate("Diagnosis", "Choosing tokens (sampling)"),
        translate(
            "Diagnosis",
            "{each:.2f} ms a token: {percent:.0f} % of the decode",
            each=1000 * took / metrics.sampled_tokens,
            percent=100 * took / times.decode,
        ),
    )


def threads(circumstances: Circumstances) -> Evidence | None:
    """Return how many threads share how many cores."""
    if circumstances.threads is None or circumstances.cores is None:
        return None
    one = translate("Diagnosis", "{threads} on 1 core", threads=circumstances.threads)
    several = translate(
        "Diagnosis", "{threads} on {cores} cores", threads=circumstances.threads, cores=circumstances.cores
    )
    return Evidence(translate("Diagnosis", "Threads"), counted(circumstances.cores, one, several))


def busy(metrics: Metrics, times: Times, circumstances: Circumstances) -> Evidence | None:
    """Return how much of the processor the engine got of what its threads could use."""
    got = processor(metrics, times, circumstances)
    if got is None:
        return None
    return Evidence(
        translate("Diagnosis", "Processor time that the engine got"),
        translate("Diagnosis", "{percent:.0f} % of what it could use", percent=100 * got.share),
    )


def window(circumstances: Circumstances, times: Times) -> Evidence | None:
    """Return what showing the answer took."""
    if circumstances.window_busy_s is None or not times.decode:
        return None
    return Evidence(
        translate("Diagnosis", "Showing it (window)"),
        translate(
            "Diagnosis",
            "{busy:.1f} s of one core: {percent:.0f} % of the decode",
            busy=circumstances.window_busy_s,
            percent=100 * circumstances.window_busy_s / times.decode,
        ),
    )


def painting(times: Times) -> Evidence:
    """Return how long the first text waited for the screen."""
    return Evidence(
        translate("Diagnosis", "First text to the screen"),
        translate("Diagnosis", "{seconds:.2f} s", seconds=times.paint),
    )


def gpu_memory(circumstances: Circumstances) -> Evidence | None:
    """Return what was set aside on the GPU, and what really lies there."""
    used, buffers = circumstances.gpu_used_bytes, circumstances.gpu_buffer_bytes
    if used is None or buffers is None:
        return None
    return Evidence(
        translate("Diagnosis", "Set aside, and in the GPU's own memory"),
        translate("Diagnosis", "{buffers}, at most {used}", buffers=byte_words(buffers), used=byte_words(used)),
    )


def gpu_limits(limits: Iterable[GpuLimit]) -> tuple[Evidence, ...]:
    """Return what held the GPU back, one row each."""
    what = translate("Diagnosis", "The GPU was held back by")
    return tuple(Evidence(what, _GPU_LIMITS[limit]) for limit in _GPU_LIMITS if limit in frozenset(limits))


def _seconds(seconds: float) -> str:
    """Return a time with three digits that say something: with fewer it does not agree with the speed beside it."""
    return f"{seconds:.{1 if seconds >= 10 else 2 if seconds >= 1 else 3}f}"


def byte_words(size: int) -> str:
    """Return a size with its unit, decimal as memory traffic is."""
    value = float(size)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f}\u00a0{unit}" if unit == "B" else f"{value:.1f}\u00a0{unit}"
        value /= 1000
    return f"{value:.1f}\u00a0GB"
