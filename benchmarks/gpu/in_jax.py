"""JAX: functions of whole arrays, compiled by XLA."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from contenders import Contender, sample
from sizes import plane
from where import DRY

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")


def haversine(lat, lon):
    p, q = jnp.sin((lat[:, None] - 0.5) * 0.5), jnp.sin((lon[None, :] - 1.7) * 0.5)
    a = p * p + jnp.cos(lat[:, None]) * math.cos(0.5) * q * q
    return 2.0 * 6371.0 * jnp.arctan2(jnp.sqrt(a), jnp.sqrt(1.0 - a))


def accelerations(pos):
    def on_one(here):
        d = pos - here
        r = (d * d).sum(1) + np.float32(1e-3)
        return (d * (1 / (r * jnp.sqrt(r)))[:, None]).sum(0)

    return jax.lax.map(on_one, pos, batch_size=512)


def picture(xs, ys, limit):
    """How many steps each point takes."""

    def point(cx, cy):
        def more(state):
            i, x, y = state
            return (i < limit) & (x * x + y * y < 4)

        def step(state):
            i, x, y = state
            return i + 1, x * x - y * y + cx, 2 * x * y + cy

        nought = jnp.zeros((), xs.dtype)
        i, x, y = jax.lax.while_loop(more, step, (jnp.int32(0), nought, nought))
        return jnp.where(x * x + y * y >= 4, i - 1, i).astype(jnp.uint16)

    return jax.vmap(lambda y: jax.vmap(lambda x: point(x, y))(xs))(ys)


class Library:
    """JAX's way to say each."""

    name = "jax"

    def __init__(self) -> None:
        try:
            self.device = jax.devices("cpu" if DRY else "gpu")[0]
        except RuntimeError:
            raise ModuleNotFoundError("JAX has no GPU here", name="JAX for CUDA") from None
        jax.device_put(np.zeros(1), self.device).block_until_ready()

    def free(self) -> None:
        """Its allocator keeps what it has."""

    def over(self, function, *arrays) -> Contender:
        compiled = jax.jit(function)
        held = [jax.device_put(array, self.device) for array in arrays]
        last = {}

        def run():
            last["result"] = compiled(*held)

        return Contender(run, lambda: last["result"].block_until_ready(), lambda: sample(jnp.atleast_1d(last["result"]), np.asarray))

    def mandelbrot(self, height, width, limit, dtype):
        x0, dx, y0, dy = (dtype(v) for v in plane(height, width))
        xs, ys = x0 + np.arange(width, dtype=dtype) * dx, y0 + np.arange(height, dtype=dtype) * dy
        return self.over(picture, xs, ys, np.int32(limit))

    def haversine(self, lat, lon):
        return self.over(haversine, lat, lon)

    def saxpy(self, a, x, y):
        return self.over(lambda x, y: a * x + y, x, y)

    def triad(self, b, c, s):
        return self.over(lambda b, c: b + s * c, b, c)

    def total(self, x):
        return self.over(lambda x: jnp.sum(x), x)

    def transpose(self, a):
        # A result that XLA cannot give as the same bytes in another layout.
        return self.over(lambda a: a.T + np.float32(0), a)

    def matmul(self, a, b):
        return self.over(lambda a, b: a @ b, a, b)

    def histogram(self, data):
        return self.over(lambda data: jnp.bincount(data, length=256), data)

    def nbody(self, pos):
        return self.over(accelerations, pos)

    def launch(self, a, b):
        return self.over(lambda a, b: a + b, a, b)
