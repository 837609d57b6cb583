"""Compiles a program, and reads from it what the search benchmark shows beside its time.

In: a function and its arguments. Out: a `Program`, which runs it and knows what compiling took,
what its loops carry, and which of them have a length that only the running program finds out.
"""

import re
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

COMMAND_BUFFER_OPTIONS: dict[str, str | bool] = {
    "xla_gpu_enable_command_buffer": (
        "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CUDNN,DYNAMIC_SLICE_FUSION,CONDITIONAL,WHILE"
    )
}
"""XLA records what is named here into CUDA graphs; the list replaces XLA's own (DebugOptions)."""


class Program(NamedTuple):
    """A compiled function.

    `compile_s`: seconds to trace, lower and compile it.
    `temp_bytes`: what XLA allocates for a run beside arguments and results.
    `carried_bytes`: of the loop that carries most from one iteration to the next.
    `unknown_trip_counts`: loops of the compiled program without a length known beforehand; on a
      GPU the host waits for the predicate of each of their iterations.
    `pallas_calls`: kernels of Pallas in the function.
    `graph_convolutions`: convolutions of the compiled program that are cuDNN graphs. XLA makes
      them of FP8 convolutions only; one that it cannot make it computes in a wider type.
    """

    run: Callable[..., Any]
    compile_s: float
    temp_bytes: int
    carried_bytes: int
    unknown_trip_counts: int
    pallas_calls: int
    graph_convolutions: int


def build(
    function: Callable[..., Any], arguments: tuple[Any, ...], command_buffers: bool
) -> Program:
    """Compiles `function` for `arguments`, with loops in command buffers if they are wanted."""
    start = time.perf_counter()
    traced = jax.jit(function).trace(*arguments)
    compiled = traced.lower().compile(
        compiler_options=COMMAND_BUFFER_OPTIONS if command_buffers else None
    )
    compile_s = time.perf_counter() - start
    memory, text = compiled.memory_analysis(), compiled.as_text()
    assert memory is not None
    assert text is not None
    inside = list(equations(traced.jaxpr.jaxpr))
    return Program(
        run=compiled,
        compile_s=compile_s,
        temp_bytes=memory.temp_size_in_bytes,
        carried_bytes=max(map(carried_bytes, inside), default=0),
        unknown_trip_counts=unknown_trip_counts(text),
        pallas_calls=num_kernels(traced.jaxpr.jaxpr),
        graph_convolutions=text.count('custom_call_target="__cudnn$convForwardGraph"'),
    )


def unknown_trip_counts(compiled_text: str) -> int:
    """How many `while` operations of an HLO text have no `known_trip_count`."""
    loops = re.findall(r"^.* = .*\bwhile\(.*$", compiled_text, re.MULTILINE)
    return sum("known_trip_count" not in loop for loop in loops)


def num_kernels(jaxpr: Jaxpr) -> int:
    """How many kernels of Pallas a function calls."""
    return sum(equation.primitive.name == "pallas_call" for equation in equations(jaxpr))


def equations(jaxpr: Jaxpr) -> Iterator[JaxprEqn]:
    """All equations of a function, those of its loops and calls included, kernels' own apart."""
    for equation in jaxpr.eqns:
        yield equation
        if equation.primitive.name == "pallas_call":
            continue
        for inner in jax.tree.leaves(list(equation.params.values()), is_leaf=_is_jaxpr):
            if _is_jaxpr(inner):
                yield from equations(inner.jaxpr if isinstance(inner, ClosedJaxpr) else inner)


def carried_bytes(equation: JaxprEqn) -> int:
    """Bytes that a loop carries from one iteration to the next; 0 of anything but a loop.

    They are those of the loop's results, since no loop here collects any others.
    """
    if equation.primitive.name not in ("scan", "while"):
        return 0
    results: list[Any] = [result.aval for result in equation.outvars]
    return sum(result.size * result.dtype.itemsize for result in results)


def _is_jaxpr(value: Any) -> bool:
    return isinstance(value, Jaxpr | ClosedJaxpr)
