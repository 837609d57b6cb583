"""Finds code through which a file could run code or write where it likes, by its syntax.

In: the text of a module. Out: lines with what is unsafe on them.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

MODULES = frozenset(("pickle", "_pickle", "cloudpickle", "dill", "marshal", "shelve", "joblib"))
"""They run what a file says while they load it."""

BUILTINS = frozenset(("eval", "exec", "compile", "__import__"))

ATTRIBUTES = {
    "system": "os.system",
    "popen": "os.popen",
    "unpack_archive": "shutil.unpack_archive",
    "extractall": "extractall",
    "mktemp": "tempfile.mktemp",
    "unsafe_load": "yaml.unsafe_load",
    "unsafe_load_all": "yaml.unsafe_load_all",
    "full_load": "yaml.full_load",
    "full_load_all": "yaml.full_load_all",
    "read_array": "numpy.lib.format.read_array",
}

SAFE_LOADERS = frozenset(("SafeLoader", "CSafeLoader", "_Loader"))
"""`_Loader` of `envs.yaml_text` is a SafeLoader."""

ARRAY_MODULES = frozenset(("np", "numpy", "jnp"))


class Unsafe(NamedTuple):
    """Something unsafe in a line."""

    line: int
    what: str


def unsafe_code(text: str) -> list[Unsafe]:
    """Everything unsafe in a module."""
    return [
        Unsafe(node.lineno, what)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Call)
        for what in _found(node)
    ]


def _found(node: ast.Import | ast.ImportFrom | ast.Call) -> Iterator[str]:
    if isinstance(node, ast.Call):
        yield from _in_call(node)
        return
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
    for name in names:
        if name and name.partition(".")[0] in MODULES:
            yield f"import of {name}"


def _in_call(call: ast.Call) -> Iterator[str]:
    named = {word.arg: word.value for word in call.keywords}
    if isinstance(call.func, ast.Name) and call.func.id in BUILTINS:
        yield call.func.id
    if _is_true(named.get("shell")):
        yield "shell=True"
    if _is_true(named.get("allow_pickle")):
        yield "allow_pickle=True"
    if not isinstance(call.func, ast.Attribute):
        return
    owner, name = ast.unparse(call.func.value), call.func.attr
    if name in ATTRIBUTES:
        yield ATTRIBUTES[name]
    if name == "import_module" and call.args and not isinstance(call.args[0], ast.Constant):
        yield "import of a computed name"
    if owner in ARRAY_MODULES and name == "load" and "allow_pickle" not in named:
        yield "load without allow_pickle=False"
    if owner == "yaml" and name in ("load", "load_all"):
        loader = named.get("Loader", call.args[1] if len(call.args) > 1 else None)
        if loader is None or ast.unparse(loader).rpartition(".")[2] not in SAFE_LOADERS:
            yield f"yaml.{name} without a safe loader"


def _is_true(value: ast.expr | None) -> bool:
    """Whether an argument is given and not the constant False."""
    return value is not None and not (isinstance(value, ast.Constant) and value.value is False)
