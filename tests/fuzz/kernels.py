"""Random kernels: threads that go different ways, arrays of a block, barriers, warps, atomics."""

from __future__ import annotations

import random

from fuzz import expressions as ex
from fuzz.inputs import Input, random_array, random_number
from fuzz.kinds import INTEGERS, STRONG, WEAK
from fuzz.scope import Array, Scope
from fuzz.statements import Body

_FULL = "0xFFFFFFFF"
_WORDS = ("int32", "uint32", "int64", "uint64", "float32", "float64")


def kernel(rng: random.Random) -> tuple[str, list[Input]]:
    """A kernel and what launches it."""
    from fuzz import programs

    scope = Scope(rng, kernel=True, raises=False)
    lines = programs.globals_of(scope)
    lines += programs.applier(scope, decorator="@cuda.jit(device=True, fma=False)")
    for _ in range(rng.randrange(2)):
        lines += programs.helper(scope, decorator="@cuda.jit(device=True, fma=False)")
    blocks, threads = rng.choice([(1, 1), (1, 32), (3, 33), (2, 64), (4, 7), (1, 100), (2, (8, 4)), ((2, 2), (5, 3))])
    inputs = programs.parameters(scope)
    scope.arrays = {n: Array(a.name, a.kind, a.shape, a.name[0] == "G" and a.writable) for n, a in scope.arrays.items()}
    total = _count(blocks) * _count(threads)
    size = total - rng.choice([0, 0, 1, 3]) if total > 4 else total
    body = Body(scope, depth=3)
    _who(body, threads, blocks)
    outs = _body(body, size, total, threads)
    given = ", ".join([*(i.name for i in inputs), *(o.name for o in outs)])
    lines += ["@cuda.jit(fma=False)", f"def k({given}):", *body.lines]
    lines += [f"def main({given}):", f"    k[{blocks}, {threads}]({given})"]
    return "\n".join(lines) + "\n", [*inputs, *outs]


def _count(dim: object) -> int:
    return dim if isinstance(dim, int) else dim[0] * dim[1]


def _who(body: Body, threads: object, blocks: object) -> None:
    """Says which thread this is: its number in the block and in the grid."""
    if isinstance(threads, int):
        body.say("t = cuda.threadIdx.x")
        body.say(body.rng.choice(["i = cuda.grid(1)", "i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x"]))
    else:
        body.say("t = cuda.threadIdx.x + cuda.threadIdx.y * cuda.blockDim.x")
        block = "cuda.blockIdx.x" if isinstance(blocks, int) else "(cuda.blockIdx.x + cuda.blockIdx.y * cuda.gridDim.x)"
        body.say(f"i = t + {block} * {_count(threads)}")
    body.scope.numbers |= {"t": "int", "i": "int"}
    body.scope.fixed |= {"t", "i", *body.scope.numbers}


def _body(body: Body, size: int, total: int, threads: object) -> list[Input]:
    """What the threads do: each writes its own elements, meets the others where all come by, and counts atomically."""
    rng, scope = body.rng, body.scope
    outs = []
    body.statements(rng.randint(1, 3))
    meets = rng.random() < 0.5
    if meets:
        for _ in range(rng.randint(1, 2)):
            _meeting(body, _count(threads))
            body.statements(rng.randint(0, 2))
    leaves = not meets and rng.random() < 0.3
    if leaves:
        body.say(f"if {ex.condition(scope, 1)}:")
        body.say("    return")
    # Threads that have ended leave what they would have passed on unset.
    apart = not leaves and rng.random() < 0.3
    if apart:
        kind, box = rng.choice(STRONG), scope.fresh("s")
        body.say(f"{box} = cuda.shared.array({_count(threads)}, np.{kind})")
    body.say(f"if i < {size}:")
    body.indent += 1
    kept = body.scope
    body.scope = kept.inner()
    body.statements(rng.randint(0, 3))
    if apart:
        _meeting_of_some(body, box, kind)
    for _ in range(rng.randint(1, 2)):
        kind, name = rng.choice(STRONG), scope.fresh("o")
        outs.append(random_array(rng, name, kind, (size,), zero=True))
        body.say(f"{name}[i] = {body.expr(kind).text}")
    if rng.random() < 0.5:
        outs.append(_atomic(body))
    body.indent -= 1
    body.scope = kept
    if apart and rng.random() < 0.5:
        body.statements(rng.randint(0, 2))
        kind, name = rng.choice(STRONG), scope.fresh("o")
        outs.append(random_array(rng, name, kind, (total,), zero=True))
        body.say(f"{name}[i] = {body.expr(kind).text}")
    return outs


