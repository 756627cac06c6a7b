"""The Jinja sandbox that chat templates run in: everything that can grow is counted before it is made.

Knows nothing of conversations. Beside Jinja's immutable sandbox, which keeps templates from Python's insides, the
operators, the output, slices and `~` go through `Limits` here, filters and methods in `template_filters.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from types import BuiltinMethodType, CodeType, MethodType
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from app.engine.template_filters import guarded_filters
from app.engine.template_limits import SOURCE_CHARACTERS, Limits, TemplateFault
from app.engine.template_values import GuardedValues

GLOBALS = ("range", "dict", "cycler", "joiner")
KEPT_CODES = 8


class GenerationTag(Extension):
    """The tag that marks answers for training; its body is rendered as if the tag was not there."""

    tags = {"generation"}  # noqa: RUF012  the class that this overrides declares it so

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Return the body."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class CountedCode(CodeGenerator):
    """Compiles output, `~`, slices and literals into calls of the sandbox's counting methods."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802
        """Compile `~`."""
        self._write_call("joined", node.nodes, frame)

    def visit_List(self, node: nodes.List, frame: Frame) -> None:  # noqa: N802
        """Compile a list; one of constants is no longer than its source."""
        if all(isinstance(item, nodes.Const) for item in node.items):
            super().visit_List(node, frame)
            return
        self.write("environment.counted(")
        super().visit_List(node, frame)
        self.write(")")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802
        """Compile a dictionary."""
        self.write("environment.counted(")
        super().visit_Dict(node, frame)
        self.write(")")

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:  # noqa: N802
        """Compile a tuple; one that is assigned to stays a plain target."""
        if node.ctx != "load":
            super().visit_Tuple(node, frame)
            return
        self.write("environment.counted(")
        super().visit_Tuple(node, frame)
        self.write(")")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802
        """Compile a slice into a counted one, everything else as usual."""
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        ends = (node.arg.start, node.arg.stop, node.arg.step)
        self._write_call("sliced", [node.node, *(end or nodes.Const(None) for end in ends)], frame)

    def visit_ScopedEvalContextModifier(  # noqa: N802
        self, node: nodes.ScopedEvalContextModifier, frame: Frame
    ) -> None:
        """Compile the body of `autoescape`: a prompt is never HTML."""
        for child in node.body:
            self.visit(child, frame)

    def _write_call(self, method: str, arguments: list[nodes.Expr], frame: Frame) -> None:
        self.write(f"environment.{method}(")
        for argument in arguments:
            self.visit(argument, frame)
            self.write(", ")
        self.write(")")

    def _output_const_repr(self, group: Any) -> str:
        return f"environment.emit({''.join(group)!r})"

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: object) -> None:
        self.write("environment.emit(")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: object) -> None:
        self.write(")")


class TemplateSandbox(ImmutableSandboxedEnvironment):
    """One rendering's environment; what the template makes is counted in its `Limits`."""

    code_generator_class = CountedCode
    intercepted_binops = frozenset(ImmutableSandboxedEnvironment.default_binop_table)

    def __init__(self, limits: Limits, now: datetime) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, loopcontrols], cache_size=0)
        self.limits = limits
        self._values = GuardedValues(limits)
        self.filters = guarded_filters(self.filters, self._values)
        self.globals = {name: self.globals[name] for name in GLOBALS}
        self.globals |= {
            "namespace": _QuietNamespace,
            "raise_exception": _refuse,
            "strftime_now": lambda layout: self._values.time_text(now, layout),
        }

    def emit(self, value: object) -> str:
        """Return the text of what a template puts out, counted; also where it goes into a variable first."""
        text = self._values.text(value)
        self.limits.spend(len(text))
        return text

    def joined(self, *values: object) -> str:
        """Return the texts of some values joined: `~`."""
        return self._values.joined("", values)

    def sliced(self, value: Any, start: Any, stop: Any, step: Any) -> Any:
        """Return `value[start:stop:step]`."""
        part = value[start:stop:step]
        if isinstance(part, (str, list, tuple)):
            self.limits.spend(len(part))
        return part

    def counted(self, value: Any) -> Any:
        """Return a list, tuple or dictionary that is not longer than any text may be when it is written out."""
        self.limits.check_text(self.limits.weigh(value))
        self.limits.spend_items(len(value))
        return value

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Apply an operator whose result is checked before it is made."""
        return self._values.binary(operator, left, right)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Return whether a template may see an attribute; texts and namespaces have nothing to hide but `_names`."""
        if type(obj) is str or type(obj) is _QuietNamespace:
            return not attr.startswith("_")
        return super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return a checked `str.format` or `str.format_map` for the method that a template reached for."""
        if not isinstance(value, (MethodType, BuiltinMethodType)) or not isinstance(value.__self__, str):
            return None
        if value.__name__ == "format":
            return lambda *args, **kwargs: self._values.format_text(self, str(value.__self__), args, kwargs)
        if value.__name__ == "format_map":
            return lambda mapping: self._values.format_text(self, str(value.__self__), (), mapping)
        return None

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805, PYI063
        """Call what a template calls; the methods of texts and lists are those that are known to be harmless."""
        if isinstance(__obj, BuiltinMethodType):
            plain = {name: value for name, value in kwargs.items() if name not in ("_loop_vars", "_block_vars")}
            return __self._values.call_method(__obj, args, plain)
        result = super().call(__context, __obj, *args, **kwargs)
        return __self.counted(result) if isinstance(result, (list, tuple, dict)) else result


class _QuietNamespace(Namespace):
    """Jinja's namespace; written out it does not repeat all that it holds."""

    def __repr__(self) -> str:
        return "<namespace>"


def _refuse(message: object = "") -> None:
    raise TemplateFault("refused", str(message)[:1000])


@lru_cache(maxsize=KEPT_CODES)
def compiled(source: str) -> CodeType:
    """Return the code of a template; a template that cannot be compiled is a `TemplateFault` with its line."""
    if len(source) > SOURCE_CHARACTERS:
        raise TemplateFault("size")
    try:
        return TemplateSandbox(Limits(0), datetime.fromtimestamp(0).astimezone()).compile(source)
    except jinja2.TemplateSyntaxError as error:
        raise TemplateFault("syntax", error.message or "", error.lineno) from None
    except (SyntaxError, RecursionError, MemoryError):
        raise TemplateFault("syntax", "nested too deeply") from None
    except (ValueError, OverflowError) as error:
        raise TemplateFault("syntax", str(error)) from None
