"""The convolutions of a compiled program, read from its text. No jax.

In: optimized HLO, as `compiled.as_text()` prints it. Out: each convolution with its computation,
its direction and the types of its operands. Both forms of XLA:GPU are read, calls of cuDNN and
cuDNN fusions, and plain convolutions, as the program of a CPU has them. Operands are printed with
or without their types; without, the type is that of their definition.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["forward", "backward-input", "backward-filter"]


class Convolution(NamedTuple):
    """A convolution; types are named as in HLO: `f8e4m3fn`, `bf16`, `f32`."""

    name: str
    computation: str  # that runs it: the one that holds its fusion, if it is in one
    kind: Kind
    target: str  # the custom call's target, `convolution` without one
    input_dtype: str  # of the first operand; the cotangent's in `backward-input`
    kernel_dtype: str  # of the second operand; the cotangent's in `backward-filter`
    result_dtype: str


class _Instruction(NamedTuple):
    name: str
    computation: str
    result: str  # type as printed
    opcode: str
    operands: tuple[tuple[str, str], ...]  # (type as printed, name)
    attributes: str


_CALL_KINDS: dict[str, Kind] = {
    "__cudnn$convForward": "forward",
    "__cudnn$convBiasActivationForward": "forward",
    "__cudnn$convForwardGraph": "forward",
    "__cudnn$convBackwardInput": "backward-input",
    "__cudnn$convBackwardFilter": "backward-filter",
}
_PLAIN_KINDS: dict[str, Kind] = {
    "fprop": "forward",
    "dgrad": "backward-input",
    "wgrad": "backward-filter",
}
_HEADER = re.compile(r"(?:ENTRY )?%?([^\s(=]+) (?:\(.*)?\{$")
_DEFINITION = re.compile(r"\s+(?:ROOT )?%?([^\s=]+) = ")
_DTYPE = re.compile(r"([a-z][a-z0-9]*)\[")
_COMMENT = re.compile(r"/\*.*?\*/")
_TARGET = re.compile(r'custom_call_target="([^"]*)"')
_OP_NAME = re.compile(r'op_name="([^"]*)"')
_PLAIN_KIND = re.compile(r"convolution_kind=(\w+)")
_WINDOW = re.compile(r"window={size=(\d+)")
_RESULT_LABELS = re.compile(r"dim_labels=\S+->(\w+)")
_SHAPE = re.compile(r"\[([0-9,]+)\]")
_CALLED = re.compile(r"\b(?:calls|to_apply)=%?([^\s,]+)")

_CALLERS = frozenset({"fusion", "call", "async-start"})
_CUDNN_FUSION = "__cudnn$fusion"


def list_convolutions(text: str) -> list[Convolution]:
    """All convolutions of a program, in the order of its text."""
    instructions = list(_instructions(text))
    callers = {
        name: caller
        for caller in instructions
        if caller.opcode in _CALLERS
        for name in _CALLED.findall(caller.attributes)
    }
    definitions = {(one.computation, one.name): one for one in instructions}
    found = []
    for one in instructions:
        if _is_convolution(one):
            found.append(_convolution(one, definitions, callers))
    return found


def _is_convolution(one: _Instruction) -> bool:
    is_called_so = one.opcode == "convolution" or _target(one) in _CALL_KINDS
    return is_called_so and len(one.operands) >= 2


def _convolution(
    one: _Instruction,
    definitions: dict[tuple[str, str], _Instruction],
    callers: dict[str, _Instruction],
) -> Convolution:
    caller = callers.get(one.computation)
    in_cudnn_fusion = caller is not None and (
        _PLAIN_KIND.search(one.attributes) is not None or _CUDNN_FUSION in caller.attributes
    )
    inputs, kernel = (
        _operand_dtype(one.computation, operand, definitions, in_cudnn_fusion)
        for operand in one.operands[:2]
    )
    computation = one.computation
    while computation in callers:
        computation = callers[computation].computation
    target = _target(one) if one.opcode == "custom-call" else "convolution"
    result = one.result
    if in_cudnn_fusion and caller is not None:
        target, result = _CUDNN_FUSION, caller.result
    return Convolution(one.name, computation, _kind(one), target, inputs, kernel, _dtype(result))


def _kind(one: _Instruction) -> Kind:
    if one.opcode == "custom-call":
        return _CALL_KINDS[_target(one)]
    plain = _PLAIN_KIND.search(one.attributes)
    if plain is not None:
        return _PLAIN_KINDS[plain[1]]
    if _is_filter_gradient(one):
        return "backward-filter"
    op_name = _OP_NAME.search(one.attributes)
    # What jax calls the operations of a gradient.
    is_gradient = op_name is not None and "transpose(jvp" in op_name[1]
    return "backward-input" if is_gradient else "forward"


def _is_filter_gradient(one: _Instruction) -> bool:
    """Whether a plain convolution, whose name XLA:CPU may drop, gives the gradient of a kernel.

    The result then is as large as a kernel, and its window as large as the cotangent.
    """
    window, labels = _WINDOW.search(one.attributes), _RESULT_LABELS.search(one.attributes)
    shape = _SHAPE.search(one.result)
    if window is None or labels is None or shape is None or "0" not in labels[1]:
        return False
    return int(window[1]) > int(shape[1].split(",")[labels[1].index("0")])


def _target(one: _Instruction) -> str:
    found = _TARGET.search(one.attributes) if one.opcode == "custom-call" else None
    return "" if found is None else found[1]


def _operand_dtype(
    computation: str,
    operand: tuple[str, str],
    definitions: dict[tuple[str, str], _Instruction],
    in_cudnn_fusion: bool,
) -> str:
    """The type that the convolution reads; a cuDNN fusion reads FP8 below a cast to float32."""
    printed, name = operand
    definition = definitions.get((computation, name))
    if definition is None:
        return _dtype(printed)
    if in_cudnn_fusion and definition.opcode == "convert":
        source = _operand_dtype(computation, definition.operands[0], definitions, False)
        if source.startswith("f8"):
            return source
    return _dtype(definition.result)


def _instructions(text: str) -> Iterator[_Instruction]:
    computation = ""
    for line in text.splitlines():
        header = _HEADER.match(line)
        if header is not None:
            computation = header[1]
            continue
        definition = _DEFINITION.match(line)
        parsed = None if definition is None else _parse(_COMMENT.sub("", line[definition.end() :]))
        if definition is not None and parsed is not None:
            yield _Instruction(definition[1], computation, *parsed)


def _parse(text: str) -> tuple[str, str, tuple[tuple[str, str], ...], str] | None:
    """Type, opcode, operands and attributes of a definition, None if it does not look like one."""
    end_of_type = _closing(text, 0) + 1 if text.startswith("(") else text.find(" ")
    opening = text.find("(", end_of_type)
    if end_of_type <= 0 or opening < 0:
        return None
    closing = _closing(text, opening)
    if closing < 0:
        return None
    operands = tuple(_operand(part) for part in _parts(text[opening + 1 : closing]))
    opcode = text[end_of_type:opening].strip()
    return text[:end_of_type], opcode, operands, text[closing + 1 :]


def _operand(text: str) -> tuple[str, str]:
    printed, _, name = text.strip().rpartition(" ")
    return printed, name.removeprefix("%")


def _parts(text: str) -> Iterator[str]:
    """Splits at commas that are in no bracket."""
    depth, begin = 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            yield text[begin:at]
            begin = at + 1
    yield text[begin:]


def _closing(text: str, opening: int) -> int:
    """Where the parenthesis that opens here closes; -1 if it does not."""
    depth = 0
    for at in range(opening, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
    return -1


def _dtype(printed: str) -> str:
    """The element type of an array, or of the first array of a tuple; empty for other text."""
    found = _DTYPE.search(printed)
    return "" if found is None else found[1]
