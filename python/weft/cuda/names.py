"""The names a kernel uses: they mean something only inside a compiled function, and called from plain Python they raise."""

from __future__ import annotations

from typing import Any

warpsize = 32


class _InKernel:
    """A name that means something only inside a compiled kernel."""

    def __init__(self, path: str, doc: str) -> None:
        self._weft_path_ = f"weft.cuda.{path}"
        self.__doc__ = doc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raises: there is no thread here."""
        raise RuntimeError(f"cuda.{self._weft_path_[10:]} means something only inside a function compiled with cuda.jit")

    def __repr__(self) -> str:
        return f"<{self._weft_path_}>"


class _Axes(_InKernel):
    """Three numbers of a thread: x, y, z."""

    def _axis(self) -> Any:
        return self()

    x = y = z = property(_axis)


class _Group(_InKernel):
    """A name with functions below it: `atomic.add`, `shared.array`."""

    def __init__(self, path: str, doc: str, members: dict[str, str]) -> None:
        super().__init__(path, doc)
        for name, text in members.items():
            setattr(self, name, _InKernel(f"{path}.{name}", text))


threadIdx = _Axes("threadIdx", "Index of the thread in its block, along x, y and z.")
blockIdx = _Axes("blockIdx", "Index of the block in the grid, along x, y and z.")
blockDim = _Axes("blockDim", "Threads of a block, along x, y and z.")
gridDim = _Axes("gridDim", "Blocks of the grid, along x, y and z.")
laneid = _InKernel("laneid", "Index of the thread in its warp of 32.")
grid = _InKernel("grid", "grid(ndim): index of the thread in the whole grid; an int for 1 axis, a tuple for 2 or 3.")
gridsize = _InKernel("gridsize", "gridsize(ndim): threads of the whole grid; an int for 1 axis, a tuple for 2 or 3.")
syncthreads = _InKernel("syncthreads", "All threads of the block arrive before any goes on.")
syncthreads_count = _InKernel("syncthreads_count", "syncthreads_count(predicate): a barrier that gives in how many threads it holds.")
syncthreads_and = _InKernel("syncthreads_and", "syncthreads_and(predicate): a barrier that gives 1 if it holds in all threads, else 0.")
syncthreads_or = _InKernel("syncthreads_or", "syncthreads_or(predicate): a barrier that gives 1 if it holds in any thread, else 0.")
cg = _Group("cg", "Cooperative groups.", {"this_grid": "this_grid(): the grid as a group; its sync() is a barrier of all blocks."})
syncwarp = _InKernel("syncwarp", "syncwarp(mask=0xffffffff): the lanes of the warp that the mask names arrive before any goes on.")
shfl_sync = _InKernel("shfl_sync", "shfl_sync(mask, value, src_lane): the value of one lane.")
shfl_up_sync = _InKernel("shfl_up_sync", "shfl_up_sync(mask, value, delta): of the lane so many below, or the own one.")
shfl_down_sync = _InKernel("shfl_down_sync", "shfl_down_sync(mask, value, delta): of the lane so many above, or the own one.")
shfl_xor_sync = _InKernel("shfl_xor_sync", "shfl_xor_sync(mask, value, lane_mask): of the lane whose number is the own one ^ lane_mask.")
all_sync = _InKernel("all_sync", "all_sync(mask, predicate): whether it holds in all lanes of the mask.")
any_sync = _InKernel("any_sync", "any_sync(mask, predicate): whether it holds in any lane of the mask.")
eq_sync = _InKernel("eq_sync", "eq_sync(mask, predicate): whether it is the same in all lanes of the mask.")
ballot_sync = _InKernel("ballot_sync", "ballot_sync(mask, predicate): the lanes of the mask in which it holds, as the bits of an int32.")
match_any_sync = _InKernel("match_any_sync", "match_any_sync(mask, value): the lanes of the mask with the own value, as bits.")
match_all_sync = _InKernel("match_all_sync", "match_all_sync(mask, value): (mask, True) if all its lanes have one value, else (0, False).")
mma = _InKernel(
    "mma",
    "mma(sums, left, right, left_transposed=False, right_transposed=False, dtype=None): sums += left @ right of a warp, by tensor cores.",
)
activemask = _InKernel("activemask", "activemask(): the lanes of the warp that run together now, as the bits of a uint32.")
lanemask_lt = _InKernel("lanemask_lt", "lanemask_lt(): the lanes below the own one, as the bits of a uint32.")
nanosleep = _InKernel("nanosleep", "nanosleep(ns): pauses the thread for about as many nanoseconds, or not at all.")
threadfence = _InKernel("threadfence", "Earlier writes of this thread become visible to all before later ones.")
threadfence_block = _InKernel("threadfence_block", "Like `threadfence`, for threads of the block.")
threadfence_system = _InKernel("threadfence_system", "Like `threadfence`, for the host as well.")
fma = _InKernel("fma", "fma(a, b, c): a * b + c with one rounding.")
selp = _InKernel("selp", "selp(condition, a, b): a if the condition holds, else b; both are evaluated.")
popc = _InKernel("popc", "popc(x): bits that are set in an integer.")
clz = _InKernel("clz", "clz(x): leading zero bits of an integer.")
brev = _InKernel("brev", "brev(x): the bits of an integer in reverse order.")
ffs = _InKernel("ffs", "ffs(x): position of the lowest bit that is set, from 1; 0 if none is.")
cbrt = _InKernel("cbrt", "cbrt(x): cube root.")
shared = _Group("shared", "Memory of a block.", {
    "array": "array(shape, dtype): an array that all threads of the block share; of shape 0, the launch's dynamic shared memory.",
})  # fmt: skip
local = _Group("local", "Memory of a thread.", {"array": "array(shape, dtype): an array of this thread."})
const = _Group("const", "Constant memory.", {"array_like": "array_like(array): a global NumPy array, frozen at compile time."})
_FP16 = {
    "hadd": "hadd(a, b): a + b",
    "hsub": "hsub(a, b): a - b",
    "hmul": "hmul(a, b): a * b",
    "hdiv": "hdiv(a, b): a / b",
    "hfma": "hfma(a, b, c): a * b + c with one rounding",
    "hneg": "hneg(a): -a",
    "habs": "habs(a): the magnitude",
    "hmax": "hmax(a, b): the larger; a number rather than NaN",
    "hmin": "hmin(a, b): the smaller; a number rather than NaN",
    "heq": "heq(a, b): a == b",
    "hne": "hne(a, b): a < b or a > b, so false for NaN",
    "hlt": "hlt(a, b): a < b",
    "hle": "hle(a, b): a <= b",
    "hgt": "hgt(a, b): a > b",
    "hge": "hge(a, b): a >= b",
    "hsin": "hsin(a): sine",
    "hcos": "hcos(a): cosine",
    "htanh": "htanh(a): hyperbolic tangent",
    "hexp": "hexp(a): e ** a",
    "hexp2": "hexp2(a): 2 ** a",
    "hexp10": "hexp10(a): 10 ** a",
    "hlog": "hlog(a): natural logarithm",
    "hlog2": "hlog2(a): logarithm to base 2",
    "hlog10": "hlog10(a): logarithm to base 10",
    "hsqrt": "hsqrt(a): square root",
    "hrsqrt": "hrsqrt(a): 1 / sqrt(a)",
    "hrcp": "hrcp(a): 1 / a",
    "hceil": "hceil(a): the least whole number not below",
    "hfloor": "hfloor(a): the greatest whole number not above",
    "htrunc": "htrunc(a): the whole number towards zero",
    "hrint": "hrint(a): the nearest whole number, half to even",
}
fp16 = _Group("fp16", "Functions of float16.", {name: f"{text}." for name, text in _FP16.items()})
_ATOMICS = {
    "add": "add(array, index, value): array[index] += value",
    "sub": "sub(array, index, value): array[index] -= value",
    "min": "min(array, index, value): array[index] = min(array[index], value)",
    "max": "max(array, index, value): array[index] = max(array[index], value)",
    "nanmin": "nanmin(array, index, value): like min, with NaN for a missing value",
    "nanmax": "nanmax(array, index, value): like max, with NaN for a missing value",
    "inc": "inc(array, index, value): array[index] = 0 if array[index] >= value else array[index] + 1",
    "dec": "dec(array, index, value): array[index] = value if array[index] == 0 or array[index] > value else array[index] - 1",
    "and_": "and_(array, index, value): array[index] &= value",
    "or_": "or_(array, index, value): array[index] |= value",
    "xor": "xor(array, index, value): array[index] ^= value",
    "exch": "exch(array, index, value): array[index] = value",
    "compare_and_swap": "compare_and_swap(array, old, value): array[0] = value if it equals old",
    "cas": "cas(array, index, old, value): array[index] = value if it equals old",
}
atomic = _Group(
    "atomic", "One step that no other thread sees half done; each gives the old element.",
    {name: f"{text}, atomically; gives the old element." for name, text in _ATOMICS.items()},
)  # fmt: skip
