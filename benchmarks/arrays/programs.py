"""The programs: array code as people write it, for any namespace of NumPy's names.

Each `make(xp, number)` returns a function of arrays. `number` makes a number of the program's own type where a library needs that (Numba,
whose literals are float64); for the others it is `float`, as people write it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

N = 1000
LAT, LON = 29.5, 100.25
X, Y = (29.0, 31.0), (99.0, 101.0)
SCALE = 2.0 * 6371.0
HALF, DEGREE = 0.008726645, 0.01745329


@dataclass(frozen=True)
class Program:
    """One program with its data, and how it is written where NumPy's way is not the library's."""

    name: str
    title: str
    make: Callable[..., Callable[..., Any]]
    arguments: Callable[[], tuple[np.ndarray, ...]]
    view: Callable[[Any], Any] | None = None
    """What is made of the first argument before it is handed over: a view where the library has views."""
    others: dict[str, Callable[..., Any]] = field(default_factory=dict)
    """By library, how it is written there; None where it cannot be."""
    tolerance: float = 1e-9
    moved: float | None = None
    """Bytes that have to be read and written at the least."""
    seconds: float = 2.0


def rng() -> np.random.Generator:
    """The same numbers for everyone."""
    return np.random.default_rng(1)


def mesh(xp: Any, number: Any = float) -> Callable[[], Any]:
    """Distances from a place to all points of a mesh: the naive lines."""

    def distances() -> Any:
        lat, lon = xp.meshgrid(xp.linspace(X[0], X[1], N), xp.linspace(Y[0], Y[1], N))
        p = xp.sin(HALF * (LAT - lat))
        q = xp.sin(HALF * (LON - lon))
        a = p * p + xp.cos(DEGREE * lat) * np.cos(DEGREE * LAT) * q * q
        return SCALE * xp.arctan2(a, 1.0 - a)

    return distances


def mesh_mlx(xp: Any, number: Any = float) -> Callable[[], Any]:
    """MLX's floats are float32 unless it is told, and those of its `linspace` are in any case."""
    lat1, lon1 = (xp.array(np.linspace(*ends, N), dtype=xp.float64) for ends in (X, Y))

    def distances() -> Any:
        lat, lon = xp.meshgrid(lat1, lon1)
        p = xp.sin(HALF * (LAT - lat))
        q = xp.sin(HALF * (LON - lon))
        a = p * p + xp.cos(DEGREE * lat) * float(np.cos(DEGREE * LAT)) * q * q
        return SCALE * xp.arctan2(a, 1.0 - a)

    return distances


def mesh_numba(xp: Any, number: Any = float) -> Callable[[], Any]:
    """Numba has no `meshgrid` here: the axes are broadcast."""
    cosine = float(np.cos(DEGREE * LAT))

    def distances() -> Any:
        lat, lon = np.linspace(29.0, 31.0, N).reshape(1, N), np.linspace(99.0, 101.0, N).reshape(N, 1)
        p = np.sin(HALF * (LAT - lat))
        q = np.sin(HALF * (LON - lon))
        a = p * p + np.cos(DEGREE * lat) * cosine * q * q
        return SCALE * np.arctan2(a, 1.0 - a)

    return distances


CONSTANTS = [1.0 + 0.001 * i for i in range(10)]


def chain(xp: Any, number: Any = float) -> Callable[[Any], Any]:
    """20 operations one after the other."""
    a0, a1, a2, a3, a4, a5, a6, a7, a8, a9 = map(number, CONSTANTS)
    b = number(0.25)

    def chained(x: Any) -> Any:
        x = ((((x * a0 + b) * a1 - b) * a2 + b) * a3 - b) * a4 + b
        return ((((x * a5 - b) * a6 + b) * a7 - b) * a8 + b) * a9 - b

    return chained


def black_scholes(xp: Any, number: Any = float) -> Callable[..., Any]:
    """Prices of calls and puts; the normal distribution by its usual polynomial."""

    def prices(spot: Any, strike: Any, years: Any) -> Any:
        def normal(d: Any) -> Any:
            k = 1.0 / (1.0 + 0.2316419 * xp.abs(d))
            tail = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
            below = 0.39894228040143267 * xp.exp(-0.5 * d * d) * tail
            return xp.where(d > 0.0, 1.0 - below, below)

        root = 0.3 * xp.sqrt(years)
        d1 = (xp.log(spot / strike) + (0.02 + 0.5 * 0.09) * years) / root
        d2 = d1 - root
        later = strike * xp.exp(-0.02 * years)
        call = spot * normal(d1) - later * normal(d2)
        return call, call - spot + later

    return prices


