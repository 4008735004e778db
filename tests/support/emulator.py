"""Runs undecorated kernels in plain Python: the oracle of the kernel tests.

A kernel is ordinary Python whose free name ``cuda`` means the thread it runs as. The emulator calls it once per thread with such a
``cuda``; threads of a kernel whose threads meet (at barriers, or as lanes of a warp) are operating-system threads that run one at a time.
"""

from __future__ import annotations

import builtins
import itertools
import threading
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import weft

WARP = 32


def call(function: Any, args: Sequence[Any]) -> Any:
    """Call the Python function behind a compiled host function."""
    with np.errstate(all="ignore"):
        return _plain(function, _Cuda(None))(*args)


def launch(kernel: Any, blocks: Any, threads: Any, args: Sequence[Any], sharedmem: int = 0) -> None:
    """Run the Python function behind ``kernel`` for every thread of the grid: block after block, unless blocks wait for each other."""
    grid, dim = _dim3(blocks), _dim3(threads)
    indices = [(x, y, z) for z, y, x in itertools.product(*map(range, reversed(grid)))]
    made = [_Block(index, dim, grid, sharedmem) for index in indices]
    names = set(_names(kernel))
    groups = [made] if "this_grid" in names else [[block] for block in made]
    for group in groups:
        every = [thread for block in group for thread in block.threads()]
        if names & _MEETINGS:
            _run_turns(kernel, args, every)
        else:
            for thread in every:
                _run(kernel, args, thread)


_MEETINGS = {"this_grid", "activemask", "syncwarp", "syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or"} | {
    f"{name}_sync" for name in ("shfl", "shfl_up", "shfl_down", "shfl_xor", "all", "any", "eq", "ballot", "match_any", "match_all")
}


def _names(function: Any) -> Iterable[str]:
    """What a compiled function and those it calls name."""
    source = function.py_func
    for name in source.__code__.co_names:
        yield name
        callee = source.__globals__.get(name)
        if hasattr(callee, "py_func") and callee is not function:
            yield from _names(callee)


def _dim3(value: Any) -> tuple[int, int, int]:
    items = tuple(value) if isinstance(value, tuple) else (value,)
    return items + (1,) * (3 - len(items))


def _run(kernel: Any, args: Sequence[Any], thread: _Thread) -> None:
    with np.errstate(all="ignore"):
        _plain(kernel, _Cuda(thread))(*args)


