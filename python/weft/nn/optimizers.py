"""Optimizers: how parameters follow their gradients. `init(params)` gives a state, `update(params, grads, state)` parameters and a state.

Parameters, gradients and states are trees of arrays, and nothing is written to: a training step is a function of its arguments, which
`weft.compile` may capture. Steps, rates and corrections are arrays without axes. Floats of 16 bits are updated in single precision, in
which the state is kept.

Each rule is there twice: as a loop of `weft_tile::steps` over all parameters of a type that are on the CPU, and as array expressions for
others, and where somebody follows what becomes of the arrays. Both round alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import weft
from weft._weft import _step_all, _tape_is_here, ndarray
from weft.arrays._common import array_of, is_half
from weft.gradients.trees import flatten, leaves, map_tree, unflatten

from ._common import floats, narrow, wide

__all__ = ["SGD", "Adam", "AdamW", "clip_grad_norm", "global_norm"]

Rate = float | ndarray | Callable[[Any], ndarray]
State = dict[str, Any]


class _Optimizer:
    """What optimizers share: a rate, and the state of each parameter."""

    # The names of what is kept for each parameter.
    kept: tuple[str, ...] = ()

    def __init__(self, learning_rate: Rate, weight_decay: float) -> None:
        if isinstance(learning_rate, (int, float)) and not learning_rate >= 0:
            raise ValueError(f"Invalid learning rate: {learning_rate}")
        if not weight_decay >= 0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay

    def init(self, params: Any) -> State:
        """The state before the first step: zeros in the shapes of the parameters, and how many steps there were."""
        device = next((each.device for each in leaves(params) if isinstance(each, ndarray)), None)
        state: State = {"step": weft.zeros((), dtype=np.int32, device=device)}
        for name in self.kept:
            state[name] = map_tree(_zeros, params)
        return state

    def update(self, params: Any, grads: Any, state: Mapping[str, Any]) -> tuple[Any, State]:
        """The parameters after one step along their gradients, and the state after it. ValueError if the trees do not look the same, or
        the shapes are not the same."""
        first, spec = flatten(params)
        columns = [[array_of(each) for each in first], _beside(spec, grads, "gradients")]
        columns += [_beside(spec, state[name], f"state[{name!r}]") for name in self.kept]
        step = state["step"]
        rate = self.learning_rate(step) if callable(self.learning_rate) else self.learning_rate
        for p, g, *kept in zip(*columns):
            for what, each in (("gradient", g), *((f"state {name!r}", each) for name, each in zip(self.kept, kept))):
                _same_shape(p, each, what)
        rows = [_row(*row) for row in zip(*columns)]
        numbers = {row[0].dtype: row[0] for row in rows}
        numbers = {dtype: self._numbers(step, _like(rate, p), p) for dtype, p in numbers.items()}
        found = self._together(rows, numbers)
        after = [found[at] if at in found else self._one(*row[:2], numbers[row[0].dtype], *row[2:]) for at, row in enumerate(rows)]
        made = [[narrow(row[0], array_of(p).dtype) for p, row in zip(first, after)]]
        made += [[row[at] for row in after] for at in range(1, 1 + len(self.kept))]
        made = [unflatten(spec, column) for column in made]
        return made[0], {"step": step + 1, **dict(zip(self.kept, made[1:]))}

    def _together(self, rows: list[list[ndarray]], numbers: Mapping[np.dtype, tuple[Any, ...]]) -> dict[int, list[ndarray]]:
        """What becomes of the rows that one loop for each dtype can do, by their places."""
        found: dict[int, list[ndarray]] = {}
        if _tape_is_here():
            return found
        for dtype in (np.dtype(np.float32), np.dtype(np.float64)):
            places = [at for at, row in enumerate(rows) if all(_is_plain(each, row[0].shape, dtype) for each in row)]
            name, fixed = self._rule()
            heads = [_as_array(each, dtype) for each in (fixed, *numbers.get(dtype, ()))]
            if places and all(_is_plain(each, (), dtype) for each in heads[1:]):
                made = _step_all(f"{name}*{len(places)}", heads + [each for at in places for each in rows[at]])
                each = len(made) // len(places)
                found |= {at: made[i * each : (i + 1) * each] for i, at in enumerate(places)}
        return found

    def _rule(self) -> tuple[str, list[float]]:
        """The name of the rule in `weft_tile::steps`, and the numbers that it has fixed."""
        raise NotImplementedError

    def _numbers(self, step: Any, rate: Any, p: ndarray) -> tuple[Any, ...]:
        """The numbers of this step for parameters in the dtype of `p`."""
        raise NotImplementedError

    def _one(self, p: ndarray, g: ndarray, numbers: tuple[Any, ...], *kept: ndarray) -> tuple[ndarray, ...]:
        """A parameter after the step, and what is kept for it."""
        raise NotImplementedError


def _row(p: ndarray, g: Any, *kept: Any) -> list[Any]:
    """A parameter, its gradient and what is kept for it, in the dtype that they are computed in."""
    single = wide(floats("an optimizer", p))
    return [single, floats("an optimizer", g).astype(single.dtype, copy=False), *kept]


def _as_array(numbers: Any, dtype: np.dtype) -> ndarray:
    return numbers.astype(dtype, copy=False) if isinstance(numbers, ndarray) else weft.asarray(np.asarray(numbers, dtype), device="cpu")


def _is_plain(x: Any, shape: tuple[int, ...], dtype: np.dtype) -> bool:
    return isinstance(x, ndarray) and x.dtype == dtype and x.shape == shape and x.device.kind == "cpu"


def _zeros(p: Any) -> ndarray:
    p = floats("an optimizer", p)
    return weft.zeros(p.shape, dtype=np.float32 if is_half(p.dtype) else p.dtype, device=p.device)


def _beside(spec: Any, tree: Any, what: str) -> list[Any]:
    """The leaves of a tree that looks as the parameters do."""
    found, same = flatten(tree)
    if same != spec:
        raise ValueError(f"the {what} do not look as the parameters do")
    return found


def _same_shape(p: ndarray, g: Any, what: str) -> None:
    if p.shape != array_of(g).shape:
        raise ValueError(f"a parameter {p.shape} has a {what} {array_of(g).shape}")


def _like(rate: Any, p: ndarray) -> Any:
    """A rate in the dtype of what it is multiplied by: an array without axes has a dtype of its own."""
    if np.shape(rate) != ():
        raise ValueError(f"a learning rate is one number, and not an array {np.shape(rate)}")
    return rate.astype(p.dtype, copy=False) if isinstance(rate, ndarray) else rate


class SGD(_Optimizer):
    """Stochastic gradient descent, as torch.optim.SGD: with a momentum b is momentum·b + (1 - dampening)·g, from g in the first step on,
    and parameters follow b, or with `nesterov` g + momentum·b. `weight_decay` times the parameter is added to the gradient.

    `learning_rate` is a number, an array without axes or a schedule.

    >>> optimizer = weft.nn.SGD(0.5)
    >>> params = {"w": weft.asarray([1.0, 2.0])}
    >>> params, state = optimizer.update(params, {"w": weft.asarray([2.0, 2.0])}, optimizer.init(params))
    >>> params["w"]
    array([0., 1.])
    """

    def __init__(
        self,
        learning_rate: Rate,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, weight_decay)
        if not momentum >= 0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        self.momentum, self.dampening, self.nesterov = momentum, dampening, nesterov
        self.kept = ("momentum",) if momentum else ()

    def _rule(self) -> tuple[str, list[float]]:
        if not self.momentum:
            return "descent", [self.weight_decay]
        return "nesterov" if self.nesterov else "momentum", [self.weight_decay, self.momentum]

    def _numbers(self, step: Any, rate: Any, p: ndarray) -> tuple[Any, ...]:
        if not self.momentum:
            return (rate,)
        return rate, weft.where(step == 0, 1.0, 1 - self.dampening).astype(p.dtype) if self.dampening else 1.0

    def _one(self, p: ndarray, g: ndarray, numbers: tuple[Any, ...], *kept: ndarray) -> tuple[ndarray, ...]:
        rate = numbers[0]
        if self.weight_decay:
            g = g + self.weight_decay * p
        if not kept:
            return (p - rate * g,)
        b = self.momentum * kept[0] + (numbers[1] * g if self.dampening else g)
        return p - rate * (g + self.momentum * b if self.nesterov else b), b


class Adam(_Optimizer):
    """Adam (Kingma and Ba, 2015), as torch.optim.Adam: parameters follow the mean of the gradients over the root of the mean of their
    squares, means that forget by `betas` and are corrected for their start at 0. `weight_decay` times the parameter is added to the
    gradient.

    `learning_rate` is a number, an array without axes or a schedule.

    >>> optimizer = weft.nn.Adam(0.5)
    >>> params = {"w": weft.asarray([1.0, 2.0])}
    >>> params, state = optimizer.update(params, {"w": weft.asarray([2.0, -3.0])}, optimizer.init(params))
    >>> weft.round(params["w"], 6)
    array([0.5, 2.5])
    """

    kept = ("mean", "square")
    _decoupled = False

    def __init__(
        self,
        learning_rate: Rate = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, weight_decay)
        for i, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        if not eps >= 0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        self.betas, self.eps = (float(betas[0]), float(betas[1])), float(eps)

    def _rule(self) -> tuple[str, list[float]]:
        first, second = self.betas
        return "adam", [first, 1 - first, second, 1 - second, self.eps, 0.0 if self._decoupled else self.weight_decay]

    def _numbers(self, step: Any, rate: Any, p: ndarray) -> tuple[Any, ...]:
        count = array_of(step + 1).astype(p.dtype)
        first, second = (_correction(beta, count) for beta in self.betas)
        return rate, first, second, 1 - rate * self.weight_decay if self.weight_decay and self._decoupled else 1.0

    def _one(self, p: ndarray, g: ndarray, numbers: tuple[Any, ...], *kept: ndarray) -> tuple[ndarray, ...]:
        mean, square = kept
        first, second = self.betas
        rate, of_mean, of_square, left = numbers
        if self.weight_decay and not self._decoupled:
            g = g + self.weight_decay * p
        mean = first * mean + (1 - first) * g
        square = second * square + (1 - second) * (g * g)
        away = (mean * of_mean) / (weft.sqrt(square * of_square) + self.eps)
        if self.weight_decay and self._decoupled:
            p = p * left
        return p - rate * away, mean, square


def _correction(beta: float, count: ndarray) -> Any:
    """1 / (1 - betaⁿ), for a mean that started at 0; single precision would lose digits to the difference."""
    return 1.0 if beta == 0 else -1.0 / weft.expm1(count * math.log(beta))


class AdamW(Adam):
    """Adam whose weights decay by themselves, not by their gradients (Loshchilov and Hutter, 2019), as torch.optim.AdamW.

    >>> optimizer = weft.nn.AdamW(0.5, weight_decay=0.1)
    >>> params = {"w": weft.asarray([1.0, 2.0])}
    >>> params, state = optimizer.update(params, {"w": weft.asarray([2.0, -3.0])}, optimizer.init(params))
    >>> weft.round(params["w"], 6)
    array([0.45, 2.4 ])
    """

    _decoupled = True

    def __init__(
        self,
        learning_rate: Rate = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:
        super().__init__(learning_rate, betas, eps, weight_decay)


def global_norm(tree: Any) -> ndarray:
    """The root of the sum of the squares of all elements of a tree, in single or double precision.

    >>> weft.nn.global_norm({"a": weft.asarray([3.0]), "b": [weft.asarray(4.0)]})
    array(5.)
    """
    sums = [weft.sum(each * each) for each in (wide(floats("global_norm", leaf)) for leaf in leaves(tree))]
    if not sums:
        raise ValueError("there is nothing in the tree")
    total = sums[0]
    for each in sums[1:]:
        total = total + each
    return weft.sqrt(total)


def clip_grad_norm(grads: Any, max_norm: float) -> tuple[Any, ndarray]:
    """Gradients scaled so that their `global_norm` is `max_norm` at most, and what it was (Pascanu and others, 2013).

    >>> grads, norm = weft.nn.clip_grad_norm({"a": weft.asarray([3.0, 4.0])}, 1.0)
    >>> weft.round(grads["a"], 5), norm
    (array([0.6, 0.8]), array(5.))
    """
    norm = global_norm(grads)
    by = max_norm / (norm + 1e-6)
    by = weft.where(by > 1, 1, by)
    return map_tree(lambda g: narrow(wide(g) * _like(by, wide(g)), g.dtype), grads), norm
