"""Whole random programs as source text, with the arguments they run on."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz import expressions as ex
from fuzz import kernels
from fuzz.inputs import Input, number, random_array, random_number
from fuzz.kinds import COMPLEX, INTEGERS, STRONG, WEAK
from fuzz.scope import Array, Callee, Scope
from fuzz.statements import Body


@dataclass
class Program:
    """A program: `main` in its text takes what the inputs make."""

    seed: int
    text: str
    inputs: list[Input]
    sort: str


def generate(seed: int, sort: str) -> Program:
    """The program of this number: `jit` is a function of the host, `kernel` is launched, `ufunc` is called with arrays."""
    rng = random.Random(f"{sort} {seed}")
    made = {"jit": host, "kernel": kernels.kernel, "ufunc": ufunc}[sort](rng)
    return Program(seed, made[0], made[1], sort)


def host(rng: random.Random) -> tuple[str, list[Input]]:
    """Functions that call each other, globals and closures, and a main function that is compiled."""
    scope = Scope(rng)
    lines = globals_of(scope)
    lines += applier(scope)
    for _ in range(rng.randrange(3)):
        lines += helper(scope, closed=rng.random() < 0.25)
    inputs = parameters(scope)
    parallel = rng.random() < 0.25
    body = Body(scope, depth=rng.choice([2, 3, 3, 4]))
    body.statements(rng.randint(2, 5))
    if parallel:
        parallel_loop(body)
        body.statements(rng.randint(0, 2))
    names = [*scope.numbers, *(a.name for a in scope.arrays.values() if not a.open)]
    rng.shuffle(names)
    lines.append(f"@njit{'(parallel=True)' if parallel else ''}")
    lines.append(f"def main({', '.join(i.name for i in inputs)}):")
    lines += body.lines
    lines.append(f"    return ({', '.join(names[:5])},)" if names else "    return 0")
    return "\n".join(lines) + "\n", inputs


def applier(scope: Scope, decorator: str = "@njit") -> list[str]:
    """A function that calls another one."""
    if scope.rng.random() < 0.6:
        return []
    scope.applies = scope.fresh("apply")
    return [decorator, f"def {scope.applies}(f, x):", "    return f(x)"]


def globals_of(scope: Scope) -> list[str]:
    """Frozen numbers, tuples and arrays."""
    rng, lines = scope.rng, []
    for _ in range(rng.randrange(3)):
        name, kind = scope.fresh("C"), rng.choice(STRONG + WEAK)
        lines.append(f"{name} = {ex.literal(rng, kind).text}")
        scope.numbers[name] = kind
        scope.fixed.add(name)
    for _ in range(rng.randrange(3)):
        name, kind = scope.fresh("G"), rng.choice(STRONG)
        length = rng.randint(2, 5)
        items = ", ".join(
            f"complex('{item}')" if isinstance(item, complex) else f"float('{item}')" if isinstance(item, float) else str(item)
            for item in (_plain(number(rng, kind)) for _ in range(length))
        )
        lines.append(f"{name} = np.array([{items}], np.{kind})")
        scope.arrays[name] = Array(name, kind, (length,), writable=False)
    if rng.random() < 0.2:
        name = scope.fresh("P")
        scope.records[name] = ("a", "b", "c")[: rng.randint(1, 3)]
        lines.append(f"{name} = collections.namedtuple({name!r}, {' '.join(scope.records[name])!r})")
    if rng.random() < 0.3:
        name, kinds = scope.fresh("T"), tuple(rng.choice(STRONG + WEAK) for _ in range(rng.randint(1, 3)))
        lines.append(f"{name} = ({', '.join(ex.literal(rng, kind).text for kind in kinds)},)")
        scope.tuples[name] = kinds
    return lines


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def helper(scope: Scope, closed: bool = False, decorator: str = "@njit") -> list[str]:
    """A function that others call: some parameters, some with defaults, one result or several. It may be made by another function."""
    rng, name = scope.rng, scope.fresh("f")
    params = [(scope.fresh("p"), rng.choice(STRONG + WEAK)) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.4 and not scope.kernel:
        params.insert(0, (scope.fresh("q"), rng.choice(STRONG) + "[]"))
    defaults = 0
    inner = scope.inner(numbers={n: k for n, k in scope.numbers.items() if n[0] == "C"}, counter=scope.counter)
    inner.numbers |= {n: k for n, k in params if not k.endswith("[]")}
    inner.arrays |= {n: Array(n, k[:-2], (1,), writable=rng.random() < 0.5, open=True) for n, k in params if k.endswith("[]")}
    inner.tuples = {n: t for n, t in scope.tuples.items() if n[0] == "T"}
    header = [n for n, _ in params]
    while defaults < len(params) and rng.random() < 0.25 and params[-1 - defaults][1] in WEAK:
        at = len(params) - 1 - defaults
        header[at] += f"={ex.literal(rng, params[at][1]).text}"
        defaults += 1
    rest = rng.choice([k for k in STRONG if k not in ("bool_", *COMPLEX)]) if rng.random() < 0.15 else ""
    more, total = scope.fresh("r"), scope.fresh("s")
    if rest:
        header.append(f"*{more}")
        inner.numbers[total] = rest
    lines = [decorator, f"def {name}({', '.join(header)}):"]
    if rest:
        each = scope.fresh("e")
        lines += [
            f"    {total} = np.{rest}(len({more}))",
            f"    for {each} in {more}:",
            f"        {total} = {total} * np.{rest}(3) - {each}",
        ]
    if closed:
        captured, kind = scope.fresh("c"), rng.choice(STRONG + WEAK)
        array = kind in STRONG and rng.random() < 0.5
        if array:
            inner.arrays[captured] = Array(captured, kind, (3,), writable=False)
        else:
            inner.numbers[captured] = kind
            inner.fixed.add(captured)
    gives = tuple(rng.choice(STRONG + WEAK) for _ in range(1 if rng.random() < 0.75 else 2))
    body = Body(inner, depth=2, gives=gives)
    body.statements(rng.randint(0, 4))
    lines += body.lines + [f"    return {body.results()}"]
    if closed:
        outer = scope.fresh("make")
        lines = [f"def {outer}({captured}):", *("    " + line for line in lines), f"    return {name}"]
        given = ", ".join(ex.literal(rng, kind).text for _ in range(3))
        lines.append(f"{name} = {outer}(np.array([{given}], np.{kind}))" if array else f"{name} = {outer}({ex.literal(rng, kind).text})")
    scope.callees.append(Callee(name, tuple(params), defaults, gives, rest))
    return lines


def parameters(scope: Scope) -> list[Input]:
    """What the main function takes."""
    rng, inputs = scope.rng, []
    for _ in range(rng.randint(1, 4)):
        name, kind = scope.fresh("x"), rng.choice(STRONG + WEAK + WEAK)
        inputs.append(random_number(rng, name, kind))
        scope.numbers[name] = kind
    for _ in range(rng.randint(0, 3)):
        name, kind = scope.fresh("a"), rng.choice(STRONG)
        shape = tuple(rng.choice([1, 2, 3, 4, 5, 7]) for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3])))
        if rng.random() < 0.05 and shape:
            shape = (0, *shape[1:])
        inputs.append(random_array(rng, name, kind, shape))
        scope.arrays[name] = Array(name, kind, shape)
    return inputs


def parallel_loop(body: Body) -> None:
    """A `prange` that fills an array, and adds up, compares and notes down numbers."""
    rng, scope = body.rng, body.scope
    count, name, kind = rng.choice([1, 3, 17, 40, 300]), scope.fresh("a"), rng.choice(STRONG)
    body.say(f"{name} = np.zeros({count}, np.{kind})")
    total, most, found, last = (scope.fresh(stem) for stem in ("s", "m", "b", "l"))
    sums = rng.choice(["int", *INTEGERS])
    body.say(f"{total} = {'0' if sums == 'int' else f'np.{sums}(0)'}")
    body.say(f"{most} = -5")
    body.say(f"{found} = False")
    i = scope.fresh("i")
    turns = rng.choice([f"{count}", f"{count}", f"0, {count}", f"0, {count}, {rng.randint(1, 4)}", f"{count - 1}, -1, -1"])
    body.say(f"for {i} in prange({turns}):")
    kept = body.scope
    readable = {n: a for n, a in scope.arrays.items() if a.name != name}
    frozen = {n: Array(a.name, a.kind, a.shape, False, a.open) for n, a in readable.items()}
    # Functions inside this one may write to arrays.
    plain = [callee for callee in scope.callees if callee.name[0] != "g"]
    body.scope = scope.inner(
        raises=False, callees=plain, arrays=frozen, numbers={**scope.numbers, i: "int"}, fixed={*scope.numbers, i}, kernel=True
    )
    body.indent += 1
    body.statements(rng.randint(1, 3))
    body.say(f"{name}[{i}] = {body.expr(kind).text}")
    use = rng.random()
    if use < 0.6:
        body.say(f"{total} += {body.expr(sums).text}")
    if use < 0.4:
        body.say(f"{most} = max({most}, {ex.small(body.expr('int'), 900).text})")
    if 0.3 < use < 0.8:
        body.say(f"if {ex.condition(body.scope, 1)}:")
        body.say(f"    {found} = True")
    noted = rng.random() < 0.3
    if noted:
        made = body.expr()
        body.say(f"{last} = {made.text}")
    body.indent -= 1
    body.scope = kept
    scope.arrays[name] = Array(name, kind, (count,))
    scope.numbers |= {total: sums, most: "int", found: "bool"}
    if noted:
        scope.numbers[last] = made.kind
    elif rng.random() < 0.2:
        scope.numbers[i] = "int"


def ufunc(rng: random.Random) -> tuple[str, list[Input]]:
    """A function of numbers that `vectorize` makes a ufunc of, called with arrays that broadcast."""
    scope = Scope(rng, raises=False, kernel=True)
    lines = globals_of(scope) + applier(scope)
    for _ in range(rng.randrange(2)):
        lines += helper(scope)
    kinds = [rng.choice(STRONG) for _ in range(rng.randint(1, 3))]
    # `dtype` names what the operands become before the function sees them, and what the result is.
    computed = rng.choice(STRONG) if rng.random() < 0.3 else None
    casting = rng.choice(["safe", "same_kind"])
    if computed is not None:
        kinds = [rng.choice([k for k in STRONG if np.can_cast(getattr(np, k), getattr(np, computed), casting)]) for _ in kinds]
    names = [scope.fresh("x") for _ in kinds]
    scope.numbers |= {name: computed or kind for name, kind in zip(names, kinds)}
    gives = computed or rng.choice(STRONG)
    body = Body(scope, depth=3, gives=(gives,))
    body.statements(rng.randint(0, 4))
    lines += ["@vectorize", f"def u({', '.join(names)}):", *body.lines, f"    return {body.results()}"]
    full = tuple(rng.choice([1, 2, 5, 9, 33]) for _ in range(rng.choice([1, 1, 2, 3])))
    inputs = []
    for kind in kinds:
        shape = tuple(1 if rng.random() < 0.2 else n for n in full[rng.randrange(len(full)) if rng.random() < 0.3 else 0 :])
        name = scope.fresh("a")
        inputs.append(random_array(rng, name, kind, shape) if rng.random() < 0.85 else random_number(rng, name, kind))
    out = random_array(rng, "out", gives, full, zero=True)
    where = random_array(rng, "where", "bool_", full)
    given = ", ".join(i.name for i in inputs)
    how = "" if computed is None else f", dtype=np.{computed}, casting='{casting}'"
    masked = ", where=where" if rng.random() < 0.5 else ""
    lines += [f"def main({given}, out, where):", f"    return (u({given}{how}), u({given}, out=out{masked}{how}))"]
    return "\n".join(lines) + "\n", [*inputs, out, where]