def _run_turns(kernel: Any, args: Sequence[Any], threads: list[_Thread]) -> None:
    turns = _Turns(len(threads))

    def body(number: int) -> None:
        thread = threads[number]
        thread.turns, thread.number = turns, number
        turns.start(number)
        try:
            _run(kernel, args, thread)
        except BaseException as error:
            turns.errors.append(error)
        turns.finish(number)

    workers = [threading.Thread(target=body, args=(number,)) for number in range(len(threads))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if turns.errors:
        raise turns.errors[0]


class _Turns:
    """Lets threads run one at a time. One that meets others waits until all of them that have not ended have come.

    Whose turn it is holds the only baton, so that what is here needs no lock: a thread passes it on and waits for its own.
    """

    def __init__(self, count: int) -> None:
        self.batons = [threading.Semaphore(0) for _ in range(count)]
        self.batons[0].release()
        self.all = frozenset(range(count))
        self.live = set(self.all)
        self.waiting: dict[int, tuple[str, frozenset[int]]] = {}
        self.come: dict[tuple[str, frozenset[int]], dict[int, Any]] = {}
        self.met: dict[int, dict[int, Any]] = {}
        self.errors: list[BaseException] = []

    def start(self, number: int) -> None:
        self.batons[number].acquire()

    def meet(self, number: int, what: str, members: frozenset[int], value: Any = None) -> dict[int, Any]:
        """Wait for all members to meet for the same; gives what each of them brought."""
        key = what, members
        self.waiting[number] = key
        self.come.setdefault(key, {})[number] = value
        self._settle(key)
        self._pass_on(number)
        self.batons[number].acquire()
        if number not in self.met:
            raise RuntimeError("threads wait for each other in vain")
        return self.met.pop(number)

    def finish(self, number: int) -> None:
        self.live.remove(number)
        for key in list(self.come):
            self._settle(key)
        if self.live:
            self._pass_on(number)

    def _settle(self, key: tuple[str, frozenset[int]]) -> None:
        come = self.come[key]
        if key[1] & self.live <= come.keys():
            for n in self.come.pop(key):
                self.met[n] = come
                del self.waiting[n]

    def _pass_on(self, number: int) -> None:
        """The next thread that can go on; where all wait, each learns that it does so in vain."""
        ready = self.live - self.waiting.keys() or self.live
        self.batons[min((n for n in ready if n > number), default=min(ready))].release()


@dataclass
class _Block:
    """One block: where it is, and its shared arrays."""

    index: tuple[int, ...]
    dim: tuple[int, ...]
    grid: tuple[int, ...]
    sharedmem: int
    shared: dict[int, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.dynamic = np.zeros(self.sharedmem, np.uint8)

    def threads(self) -> list[_Thread]:
        return [_Thread(self, (x, y, z)) for z, y, x in itertools.product(*map(range, reversed(self.dim)))]


class _Thread:
    """One thread: who it is and how it meets others."""

    turns: _Turns
    number: int

    def __init__(self, block: _Block, index: tuple[int, ...]) -> None:
        self.block, self.index = block, index
        self.shared_calls = itertools.count()
        x, y, z = index
        self.linear = x + block.dim[0] * (y + block.dim[1] * z)
        self.lane = self.linear % WARP

    def meet_block(self, value: Any = None) -> list[Any]:
        first = self.number - self.linear
        size = self.block.dim[0] * self.block.dim[1] * self.block.dim[2]
        return list(self.turns.meet(self.number, "block", frozenset(range(first, first + size)), value).values())

    def meet_grid(self) -> None:
        self.turns.meet(self.number, "grid", self.turns.all)

    def meet_warp(self, mask: int, value: Any = None) -> dict[int, Any]:
        """What the lanes of the mask brought, by lane."""
        first = self.number - self.lane
        members = frozenset(first + lane for lane in range(WARP) if mask >> lane & 1)
        met = self.turns.meet(self.number, "warp", members, value)
        return {number - first: brought for number, brought in met.items()}


class _Axes:
    def __init__(self, values: Sequence[int]) -> None:
        self.x, self.y, self.z = values


class _Cuda:
    """What the name ``cuda`` means inside a kernel."""

    warpsize = WARP

    def __init__(self, thread: _Thread | None) -> None:
        if thread is None:
            return
        block = thread.block
        self._thread = thread
        self.threadIdx, self.blockIdx = _Axes(thread.index), _Axes(block.index)
        self.blockDim, self.gridDim = _Axes(block.dim), _Axes(block.grid)
        self.laneid = thread.lane
        self.shared = types.SimpleNamespace(array=self._shared_array)
        self.local = types.SimpleNamespace(array=lambda shape, dtype: np.empty(shape, _dtype(dtype)))
        self.const = types.SimpleNamespace(array_like=lambda array: array)
        self.atomic = _Atomic
        self.cg = types.SimpleNamespace(this_grid=lambda: types.SimpleNamespace(sync=thread.meet_grid))
        self.fp16 = _FP16

    def grid(self, rank: int) -> Any:
        block = self._thread.block
        ids = [i + b * d for i, b, d in zip(self._thread.index, block.index, block.dim)][:rank]
        return ids[0] if rank == 1 else tuple(ids)

    def gridsize(self, rank: int) -> Any:
        block = self._thread.block
        sizes = [d * g for d, g in zip(block.dim, block.grid)][:rank]
        return sizes[0] if rank == 1 else tuple(sizes)

    def syncthreads(self) -> None:
        self._thread.meet_block()

    def syncthreads_count(self, predicate: Any) -> np.int32:
        return np.int32(sum(self._thread.meet_block(bool(predicate))))

    def syncthreads_and(self, predicate: Any) -> np.int32:
        return np.int32(all(self._thread.meet_block(bool(predicate))))

    def syncthreads_or(self, predicate: Any) -> np.int32:
        return np.int32(any(self._thread.meet_block(bool(predicate))))

    def threadfence(self) -> None:
        """Threads run one at a time."""

    threadfence_block = threadfence_system = threadfence

    def nanosleep(self, ns: Any) -> None:
        """Not at all."""

    def syncwarp(self, mask: int = 0xFFFFFFFF) -> None:
        self._thread.meet_warp(int(mask))

    def shfl_sync(self, mask: Any, value: Any, src_lane: Any) -> Any:
        return self._shuffle(mask, value, lambda own: int(src_lane) % WARP)

    def shfl_up_sync(self, mask: Any, value: Any, delta: Any) -> Any:
        return self._shuffle(mask, value, lambda own: own - int(delta) % WARP)

    def shfl_down_sync(self, mask: Any, value: Any, delta: Any) -> Any:
        return self._shuffle(mask, value, lambda own: own + int(delta) % WARP)

    def shfl_xor_sync(self, mask: Any, value: Any, lane_mask: Any) -> Any:
        return self._shuffle(mask, value, lambda own: own ^ int(lane_mask) % WARP)

    def _shuffle(self, mask: Any, value: Any, source: Callable[[int], int]) -> Any:
        return self._thread.meet_warp(int(mask), value).get(source(self._thread.lane), value)

    def all_sync(self, mask: Any, predicate: Any) -> bool:
        return all(self._thread.meet_warp(int(mask), bool(predicate)).values())

    def any_sync(self, mask: Any, predicate: Any) -> bool:
        return any(self._thread.meet_warp(int(mask), bool(predicate)).values())

    def eq_sync(self, mask: Any, predicate: Any) -> bool:
        return len(set(self._thread.meet_warp(int(mask), bool(predicate)).values())) == 1

    def ballot_sync(self, mask: Any, predicate: Any) -> np.int32:
        met = self._thread.meet_warp(int(mask), bool(predicate))
        return _lanes(lane for lane, holds in met.items() if holds)

    def match_any_sync(self, mask: Any, value: Any) -> np.int32:
        own = np.asarray(value).tobytes()
        met = self._thread.meet_warp(int(mask), own)
        return _lanes(lane for lane, other in met.items() if other == own)

    def match_all_sync(self, mask: Any, value: Any) -> tuple[np.int32, bool]:
        met = self._thread.meet_warp(int(mask), np.asarray(value).tobytes())
        same = len(set(met.values())) == 1
        return (_lanes(met) if same else np.int32(0), same)

    def activemask(self) -> np.uint32:
        return _lanes(self._thread.meet_warp(0xFFFFFFFF)).astype(np.uint32)

    def lanemask_lt(self) -> np.uint32:
        return np.uint32((1 << self._thread.lane) - 1)

    @staticmethod
    def popc(x: Any) -> Any:
        return type(x)(_bits(x).count("1"))

    @staticmethod
    def clz(x: Any) -> Any:
        return type(x)(len(_bits(x)) - len(_bits(x).lstrip("0")))

    @staticmethod
    def ffs(x: Any) -> np.uint32:
        return np.uint32(_bits(x)[::-1].find("1") + 1)

    @staticmethod
    def brev(x: Any) -> Any:
        wide = np.uint64 if np.asarray(x).itemsize == 8 else np.uint32
        return wide(int(_bits(np.asarray(x).astype(wide)[()])[::-1], 2))

    def _shared_array(self, shape: Any, dtype: Any) -> np.ndarray:
        if shape in (0, (0,)):
            memory, item = self._thread.block.dynamic, _dtype(dtype).itemsize
            return memory[: len(memory) // item * item].view(_dtype(dtype))
        number = next(self._thread.shared_calls)
        return self._thread.block.shared.setdefault(number, np.empty(shape, _dtype(dtype)))


def _lanes(lanes: Iterable[int]) -> np.int32:
    return np.uint32(sum(1 << lane for lane in lanes)).astype(np.int32)


def _bits(x: Any) -> str:
    """The bits of an integer, highest first."""
    x = np.asarray(x)
    width = 8 * x.itemsize
    return format(int(x) & (1 << width) - 1, f"0{width}b")


def _dtype(dtype: Any) -> np.dtype:
    return dtype.dtype if isinstance(dtype, weft.types.Scalar) else np.dtype(dtype)


def _single(function: Callable[..., Any]) -> Callable[..., np.float16]:
    """A function of float32, rounded to float16."""
    return lambda *args: np.float16(function(*map(np.float32, args)))


_FP16 = types.SimpleNamespace(
    hadd=np.add, hsub=np.subtract, hmul=np.multiply, hdiv=np.divide, hneg=np.negative, habs=np.abs, hmax=np.fmax, hmin=np.fmin,
    heq=np.equal, hne=lambda a, b: a < b or a > b, hlt=np.less, hle=np.less_equal, hgt=np.greater, hge=np.greater_equal,
    hceil=np.ceil, hfloor=np.floor, htrunc=np.trunc, hrint=np.rint, hsqrt=np.sqrt,
    # In float64 the product is exact, and the sum as far as rounding to float16 can tell.
    hfma=lambda a, b, c: np.float16(np.float64(a) * np.float64(b) + np.float64(c)),
    hsin=_single(np.sin), hcos=_single(np.cos), htanh=_single(np.tanh), hexp=_single(np.exp), hexp2=_single(np.exp2),
    hexp10=_single(lambda a: np.float32(10) ** a), hlog=_single(np.log), hlog2=_single(np.log2), hlog10=_single(np.log10),
    hrsqrt=_single(lambda a: 1 / np.sqrt(a)), hrcp=_single(np.reciprocal),
)  # fmt: skip


class _Atomic:
    """Numba's atomics, for threads that run one at a time."""

    @staticmethod
    def _update(change: Callable[[Any, Any], Any]) -> Any:
        def atomic(array: Any, index: Any, value: Any) -> Any:
            old = array[index]
            array[index] = change(old, array.dtype.type(value))
            return old

        return staticmethod(atomic)

    @staticmethod
    def cas(array: Any, index: Any, old: Any, value: Any) -> Any:
        current = array[index]
        if current == old:
            array[index] = value
        return current

    @staticmethod
    def compare_and_swap(array: Any, old: Any, value: Any) -> Any:
        return _Atomic.cas(array, 0, old, value)


for _name, _change in {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "max": max,
    "min": min,
    "exch": lambda a, b: b,
    # An element that is missing is replaced; of equal ones the element stays.
    "nanmin": lambda a, b: b if a != a else min(a, b),
    "nanmax": lambda a, b: b if a != a else max(a, b),
    "inc": lambda a, b: 0 if a >= b else a + 1,
    "dec": lambda a, b: b if a == 0 or a > b else a - 1,
    "and_": lambda a, b: a & b,
    "or_": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}.items():
    setattr(_Atomic, _name, _Atomic._update(_change))


def _plain(function: Any, cuda: _Cuda) -> Callable[..., Any]:
    """The Python function behind a compiled one, with ``cuda`` and every compiled function it names replaced likewise."""
    source = function.py_func
    names = dict(source.__globals__)
    for name in source.__code__.co_names:
        if name == "cuda":
            names[name] = cuda
        elif name == "prange":
            names[name] = range
        elif hasattr(names.get(name), "py_func"):
            names[name] = _plain(names[name], cuda)
    names["__builtins__"] = builtins
    plain = types.FunctionType(source.__code__, names, source.__name__, source.__defaults__, _cells(source, cuda))
    plain.__kwdefaults__ = source.__kwdefaults__
    return plain


def _cells(source: types.FunctionType, cuda: _Cuda) -> tuple[types.CellType, ...] | None:
    if source.__closure__ is None:
        return None
    contents = (cell.cell_contents for cell in source.__closure__)
    return tuple(types.CellType(_plain(c, cuda) if hasattr(c, "py_func") else c) for c in contents)
