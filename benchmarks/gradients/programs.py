"""The programs whose gradients are timed: what each contender is given, and how it goes about it.

Bodies: the potential energy of bodies that attract each other, softened, and the force on each. Heat: how far a plate is, some steps of
time later, from one that is seen, and which way to change it at the start.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

RATE = np.float32(0.2)
SOFT = np.float32(0.01)

Work = Callable[[], Any]


def bodies(count: int) -> np.ndarray:
    """Places of bodies, (count, 3) of float32."""
    return np.random.default_rng(1).normal(size=(count, 3)).astype(np.float32)


def plate(side: int) -> tuple[np.ndarray, np.ndarray]:
    """A plate at the start and the one that is seen, (side, side) of float32."""
    rng = np.random.default_rng(2)
    return rng.random((side, side), dtype=np.float32), rng.random((side, side), dtype=np.float32)


def forces(places: np.ndarray) -> np.ndarray:
    """The gradient of the energy in float64, by its formula."""
    x = places.astype(np.float64)
    d = x[:, None] - x
    r = (d * d).sum(axis=-1) + float(SOFT)
    return (d * (r**-1.5)[..., None]).sum(axis=1)


def slope(start: np.ndarray, seen: np.ndarray, steps: int) -> np.ndarray:
    """The gradient of the misfit in float64, by hand."""
    u = start.astype(np.float64)
    for _ in range(steps):
        u[1:-1, 1:-1] += float(RATE) * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
    back = u - seen
    for _ in range(steps):
        inner = float(RATE) * back[1:-1, 1:-1]
        back[1:-1, 1:-1] -= 4 * inner
        for part in (back[:-2, 1:-1], back[2:, 1:-1], back[1:-1, :-2], back[1:-1, 2:]):
            part += inner
    return back


def bodies_in_weft(places: np.ndarray) -> tuple[Work, Work]:
    """The energy, and its gradient by the adjoint of an `njit` function."""
    import weft

    @weft.njit(parallel=True, fastmath=True)
    def energy(x, e):
        for i in weft.prange(x.shape[0]):
            total = e[i] * 0
            for j in range(x.shape[0]):
                dx = x[i, 0] - x[j, 0]
                dy = x[i, 1] - x[j, 1]
                dz = x[i, 2] - x[j, 2]
                total -= 1 / np.sqrt(dx * dx + dy * dy + dz * dz + SOFT)
            e[i] = total

    e, half = np.zeros(len(places), np.float32), np.full(len(places), 0.5, np.float32)

    def forward() -> Any:
        energy(places, e)
        return e

    def gradient() -> Any:
        found = np.zeros_like(places)
        energy.grad((places, e), (found, half.copy()))
        return found

    return forward, gradient


def bodies_of_arrays(places: np.ndarray) -> tuple[Work, Work]:
    """The same as a program of arrays."""
    import weft

    def energy(x: Any) -> Any:
        d = x[:, None] - x
        return -(1 / weft.sqrt((d * d).sum(axis=-1) + SOFT)).sum() / 2

    x = weft.asarray(places)
    value, slopes = weft.compile(energy), weft.compile(weft.grad(energy))
    return lambda: float(value(x)), lambda: weft.asnumpy(slopes(x))


def bodies_in_jax(places: np.ndarray) -> tuple[Work, Work]:
    """The same in JAX."""
    import jax
    import jax.numpy as jnp

    def energy(x: Any) -> Any:
        d = x[:, None] - x
        return -(1 / jnp.sqrt((d * d).sum(axis=-1) + SOFT)).sum() / 2

    x = jnp.asarray(places)
    value, slopes = jax.jit(energy), jax.jit(jax.grad(energy))
    return lambda: float(value(x)), lambda: np.asarray(slopes(x))


def bodies_in_torch(places: np.ndarray) -> tuple[Work, Work]:
    """The same in PyTorch, by its own compiler."""
    import torch

    def energy(x: Any) -> Any:
        d = x[:, None] - x
        return -(1 / torch.sqrt((d * d).sum(-1) + float(SOFT))).sum() / 2

    fast = torch.compile(energy)
    x = torch.tensor(places, requires_grad=True)

    def gradient() -> Any:
        x.grad = None
        fast(x).backward()
        return x.grad.numpy()

    def forward() -> Any:
        with torch.no_grad():
            return float(fast(x))

    return forward, gradient


def bodies_in_warp(places: np.ndarray) -> tuple[Work, Work]:
    """The same by a kernel of Warp's and its tape."""
    import warp as wp

    wp.config.quiet = True
    soft = wp.constant(float(SOFT))

    @wp.kernel
    def energy(x: wp.array(dtype=wp.vec3), e: wp.array(dtype=float)):
        i = wp.tid()
        total = float(0.0)  # noqa: UP018 (a variable to Warp, and no constant)
        for j in range(x.shape[0]):
            d = x[i] - x[j]
            total -= 1.0 / wp.sqrt(wp.dot(d, d) + soft)
        wp.atomic_add(e, 0, 0.5 * total)

    x = wp.array(places, dtype=wp.vec3, device="cpu", requires_grad=True)

    def forward() -> Any:
        e = wp.zeros(1, dtype=float, device="cpu", requires_grad=True)
        wp.launch(energy, dim=len(places), inputs=[x, e], device="cpu")
        return e.numpy()

    def gradient() -> Any:
        x.grad.zero_()
        e = wp.zeros(1, dtype=float, device="cpu", requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(energy, dim=len(places), inputs=[x, e], device="cpu")
        tape.backward(e)
        return x.grad.numpy()

    return forward, gradient


def heat_in_weft(start: np.ndarray, seen: np.ndarray, steps: int) -> tuple[Work, Work]:
    """The misfit, and its gradient by the adjoint of an `njit` function."""
    import weft

    @weft.njit
    def spread(u, v):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = u[i, j] + RATE * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j])
        v[0], v[-1] = u[0], u[-1]
        v[:, 0], v[:, -1] = u[:, 0], u[:, -1]

    def forward() -> Any:
        u, v = start.copy(), np.empty_like(start)
        for _ in range(steps):
            spread(u, v)
            u, v = v, u
        return u

    def gradient() -> Any:
        u = forward()
        back, spare = u - seen, np.zeros_like(u)
        for _ in range(steps):
            # The step is linear: where it went back from does not matter.
            spread.grad((start, u), (spare, back))
            back, spare = spare, back
        return back

    return forward, gradient


