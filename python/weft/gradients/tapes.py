"""PyTorch's habit: a tape of whatever is computed in a block, and `backward()` of a result."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any

from weft._weft import _capture_number, _full, _tape_end, _tape_innermost, _tape_place, _tape_watch, ndarray
from weft.errors import GradientError
from weft.gradients.sweep import end_tapes, sweep

__all__ = ["backward", "tape"]


class _Tapes(threading.local):
    """Those of a thread: the blocks that it is in, and the tape of the block that ended last, until it is used."""

    def __init__(self) -> None:
        self.open: list[tape] = []
        self.last: Any = None


_TAPES = _Tapes()


def follows_everything() -> bool:
    """Whether this thread is in a block whose tape follows whatever is read."""
    return any(not each._arrays for each in _TAPES.open)


class tape:
    """A block whose computations can go back: `y.backward()` in it or behind it sets `x.grad` of the arrays that `y` was made of.

    Followed are the arrays that are given, or without any all arrays of floats and complex numbers that there were before the block and
    that are read in it. Gradients of several results add up, as PyTorch's do, until `x.grad = None`. What was taken down is let go by
    `backward()`, and by the next tape.

    >>> x = weft.asarray([1.0, 2.0])
    >>> with weft.tape():
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    array([2., 4.])
    """

    def __init__(self, *arrays: ndarray) -> None:
        for array in arrays:
            if not isinstance(array, ndarray) or array.dtype.kind not in "fcV":
                what = array.dtype if isinstance(array, ndarray) else type(array).__name__
                raise TypeError(f"a tape follows arrays of floats and complex numbers, and not {what}")
        self._arrays = list(arrays)
        self._number = 0

    def __enter__(self) -> tape:
        _TAPES.last = None
        around, count = _tape_innermost(), len(_TAPES.open)
        try:
            self._number = _tape_watch(self._arrays)
            _TAPES.open.append(self)
        except BaseException:
            # An interrupt: there is no block that could end the tape.
            end_tapes(around)
            del _TAPES.open[count:]
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            self._let_go()
            return
        if not _TAPES.open or _TAPES.open[-1] is not self:
            # Coroutines that take turns: nothing is to stay open for ever.
            self._let_go()
            raise GradientError("tapes end in the reverse order in which they began, on the thread on which they did, and not in turns")
        try:
            if _tape_innermost() != self._number:
                raise GradientError("a transform such as weft.grad is under way inside of a tape's block that ends")
            _TAPES.last = _tape_end()
            _TAPES.open.pop()
        except KeyboardInterrupt:
            self._let_go()
            raise

    def _let_go(self) -> None:
        """Ends the block's tape, and those within, of what was interrupted wherever it was."""
        _TAPES.last = None
        if self not in _TAPES.open:
            return
        del _TAPES.open[_TAPES.open.index(self) :]
        while (innermost := _tape_innermost()) is not None and innermost >= self._number:
            _tape_end()

    def again(self, began: int) -> None:
        """Takes down what comes, for arrays that there were before the block."""
        self._number = _tape_watch(self._arrays, began)


def backward(self: ndarray, gradient: Any = None) -> None:
    """`ndarray.backward`: `gradient` is the cotangent of the array, needed unless it is one number.

    GradientError where no tape took down how it was made.
    """
    from weft.gradients.transforms import as_cotangent

    if gradient is None and self.shape != ():
        raise GradientError("backward() of an array with axes needs the cotangent of its elements: y.backward(weft.ones_like(y))")
    if self.dtype.kind not in "fcV":
        raise GradientError(f"an array of {self.dtype} has no gradient")
    seed = _full((), 1, self.dtype, self.device) if gradient is None else as_cotangent(gradient, self)
    if _capture_number() is not None:
        raise GradientError("weft.compile captures functions that give their results: take the gradient with weft.value_and_grad")
    if not _TAPES.open:
        place = None if _TAPES.last is None else _TAPES.last.place(self)
        if place is None:
            raise _unknown()
        taken, _TAPES.last = _TAPES.last, None
        _set_gradients(taken, place, seed)
        return
    block = _TAPES.open[-1]
    if _tape_innermost() != block._number:
        raise GradientError("backward() goes over the innermost block's tape, and a transform such as weft.grad is under way inside of it")
    place = _tape_place(self)
    if place is None:
        raise _unknown()
    # What is computed on the way back is nothing for the tape, which begins anew behind it.
    taken = _tape_end()
    try:
        _set_gradients(taken, place, seed)
    finally:
        block.again(taken.began)


def _unknown() -> GradientError:
    return GradientError(
        "no tape took down how this array was made: compute it in a `with weft.tape():` block of this thread, and call backward() once; "
        "what was made before a backward() in the same block is let go of"
    )


def _set_gradients(taken: Any, place: int, seed: ndarray) -> None:
    for leaf, cotangent in enumerate(sweep(taken, [(place, seed)], taken.leaves())):
        if cotangent is not None:
            taken.add_to_gradient(leaf, cotangent)