def options() -> tuple[np.ndarray, ...]:
    """A million options."""
    r = rng()
    return r.uniform(5, 30, 10**6), r.uniform(1, 100, 10**6), r.uniform(0.25, 10, 10**6)


def blur(xp: Any, number: Any = float) -> Callable[[Any], Any]:
    """A Gaussian blur by five points a direction."""
    four, six, scale = number(4.0), number(6.0), number(0.0625)

    def blurred(x: Any) -> Any:
        h = (x[:, :-4] + four * x[:, 1:-3] + six * x[:, 2:-2] + four * x[:, 3:-1] + x[:, 4:]) * scale
        return (h[:-4] + four * h[1:-3] + six * h[2:-2] + four * h[3:-1] + h[4:]) * scale

    return blurred


def picture(xp: Any, number: Any = int) -> Callable[[Any], Any]:
    """To grey, more contrast, lights clipped: integers of 8 and 16 bits."""

    def graded(image: Any) -> Any:
        wide = image.astype(xp.uint16)
        grey = (wide[:, :, 0] * number(77) + wide[:, :, 1] * number(150) + wide[:, :, 2] * number(29)) >> number(8)
        steep = ((grey.astype(xp.int16) * number(3)) >> number(1)) - number(40)
        clipped = xp.minimum(xp.maximum(steep, number(0)), number(255)).astype(xp.uint8)
        return xp.where(clipped > 200, 255 - (255 - clipped) // 2, clipped)

    return graded


def picture_numba(xp: Any, number: Any = int) -> Callable[[Any], Any]:
    """Numba's integers are int64 unless it is told."""
    u77, u150, u29, u8 = (np.uint16(v) for v in (77, 150, 29, 8))
    i3, i1, i40, i0, i255 = (np.int16(v) for v in (3, 1, 40, 0, 255))
    b200, b255, b2 = (np.uint8(v) for v in (200, 255, 2))

    def graded(image: Any) -> Any:
        wide = image.astype(np.uint16)
        grey = (wide[:, :, 0] * u77 + wide[:, :, 1] * u150 + wide[:, :, 2] * u29) >> u8
        steep = ((grey.astype(np.int16) * i3) >> i1) - i40
        clipped = np.minimum(np.maximum(steep, i0), i255).astype(np.uint8)
        return np.where(clipped > b200, b255 - (b255 - clipped) // b2, clipped)

    return graded


def kmeans(xp: Any, number: Any = float) -> Callable[..., Any]:
    """One step: nearest centres, then the means of what is nearest to each."""

    def step(points: Any, centres: Any) -> Any:
        apart = points[:, None, :] - centres[None, :, :]
        nearest = xp.argmin((apart * apart).sum(axis=2), axis=1)
        own = (nearest[:, None] == xp.arange(16)[None, :]).astype(xp.float32)
        sums = (own[:, :, None] * points[:, None, :]).sum(axis=0)
        return sums / own.sum(axis=0)[:, None]

    return step


def points() -> tuple[np.ndarray, ...]:
    """10⁵ points in 8 dimensions, 16 centres."""
    r = rng()
    return r.random((10**5, 8), np.float32), r.random((16, 8), np.float32)


TURNS = 20


def jacobi(xp: Any, number: Any = float) -> Callable[[Any], Any]:
    """Twenty relaxations of a plate, in place."""

    def relaxed(u: Any) -> Any:
        u = u.copy()
        for _ in range(TURNS):
            u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        return u

    return relaxed


def jacobi_jax(xp: Any, number: Any = float) -> Callable[[Any], Any]:
    """JAX has no assignment."""

    def relaxed(u: Any) -> Any:
        for _ in range(TURNS):
            u = u.at[1:-1, 1:-1].set(0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]))
        return u

    return relaxed


def jacobi_mlx(xp: Any, number: Any = float) -> Callable[[Any], Any]:
    """MLX's arrays have no `copy`."""

    def relaxed(u: Any) -> Any:
        u = xp.array(u)
        for _ in range(TURNS):
            u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        return u

    return relaxed


def monte_carlo(xp: Any, number: Any = float) -> Callable[..., Any]:
    """π from points in a square."""

    def pi(x: Any, y: Any) -> Any:
        return 4.0 * xp.mean(x * x + y * y <= 1.0)

    return pi