def _meeting_of_some(body: Body, box: str, kind: str) -> None:
    """A barrier of the threads whose number is below some size: the others go on to the end. Each reads what one of lower number wrote."""
    rng, scope = body.rng, body.scope
    for _ in range(rng.randint(1, 2)):
        name = scope.fresh("v")
        body.say(f"{box}[t] = {body.expr(kind).text}")
        body.say("cuda.syncthreads()")
        body.say(f"{name} = {box}[{rng.choice(['t // 2', 't // 3', '0', 't'])}]")
        body.say("cuda.syncthreads()")
        scope.numbers[name] = kind
        body.statements(rng.randint(0, 1))


def _meeting(body: Body, threads: int) -> None:
    """Values passed on to other threads: by an array of the block between barriers, or from lane to lane."""
    rng, scope = body.rng, body.scope
    name = scope.fresh("v")
    what = rng.random()
    if what < 0.6:
        kind, box = rng.choice(STRONG), scope.fresh("s")
        body.say(f"{box} = cuda.shared.array({threads}, np.{kind})")
        body.say(f"{box}[t] = {body.expr(kind).text}")
        body.say("cuda.syncthreads()")
        body.say(f"{name} = {box}[(t * {rng.choice([1, 3, 5])} + {rng.randrange(9)}) % {threads}]")
        body.say("cuda.syncthreads()")
        scope.numbers[name] = kind
    elif what < 0.75:
        count = rng.choice(["count", "and", "or"])
        body.say(f"{name} = cuda.syncthreads_{count}({ex.condition(scope, 1)})")
        scope.numbers[name] = "int32"
    elif what < 0.85:
        _own_array(body, name)
    elif threads % 32 == 0 and rng.random() < 0.4:
        vote = rng.choice(["all_sync", "any_sync", "ballot_sync"])
        body.say(f"{name} = np.int32(cuda.{vote}({_FULL}, {ex.condition(scope, 1)}))")
        scope.numbers[name] = "int32"
    elif threads % 32 == 0:
        kind = rng.choice(_WORDS)
        which = rng.choice(["shfl_sync", "shfl_xor_sync"])
        body.say(f"{name} = cuda.{which}({_FULL}, {body.expr(kind).text}, {rng.randrange(32)})")
        scope.numbers[name] = kind
    else:
        made = body.expr()
        body.say(f"{name} = {made.text}")
        scope.numbers[name] = made.kind


def _own_array(body: Body, name: str) -> None:
    """An array of one thread, filled in a loop and read anywhere."""
    rng, scope = body.rng, body.scope
    kind, box, size, j = rng.choice(STRONG), scope.fresh("s"), rng.randint(1, 9), scope.fresh("i")
    body.say(f"{box} = cuda.local.array({size}, np.{kind})")
    body.say(f"for {j} in range({size}):")
    kept = body.scope
    body.scope = scope.inner(numbers={**scope.numbers, j: "int"})
    body.say(f"    {box}[{j}] = {body.expr(kind).text}")
    body.scope = kept
    body.say(f"{name} = {box}[{ex.index(scope, size)}]")
    scope.numbers[name] = kind


def _atomic(body: Body) -> Input:
    """An atomic operation whose end result does not depend on who came first."""
    rng, scope = body.rng, body.scope
    kind, name = rng.choice(["int32", "uint32", "int64", "uint64"]), scope.fresh("o")
    size = rng.choice([1, 3, 8])
    which = rng.choice(["add", "max", "min", "sub", "add"])
    at = f"i % {size}" if rng.random() < 0.7 else str(rng.randrange(size))
    body.say(f"cuda.atomic.{which}({name}, {at}, {body.expr(kind).text})")
    return random_array(rng, name, kind, (size,), zero=True)


__all__ = ["INTEGERS", "WEAK", "kernel", "random_number"]