def heat_of_arrays(start: np.ndarray, seen: np.ndarray, steps: int) -> tuple[Work, Work]:
    """The same as a program of arrays that writes in place."""
    import weft

    def misfit(u: Any, seen: Any) -> Any:
        u = u.copy()
        for _ in range(steps):
            u[1:-1, 1:-1] += RATE * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        return ((u - seen) ** 2).sum() / 2

    given = weft.asarray(start), weft.asarray(seen)
    value, slopes = weft.compile(misfit), weft.compile(weft.grad(misfit))
    return lambda: float(value(*given)), lambda: weft.asnumpy(slopes(*given))


def heat_in_jax(start: np.ndarray, seen: np.ndarray, steps: int) -> tuple[Work, Work]:
    """The same in JAX, its steps as a loop that it compiles."""
    import jax
    import jax.numpy as jnp

    def step(u: Any, _: Any) -> tuple[Any, None]:
        return u.at[1:-1, 1:-1].add(RATE * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])), None

    def misfit(u: Any, seen: Any) -> Any:
        u, _ = jax.lax.scan(step, u, None, length=steps)
        return ((u - seen) ** 2).sum() / 2

    given = jnp.asarray(start), jnp.asarray(seen)
    value, slopes = jax.jit(misfit), jax.jit(jax.grad(misfit))
    return lambda: float(value(*given)), lambda: np.asarray(slopes(*given))


def heat_in_torch(start: np.ndarray, seen: np.ndarray, steps: int) -> tuple[Work, Work]:
    """The same in PyTorch: its compiler takes minutes for the unrolled loop, so that a step is what it compiles."""
    import torch

    def step(u: Any) -> Any:
        inner = u[1:-1, 1:-1] + float(RATE) * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        return torch.cat([u[:1], torch.cat([u[1:-1, :1], inner, u[1:-1, -1:]], 1), u[-1:]], 0)

    fast = torch.compile(step)
    target = torch.tensor(seen)

    def misfit(u: Any) -> Any:
        for _ in range(steps):
            u = fast(u)
        return ((u - target) ** 2).sum() / 2

    x = torch.tensor(start, requires_grad=True)

    def gradient() -> Any:
        x.grad = None
        misfit(x).backward()
        return x.grad.numpy()

    def forward() -> Any:
        with torch.no_grad():
            return float(misfit(x))

    return forward, gradient


def heat_in_warp(start: np.ndarray, seen: np.ndarray, steps: int) -> tuple[Work, Work]:
    """The same by a kernel of Warp's for a step, an array for each time, and its tape."""
    import warp as wp

    wp.config.quiet = True
    rate = wp.constant(float(RATE))

    @wp.kernel
    def spread(u: wp.array2d(dtype=float), v: wp.array2d(dtype=float)):
        i, j = wp.tid()
        if i > 0 and j > 0 and i < u.shape[0] - 1 and j < u.shape[1] - 1:
            v[i, j] = u[i, j] + rate * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j])
        else:
            v[i, j] = u[i, j]

    @wp.kernel
    def off(u: wp.array2d(dtype=float), seen: wp.array2d(dtype=float), loss: wp.array(dtype=float)):
        i, j = wp.tid()
        d = u[i, j] - seen[i, j]
        wp.atomic_add(loss, 0, 0.5 * d * d)

    def array(values: np.ndarray) -> Any:
        return wp.array(values, dtype=float, device="cpu", requires_grad=True)

    times = [array(start), *(array(np.zeros_like(start)) for _ in range(steps))]
    target = wp.array(seen, dtype=float, device="cpu")

    def forward() -> Any:
        loss = wp.zeros(1, dtype=float, device="cpu", requires_grad=True)
        for before, after in itertools.pairwise(times):
            wp.launch(spread, dim=start.shape, inputs=[before, after], device="cpu")
        wp.launch(off, dim=start.shape, inputs=[times[-1], target, loss], device="cpu")
        return loss

    def gradient() -> Any:
        for each in times:
            each.grad.zero_()
        with wp.Tape() as tape:
            loss = forward()
        tape.backward(loss)
        return times[0].grad.numpy()

    return forward, gradient