def mesh_numexpr(ne: Any) -> Callable[[], Any]:
    """The mesh in one expression; NumExpr makes no arrays itself."""
    q, p = f"sin({HALF} * ({LON} - lon))", f"sin({HALF} * ({LAT} - lat))"
    a = f"({p} ** 2 + cos({DEGREE} * lat) * {np.cos(DEGREE * LAT)} * {q} ** 2)"

    def distances() -> Any:
        lat, lon = np.meshgrid(np.linspace(*X, N), np.linspace(*Y, N), copy=False)
        return ne.evaluate(f"{SCALE} * arctan2({a}, 1.0 - {a})", local_dict={"lat": lat, "lon": lon})

    return distances


def jacobi_numexpr(ne: Any) -> Callable[[Any], Any]:
    """A step an expression."""

    def relaxed(u: np.ndarray) -> np.ndarray:
        u = u.copy()
        for _ in range(TURNS):
            parts = {"a": u[:-2, 1:-1], "b": u[2:, 1:-1], "c": u[1:-1, :-2], "d": u[1:-1, 2:]}
            u[1:-1, 1:-1] = ne.evaluate("0.25 * (a + b + c + d)", local_dict=parts)
        return u

    return relaxed


def blur_numexpr(ne: Any) -> Callable[[Any], Any]:
    """A direction an expression."""
    constants = {"four": np.float32(4), "six": np.float32(6), "scale": np.float32(0.0625)}
    text = "(a + four * b + six * c + four * d + e) * scale"

    def blurred(x: np.ndarray) -> np.ndarray:
        h = ne.evaluate(text, local_dict={"a": x[:, :-4], "b": x[:, 1:-3], "c": x[:, 2:-2], "d": x[:, 3:-1], "e": x[:, 4:], **constants})
        return ne.evaluate(text, local_dict={"a": h[:-4], "b": h[1:-3], "c": h[2:-2], "d": h[3:-1], "e": h[4:], **constants})

    return blurred


def chain_numexpr(ne: Any) -> Callable[[Any], Any]:
    """One expression of numbers of float32."""
    text = "x"
    for i in range(10):
        text = f"({text} * a{i} {'+-+-+-+-+-'[i] if i < 5 else '-+-+-'[i - 5]} b)"
    numbers = {f"a{i}": np.float32(a) for i, a in enumerate(CONSTANTS)} | {"b": np.float32(0.25)}
    return lambda x: ne.evaluate(text, local_dict={"x": x, **numbers})


NORMAL = "0.39894228040143267 * exp(-0.5 * {0} * {0}) * {1} * (0.319381530 + {1} * (-0.356563782 + {1} * (1.781477937 + {1} * (-1.821255978 + {1} * 1.330274429))))"  # noqa: E501


def black_scholes_numexpr(ne: Any) -> Callable[..., Any]:
    """A line an expression."""
    lines = {
        "root": "0.3 * sqrt(years)",
        "d1": "(log(spot / strike) + 0.065 * years) / root",
        "d2": "d1 - root",
        "k1": "1.0 / (1.0 + 0.2316419 * abs(d1))",
        "k2": "1.0 / (1.0 + 0.2316419 * abs(d2))",
        "b1": NORMAL.format("d1", "k1"),
        "b2": NORMAL.format("d2", "k2"),
        "later": "strike * exp(-0.02 * years)",
        "call": "spot * where(d1 > 0.0, 1.0 - b1, b1) - later * where(d2 > 0.0, 1.0 - b2, b2)",
        "put": "call - spot + later",
    }

    def prices(spot: np.ndarray, strike: np.ndarray, years: np.ndarray) -> Any:
        known: dict[str, Any] = {"spot": spot, "strike": strike, "years": years}
        for name, expression in lines.items():
            known[name] = ne.evaluate(expression, local_dict=known)
        return known["call"], known["put"]

    return prices


def pi_numexpr(ne: Any) -> Callable[..., Any]:
    """A sum of ones."""
    return lambda x, y: 4.0 * ne.evaluate("sum(where(x * x + y * y <= 1.0, 1, 0))", local_dict={"x": x, "y": y}) / x.size


def frame() -> tuple[np.ndarray, ...]:
    """A picture of full HD in float32."""
    return (rng().random((1080, 1920), np.float32),)


