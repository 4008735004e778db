"""The rows of the table for linear algebra, Fourier transforms and SciPy's functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.gradients.cases import A, Case, L, P, U, case, words


def _h(m: Any, x: Any) -> Any:
    """A Hermitian, positive definite matrix."""
    return m.matmul(x, m.conj(m.swapaxes(x, -1, -2))) + m.eye(x.shape[-1])


def _t(x: Any) -> Any:
    return x.swapaxes(-1, -2).conj()


def _eigh(m: Any, x: Any) -> Any:
    values, vectors = m.linalg.eigh(_h(m, x))
    # Vectors have any sign, or phase.
    return values, m.abs(vectors), m.matmul(vectors * m.exp(values)[..., None, :], _t(vectors))


def _eig(m: Any, x: Any) -> Any:
    values, vectors = m.linalg.eig(x)
    return m.sum(values**3), m.sum(m.abs(vectors) ** 2 * values)


def _svd(m: Any, x: Any) -> Any:
    left, values, right = m.linalg.svd(x, full_matrices=False)
    return m.abs(left), values, m.abs(right), m.matmul(left * m.exp(values), right)


def _qr(m: Any, x: Any, mode: str) -> Any:
    q, r = m.linalg.qr(x, mode)
    return m.abs(q), m.abs(r), m.matmul(q, r * r)


LINALG: dict[str, list[Case]] = {
    "cholesky": [
        case(lambda m, x: m.linalg.cholesky(_h(m, x)), A(3, 3), c=True),
        case(lambda m, x: m.linalg.cholesky(_h(m, x), upper=True), A(2, 2, 2), c=True, jax=False),
    ],
    "cond": [case(lambda m, x: m.linalg.cond(x), A(3, 3), c=True), case(lambda m, x: m.linalg.cond(x, 1), A(2, 2))],
    "cross": [case(lambda m, x, y: m.linalg.cross(x, y), A(2, 3), A(2, 3), c=True)],
    "det": [case(lambda m, x: m.linalg.det(x), A(3, 3), c=True), case(lambda m, x: m.linalg.det(x), A(2, 2, 2))],
    "diagonal": [case(lambda m, x: m.linalg.diagonal(x, offset=1), A(3, 3), c=True)],
    "eig": [case(_eig, A(3, 3), c=True, jax=False)],
    "eigh": [case(_eigh, A(3, 3), c=True), case(_eigh, A(2, 2, 2), jax=False)],
    "eigvals": [case(lambda m, x: m.sum(m.linalg.eigvals(x) ** 3), A(3, 3), c=True)],
    "eigvalsh": [
        case(lambda m, x: m.linalg.eigvalsh(_h(m, x)), A(3, 3), c=True),
        case(lambda m, x: m.linalg.eigvalsh(_h(m, x), "U"), A(2, 2)),
    ],
    "inv": [case(lambda m, x: m.linalg.inv(x + 3 * m.eye(3)), A(2, 3, 3), c=True)],
    "lstsq": [
        case(lambda m, x, y: m.linalg.lstsq(x, y, rcond=1e-10)[0], A(4, 2), A(4, 2), c=True, vmap=False, loose=10),
        case(lambda m, x, y: m.linalg.lstsq(x, y, rcond=1e-10)[1], A(4, 2), A(4), vmap=False, loose=10, jax=False),
    ],
    "matmul": [case(lambda m, x, y: m.linalg.matmul(x, y), A(2, 3), A(3, 2), c=True)],
    "matrix_norm": [case(lambda m, x, ord=ord: m.linalg.matrix_norm(x, ord=ord), A(2, 3, 2), c=True) for ord in ("fro", "nuc", 1, 2)],
    "matrix_power": [case(lambda m, x, n=n: m.linalg.matrix_power(x + 2 * m.eye(2), n), A(2, 2), c=True) for n in (3, -2)],
    "matrix_transpose": [case(lambda m, x: m.linalg.matrix_transpose(x), A(2, 3), c=True)],
    "multi_dot": [case(lambda m, x, y, z: m.linalg.multi_dot([x, y, z]), A(2, 3), A(3, 4), A(4), c=True)],
    "norm": [
        case(lambda m, x: m.linalg.norm(x), A(2, 3), c=True),
        case(lambda m, x: m.linalg.norm(x, 3, axis=1), A(2, 3), c=True),
        case(lambda m, x: m.linalg.norm(x, "nuc"), A(3, 2), c=True),
        case(lambda m, x: m.linalg.norm(x, -1), A(3, 2)),
    ],
    "outer": [case(lambda m, x, y: m.linalg.outer(x, y), A(2), A(3), c=True)],
    "pinv": [
        case(lambda m, x: m.linalg.pinv(x), A(4, 2), c=True, jax=False),
        case(lambda m, x: m.linalg.pinv(x), A(2, 3), jax=False),
        case(lambda m, x: m.linalg.pinv(_h(m, x), hermitian=True), A(2, 2), jax=False),
    ],
    "qr": [
        case(lambda m, x: _qr(m, x, "reduced"), A(3, 2), c=True),
        case(lambda m, x: _qr(m, x, "reduced"), A(2, 3), c=True, jax=False),
        case(lambda m, x: _qr(m, x, "complete"), A(2, 2, 2)),
        case(lambda m, x: m.abs(m.linalg.qr(x, "r")), A(3, 2)),
    ],
    "slogdet": [case(lambda m, x: m.linalg.slogdet(x)[1], A(3, 3), c=True), case(lambda m, x: m.linalg.slogdet(x), A(2, 2), c=True)],
    "solve": [
        case(lambda m, x, y: m.linalg.solve(x + 3 * m.eye(3), y), A(3, 3), A(3, 2), c=True),
        case(lambda m, x, y: m.linalg.solve(x + 3 * m.eye(2), y), A(2, 2, 2), A(2), c=True, jax=False),
        case(lambda m, x, y: m.linalg.solve(x + 3 * m.eye(2), y), A(2, 2), A(2, 2, 1)),
    ],
    "svd": [
        case(_svd, A(3, 2), c=True),
        case(_svd, A(2, 3), c=True),
        case(lambda m, x: m.linalg.svd(x)[1], A(2, 3), jax=False),
        case(lambda m, x: m.linalg.svd(x, compute_uv=False), A(2, 2, 3), c=True),
        case(lambda m, x: m.linalg.svd(_h(m, x), hermitian=True)[1], A(2, 2)),
    ],
    "svdvals": [case(lambda m, x: m.linalg.svdvals(x), A(3, 2), c=True)],
    "tensordot": [case(lambda m, x, y: m.linalg.tensordot(x, y, axes=1), A(2, 3), A(3, 2), c=True)],
    "tensorinv": [case(lambda m, x: m.linalg.tensorinv((x + 3 * m.eye(4)).reshape(4, 2, 2), 1), A(4, 4))],
    "tensorsolve": [case(lambda m, x, y: m.linalg.tensorsolve((x + 3 * m.eye(4)).reshape(2, 2, 4), y), A(4, 4), A(2, 2))],
    "trace": [case(lambda m, x: m.linalg.trace(x), A(3, 3), c=True)],
    "vecdot": [case(lambda m, x, y: m.linalg.vecdot(x, y), A(2, 3), A(3), c=True)],
    "vector_norm": [case(lambda m, x: m.linalg.vector_norm(x, axis=(0, 1)), A(2, 3, 2), c=True)],
}
LINALG_FLAT: dict[str, Any] = {"matrix_rank": lambda m, x: m.linalg.matrix_rank(x.reshape(2, 2))}
LINALG_NOTHING = ["LinAlgError"]


def _along(name: str) -> list[Case]:
    """A transform along one axis: of the length that there is, a shorter and a longer one."""
    c = name not in ("rfft", "ihfft")
    return [
        case(lambda m, x, n=n, axis=axis, norm=norm: getattr(m.fft, name)(x, n, axis, norm), A(3, 4), c=c)
        for n, axis, norm in ((None, -1, None), (5, 0, "ortho"), (2, 1, "forward"))
    ]


def _along_all(name: str) -> list[Case]:
    c = not name.startswith("r")
    return [case(lambda m, x, s=s: getattr(m.fft, name)(x, s, axes=(0, 2)), A(3, 2, 4), c=c) for s in (None, (2, 5))]


FFT: dict[str, list[Case]] = {name: _along(name) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")}
FFT |= {name: _along_all(name) for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")}
FFT |= {name: [case(lambda m, x, name=name: getattr(m.fft, name)(x, 1), A(2, 3), c=True)] for name in ("fftshift", "ifftshift")}
FFT_NOTHING = ["fftfreq", "rfftfreq"]


def _special(name: str, *specs: Any, **words: Any) -> list[Case]:
    made = [case(lambda m, *args: getattr(m.scipy.special, name)(*args), *(spec(2, 3) for spec in specs), jax=False, **words)]
    if len(specs) == 2:
        made.append(case(lambda m, *args: getattr(m.scipy.special, name)(*args), specs[0](2, 1), specs[1](3), jax=False, **words))
    return made


SPECIAL: dict[str, list[Case]] = {
    "boxcox": _special("boxcox", P, A),
    "boxcox1p": _special("boxcox1p", P, A),
    "cbrt": _special("cbrt", A),
    "cosm1": _special("cosm1", A),
    "entr": _special("entr", P),
    "erf": _special("erf", A),
    "erfc": _special("erfc", A),
    "erfinv": _special("erfinv", U),
    "exp2": _special("exp2", A),
    "exp10": _special("exp10", A),
    "expit": _special("expit", A),
    "expm1": _special("expm1", A),
    "exprel": _special("exprel", A),
    "factorial": [case(lambda m, x: m.scipy.special.factorial(x), L(), jax=False)],
    "gamma": _special("gamma", L),
    "gammaln": _special("gammaln", A),
    "huber": _special("huber", P, A),
    "i0": _special("i0", A),
    "inv_boxcox": _special("inv_boxcox", P, P),
    "kl_div": _special("kl_div", P, P),
    "log1p": _special("log1p", P),
    "log_expit": _special("log_expit", A),
    "log_softmax": [case(lambda m, x: m.scipy.special.log_softmax(x, axis=1), A(2, 3), jax=False)],
    "logit": [case(lambda m, x: m.scipy.special.logit(abs(x)), U(3), jax=False)],
    "logsumexp": [
        case(lambda m, x: m.scipy.special.logsumexp(x, axis=1, keepdims=True), A(2, 3), jax=False),
        case(lambda m, x, b: m.scipy.special.logsumexp(x, b=b), A(3), P(3), jax=False),
    ],
    "ndtr": _special("ndtr", A),
    "pseudo_huber": _special("pseudo_huber", P, A),
    "rel_entr": _special("rel_entr", P, P),
    "sinc": _special("sinc", A),
    "softmax": [case(lambda m, x: m.scipy.special.softmax(x, axis=0), A(3, 2), jax=False)],
    "xlog1py": _special("xlog1py", A, P),
    "xlogy": _special("xlogy", A, P),
}

_MATHS: dict[str, tuple[Any, ...]] = {
    "cospi": (A,),
    "erf": (A,),
    "erfc": (A,),
    "erfinv": (U,),
    "exp10": (A,),
    "fma": (A, A, A),
    "gamma": (L,),
    "lgamma": (A,),
    "remainder": (A, L),
    "rsqrt": (P,),
    "sincos": (A,),
    "sinpi": (A,),
    "tanpi": (U,),
}
MATH: dict[str, list[Case]] = {
    name: [case(lambda m, *args, name=name: getattr(m.math, name)(*args), *(spec(2, 2) for spec in specs), jax=False)]
    for name, specs in _MATHS.items()
}
MATH_FLAT: dict[str, Any] = {"logb": lambda m, x: m.math.logb(x)}
MATH_NOTHING = words("brev clz comb ctz factorial ilogb isqrt perm popcount")


_KERNEL = np.array([[0.5, -1.0], [2.0, 0.25], [1.0, 0.75]])


def _signal(name: str) -> list[Case]:
    """A convolution of two arrays, of a matrix with a smaller one, in each mode."""
    made = [
        case(lambda m, x, y, mode=mode: getattr(m.scipy.signal, name)(x, y, mode), A(4, 3), A(2, 2), c=True, jax=False)
        for mode in ("full", "same", "valid")
    ]
    return [*made, case(lambda m, x, y: getattr(m.scipy.signal, name)(x, y), A(2, 3, 2), A(2, 1, 2), jax=False)]


SIGNAL: dict[str, list[Case]] = {name: _signal(name) for name in ("convolve", "correlate", "fftconvolve")}
SIGNAL["lfilter"] = [
    case(lambda m, x: m.scipy.signal.lfilter([1.0, 0.5], [2.0, -0.3, 0.2], x, axis=0), A(5, 2), jax=False),
    case(lambda m, b, a, x: m.scipy.signal.lfilter(b, a, x), A(2), P(3), A(2, 5), vmap=False, jax=False),
    case(lambda m, b, x, z: m.scipy.signal.lfilter(b, [1.0, -0.5, 0.3], x, zi=z), A(3), A(4), A(2), c=True, jax=False),
]


def _filter(name: str, text: str, **words: Any) -> list[Case]:
    return [case(eval(f"lambda m, x: m.scipy.ndimage.{name}(x{text})", {"kernel": _KERNEL}), A(4, 5), jax=False, **words)]


NDIMAGE: dict[str, list[Case]] = {
    "convolve": _filter("convolve", ", kernel"),
    "convolve1d": _filter("convolve1d", ", [1.0, 2.0, 0.5], 0, mode='wrap'"),
    "correlate": _filter("correlate", ", kernel, mode='constant'"),
    "correlate1d": _filter("correlate1d", ", [1.0, 2.0, 0.5]"),
    "gaussian_filter": _filter("gaussian_filter", ", 0.4"),
    "gaussian_filter1d": _filter("gaussian_filter1d", ", 0.5, mode='nearest'"),
    "laplace": _filter("laplace", ""),
    "map_coordinates": [
        case(
            lambda m, x, at, mode=mode, order=order: m.scipy.ndimage.map_coordinates(x, at * 3 + 1, order=order, mode=mode),
            *(A(4, 5), A(2, 6)),
            jax=False,
            smooth=order > 1,
        )
        for mode, order in (("constant", 1), ("nearest", 3), ("mirror", 3), ("reflect", 3), ("grid-wrap", 1), ("grid-constant", 3))
    ]
    + [case(lambda m, x, at: m.scipy.ndimage.map_coordinates(x, at[None], order=3, mode="mirror"), A(5), P(3), c=False, jax=False)],
    "maximum_filter": _filter("maximum_filter", ", 2"),
    "maximum_filter1d": _filter("maximum_filter1d", ", 3"),
    "median_filter": _filter("median_filter", ", (1, 3)"),
    "minimum_filter": _filter("minimum_filter", ", 2"),
    "minimum_filter1d": _filter("minimum_filter1d", ", 3"),
    "percentile_filter": _filter("percentile_filter", ", 40, (3, 1)"),
    "prewitt": _filter("prewitt", ""),
    "rank_filter": _filter("rank_filter", ", 1, (1, 3)"),
    "shift": _filter("shift", ", (0.5, -1.25)") + _filter("shift", ", 0.5, order=1, mode='wrap'"),
    "spline_filter": _filter("spline_filter", "") + _filter("spline_filter", ", mode='wrap'"),
    "spline_filter1d": _filter("spline_filter1d", ", axis=0, mode='reflect'"),
    "zoom": _filter("zoom", ", (1.5, 0.7), mode='nearest'") + _filter("zoom", ", 1.5, mode='mirror'"),
    "sobel": _filter("sobel", ", 0"),
    "uniform_filter": _filter("uniform_filter", ", 2"),
    "uniform_filter1d": _filter("uniform_filter1d", ", 3"),
}
