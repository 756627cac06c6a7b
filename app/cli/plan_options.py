"""What can be typed after `tokenlight plan`, and what its help says of the JSON that it prints."""

from __future__ import annotations

import argparse
from typing import get_args

from app.cli.values import one_of, text, tokens, whole_number
from app.core.model import DEFAULT_CONTEXT, DEFAULT_PROMPT, MOST_PLANNED_CONTEXT, MOST_SEQUENCES, KVType
from app.services.plan_answer import PlanAsked

PLAN_DESCRIPTION = """\
Say whether a model fits, how long its context may be, how many conversations
go at once, how long the first token takes and how fast the others follow. For
this machine llama.cpp is asked; for other GPUs, and for models that are not
here yet, it is worked out from the header of the file, and nothing else of it
is downloaded. Speed falls as the cache fills: of one plan both ends are
printed, after the prompt and with the context full; a table has the latter."""
PLAN_EPILOG = """\
MODEL is a .gguf file, a folder of them, the name of a model as `models`
lists it, org/repo of the hub (a line for each model), or org/repo:file, where
a quantisation such as Q4_K_M will do. GPUs are named as tables print them. The
hub is read as HF_ENDPOINT, HF_TOKEN, HTTPS_PROXY and HF_HUB_OFFLINE say, and
not at all with TOKENLIGHT_OFFLINE=1 or “Stay offline” in the preferences.

--json prints one object. Memory is in bytes; unknown is null.
  asked    model, context, kv_type, sequences, prompt, gpus
  models   a list: name, path, architecture, kind (dense, window, latent,
           recurrent, hybrid, unknown), quantisation, parameters,
           active_parameters, layers, trained_context, size, is_best, problem,
           plans
  problem  what is wrong with the table of GPUs
  plans    a list, one for each GPU: gpu, name, verdict (fits, less_context,
           partly, too_large, unknown), reason, context, prompt, gpu_layers,
           experts_on_cpu (of how many layers the experts of a mixture lie in
           main memory), largest_context, most_sequences, limited_by,
           decode (context full), decode_after_prompt (as an answer begins,
           faster), ttft, devices, levers, note (why llama.cpp gave no
           figures, or what layers beside another GPU are judged by), remark,
           needed (of the GPU), decode_as_asked and gpu_layers_as_asked (of
           less_context: with the context asked for, and layers in main
           memory), context_as_asked (what levers save is saved of it), caveats
           (sentences: something held up all answers here)
  decode   tokens_per_s of each conversation, low, high, ceiling, together,
           limited_by (memory, bandwidth, layers, compute, processor, pace:
           far slower here than the memory allows), source
           (measured, vendor, extrapolated, assumed, entered, told), context
           (tokens in the cache of each meanwhile)
  ttft     ms, low, high, prefill_tokens_per_s, limited_by, is_most
  devices  a list: name, is_gpu; weights, kv, state, compute, overhead, margin,
           each bytes and source (asked, formula, assumed); needed, total,
           free, spare
  levers   a list: kind (context, kv_type, gpu_layers, experts_on_cpu,
           quantisation, flash_attention), saves, fits, context, kv_type,
           gpu_layers, experts_on_cpu, quantisation, is_estimate

Ends with 0 whatever the verdict is, with 2 for wrong use, and with 3 when no
model can be used."""


def add_plan(plan: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    plan.add_argument(
        "model", metavar="MODEL", type=text, help="a .gguf file, a folder, a name, org/repo or org/repo:file"
    )
    plan.add_argument(
        "--context",
        metavar="N",
        type=tokens(1, MOST_PLANNED_CONTEXT),
        help=f"tokens of each conversation, such as 32768 or 32k; at most {DEFAULT_CONTEXT:,} if left out",
    )
    plan.add_argument(
        "--kv",
        metavar="TYPE",
        type=one_of(get_args(KVType)),
        default="f16",
        help="f16, q8_0 or q4_0: how keys and values are kept; f16 if left out",
    )
    plan.add_argument(
        "--sequences",
        metavar="N",
        type=whole_number(1, MOST_SEQUENCES),
        default=1,
        help="conversations at once, each with this context; 1 if left out",
    )
    plan.add_argument(
        "--prompt",
        metavar="N",
        type=tokens(1, MOST_PLANNED_CONTEXT),
        help=f"tokens of the prompt before the first token; {DEFAULT_PROMPT:,} if left out",
    )
    plan.add_argument(
        "--gpu",
        metavar="NAME,…",
        action="extend",
        type=_names,
        default=[],
        help="GPUs to plan for instead of this machine, such as L4,RTX-4090; a name that several begin with, such as H100,"
        " means each of them; may repeat",
    )
    plan.add_argument("--json", action="store_true", help="print one JSON object, see below")
    plan.add_argument("--fake-engine", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def plan_asked(found: argparse.Namespace) -> PlanAsked:
    """Return what was typed."""
    return PlanAsked(
        model=found.model,
        context=found.context,
        kv_type=found.kv,
        sequences=found.sequences,
        prompt=found.prompt,
        gpus=tuple(dict.fromkeys(found.gpu)),
    )


def _names(typed: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text(typed).split(",") if name.strip())
    if not names:
        raise argparse.ArgumentTypeError(f"takes names with commas between them, such as L4,H100, not “{typed}”")
    return names