PROGRAMS = [
    Program(
        "black-scholes",
        "Black–Scholes, 10⁶ options, float64",
        black_scholes,
        options,
        others={"numexpr": black_scholes_numexpr},
    ),
    Program("blur", "Gaussian blur 5×5, 1080×1920, float32", blur, frame, others={"numexpr": blur_numexpr}, tolerance=1e-5),
    Program(
        "image",
        "image pipeline, 1080×1920×3, uint8",
        picture,
        lambda: (rng().integers(0, 256, (1080, 1920, 3), np.uint8),),
        others={"numexpr": None, "numba": picture_numba},
        tolerance=0.0,
    ),
    Program("k-means", "k-means step, 10⁵ points, 16 centres, float32", kmeans, points, others={"numexpr": None}, tolerance=1e-4),
    Program(
        "jacobi",
        "Jacobi, 1000², 20 steps, float64",
        jacobi,
        lambda: (rng().random((N, N)),),
        others={"jax": jacobi_jax, "mlx": jacobi_mlx, "numexpr": jacobi_numexpr},
    ),
    Program(
        "pi",
        "Monte-Carlo π, 10⁷ points, float64",
        monte_carlo,
        lambda: tuple(rng().random((2, 10**7))),
        others={"numexpr": pi_numexpr},
        tolerance=1e-6,
    ),
]

MESH = Program(
    "mesh",
    "great-circle mesh, 1000², float64",
    mesh,
    tuple,
    others={"numexpr": mesh_numexpr, "mlx": mesh_mlx, "numba": mesh_numba},
    seconds=3.0,
)
CHAIN = Program(
    "chain",
    "20 operations on 10⁷, float32",
    chain,
    lambda: (rng().random(10**7, np.float32),),
    others={"numexpr": chain_numexpr},
    tolerance=1e-4,
    moved=8e7,
    seconds=3.0,
)


def fold(op: str, axis: Any) -> Callable[..., Callable[[Any], Any]]:
    """A reduction, or what is made of reductions."""

    def make(xp: Any, number: Any = float) -> Callable[[Any], Any]:
        def plain(x: Any) -> Any:
            return getattr(xp, op)(x, axis=axis)

        def softmax(x: Any) -> Any:
            e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
            return e / xp.sum(e, axis=axis, keepdims=True)

        def layer_norm(x: Any) -> Any:
            return (x - xp.mean(x, axis=axis, keepdims=True)) / xp.sqrt(xp.var(x, axis=axis, keepdims=True) + 1e-5)

        return {"softmax": softmax, "layer-norm": layer_norm}.get(op, plain)

    return make


def fold_numba(op: str, axis: Any) -> Callable[..., Callable[[Any], Any]]:
    """Numba has few reductions along axes, and needs the axis as a literal."""

    def make(xp: Any, number: Any = float) -> Callable[[Any], Any]:
        scope: dict[str, Any] = {"np": np}
        exec(f"def f(x):\n    return np.{op}(x{'' if axis is None else f', axis={axis}'})", scope)
        return scope["f"]

    return make


def sum_numexpr(axis: Any) -> Callable[..., Any]:
    """The only reductions NumExpr has are sums, products and extremes."""
    text = "sum(x)" if axis is None else f"sum(x, axis={axis})"
    return lambda ne: lambda x: ne.evaluate(text, local_dict={"x": x})


LAYOUTS: list[tuple[str, Callable[[], tuple[np.ndarray, ...]], Callable[[Any], Any] | None, tuple[Any, ...]]] = [
    ("4000×1000", lambda: (rng().random((4000, 1000), np.float32),), None, (0, 1, None)),
    ("4000×1000 turned", lambda: (rng().random((1000, 4000), np.float32),), lambda x: x.T, (0, 1, None)),
    ("4000×1000 of every second column", lambda: (rng().random((4000, 2000), np.float32),), lambda x: x[:, ::2], (0, 1, None)),
    ("100×100×1000", lambda: (rng().random((100, 100, 1000), np.float32),), None, (0, 1, 2)),
    ("1000×100×100 turned", lambda: (rng().random((100, 1000, 100), np.float32),), lambda x: x.transpose(1, 2, 0), (0, 1, 2)),
]

FOLDS = [
    Program(
        f"{op}-{layout.replace(' ', '-')}-{axis}",
        f"{op}, {layout}, {'all' if axis is None else f'axis {axis}'}",
        fold(op, axis),
        arguments,
        view,
        others={
            "numba": fold_numba(op, axis) if op in ("sum", "argmax") or (axis is None and op in ("mean", "var")) else None,
            "numexpr": sum_numexpr(axis) if op == "sum" else None,
        },
        tolerance=1e-3,
        seconds=0.4,
    )
    for op in ("sum", "mean", "var", "argmax", "softmax", "layer-norm")
    for layout, arguments, view, axes in LAYOUTS
    for axis in axes
    if not (axis is None and op in ("softmax", "layer-norm"))
]
