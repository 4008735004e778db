"""The math library's own text, made callable on NumPy arrays.

The kernel language's `if` is per lane. Here `if c: x = ...` becomes `x = select(c, ..., x)`, and `not`, `and`, `or` their NumPy functions;
nothing else of the text is touched.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy_intrinsics

SOURCES = Path(__file__).resolve().parents[2] / "crates" / "math" / "src"


def texts() -> Iterator[tuple[Path, ast.Module]]:
    """The library's files. Of a definition that serves both widths there are two, as `crates/math/src/lib.rs` makes them."""
    for path in sorted(SOURCES.glob("*.py")):
        parts = re.split(r"^(?=def )", path.read_text(), flags=re.MULTILINE)
        both = [[p.replace("_each", "_f64"), p.replace("_each", "_f32")] if "_each" in p.split("(")[0] else [p] for p in parts]
        yield path, ast.parse("".join(part for made in both for part in made))


class _Lanes(ast.NodeTransformer):
    """Rewrites statements that divide the lanes."""

    def __init__(self, parameters: list[str]) -> None:
        self.known = set(parameters)
        self.conditions = 0

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        self.known |= {name.id for name in ast.walk(node.targets[0]) if isinstance(name, ast.Name)}
        return node

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        test = self.visit(node.test)
        name = f"_lanes{self.conditions}"
        self.conditions += 1
        flipped = ast.Call(ast.Name("_not", ast.Load()), [ast.Name(name, ast.Load())], [])
        made: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], test)]
        for cond, body in ((ast.Name(name, ast.Load()), node.body), (flipped, node.orelse)):
            for statement in body:
                made += self._masked(cond, statement)
        return made

    def _masked(self, cond: ast.expr, statement: ast.stmt) -> list[ast.stmt]:
        if isinstance(statement, ast.If):
            statement.test = ast.Call(ast.Name("_and", ast.Load()), [cond, statement.test], [])
            return self.visit_If(statement)
        assert isinstance(statement, ast.Assign), ast.dump(statement)
        target = statement.targets[0]
        assert isinstance(target, ast.Name | ast.Tuple)
        names = [n.id for n in (target.elts if isinstance(target, ast.Tuple) else [target]) if isinstance(n, ast.Name)]
        fresh = [f"_new_{n}" for n in names]
        parts: list[ast.expr] = [ast.Name(n, ast.Store()) for n in fresh]
        value = self.visit(statement.value)
        made: list[ast.stmt] = [ast.Assign([parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Store())], value)]
        for name, new in zip(names, fresh):
            old = ast.Name(name if name in self.known else new, ast.Load())
            blend = ast.Call(ast.Name("_blend", ast.Load()), [cond, ast.Name(new, ast.Load()), old], [])
            made.append(ast.Assign([ast.Name(name, ast.Store())], blend))
            self.known.add(name)
        return made

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name("_not", ast.Load()), [node.operand], []) if isinstance(node.op, ast.Not) else node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        name = "_and" if isinstance(node.op, ast.And) else "_or"
        value = node.values[0]
        for other in node.values[1:]:
            value = ast.Call(ast.Name(name, ast.Load()), [value, other], [])
        return value


def load() -> dict[str, Callable[..., object]]:
    """Every definition of the library by name, but for those of integers, sums and decimals: their loops differ from lane to lane."""
    scalars = {"int32": np.int32, "int64": np.int64, "uint32": np.uint32, "uint64": np.uint64, "float32": np.float32, "float64": np.float64}
    convert = {name: (lambda x, t=t: np.asarray(x).astype(t)) for name, t in scalars.items()}
    names: dict[str, object] = {
        "np": SimpleNamespace(inf=np.inf, nan=np.nan, array=lambda items, dtype=np.asarray: dtype(items), fmod=np.fmod, **convert),
        "intrinsics": numpy_intrinsics,
        "_blend": np.where,
        "_not": np.logical_not,
        "_and": np.logical_and,
        "_or": np.logical_or,
    }
    found = []
    for path, tree in texts():
        if path.name in ("integers.py", "fsum.py", "round.py"):
            continue
        tree.body = [d for d in tree.body if isinstance(d, ast.FunctionDef | ast.Assign)]
        for definition in tree.body:
            if isinstance(definition, ast.Assign):
                continue
            _Lanes([a.arg for a in definition.args.args]).visit(definition)
            found.append(definition.name)
        exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), names)
    return {name: names[name] for name in found}


LIBRARY = load()


def call(name: str, *args: np.ndarray) -> np.ndarray | tuple[np.ndarray, ...]:
    """The library's function `name` on arrays of one float type."""
    suffix = "f32" if args[0].dtype == np.float32 else "f64"
    numpy_intrinsics.weak.set(args[0].dtype.type)
    with np.errstate(all="ignore"):
        return (LIBRARY.get(f"{name}_{suffix}") or LIBRARY[f"{name}_any"])(*args)


def call_fast(name: str, *args: np.ndarray) -> np.ndarray:
    """The version for callers with `fastmath`."""
    suffix = "f32" if args[0].dtype == np.float32 else "f64"
    numpy_intrinsics.weak.set(args[0].dtype.type)
    with np.errstate(all="ignore"):
        return LIBRARY[f"{name}_{suffix}_fast"](*args)


def compiled(name: str, *args: np.ndarray) -> np.ndarray:
    """The same function compiled, where it can be reached from Python."""
    import compiled as ufuncs

    return np.asarray(getattr(ufuncs, name)(*args))
