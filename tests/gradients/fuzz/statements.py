"""Random statements that can be differentiated, as text: those of `arrays.fuzz` on views, keys and updates, and others in place of those
whose numbers are whole, infinite or not a number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from arrays.fuzz.statements import Statements

from gradients.fuzz.choices import Parts

# Functions of one array and where they are smooth: what is said of all its elements.
ANYWHERE = [
    "sin", "cos", "tanh", "exp", "expm1", "arctan", "arcsinh", "square", "negative", "positive", "conj", "sinh", "cosh", "exp2",
    "sin", "tanh", "abs", "fabs", "deg2rad", "sinc", "nan_to_num", "sign", "floor", "rint", "logistic",
]  # fmt: skip
WHERE = {
    "sqrt": "> 0.05", "log": "> 0.05", "log2": "> 0.05", "log10": "> 0.05", "log1p": "> -0.9", "cbrt": "> 0.05", "arcsin": "abs < 0.9",
    "arccos": "abs < 0.9", "arctanh": "abs < 0.9", "arccosh": "> 1.1", "tan": "abs < 1.2", "reciprocal": "abs > 0.2",
}  # fmt: skip
OF_COMPLEX = [
    "sin", "cos", "exp", "tanh", "square", "negative", "conj", "conj", "abs", "abs", "angle", "real", "imag", "sinh", "sqrt", "log",
    "reciprocal",
]  # fmt: skip
BINARY = [
    "add", "subtract", "multiply", "maximum", "minimum", "hypot", "arctan2", "fmax", "fmin", "copysign", "logaddexp", "logaddexp2",
    "true_divide", "power", "remainder", "fmod", "float_power", "heaviside",
]  # fmt: skip
OPERATORS = ["+", "-", "*", "/", "+", "-", "*", "%"]
REDUCTIONS = ["sum", "sum", "mean", "max", "min", "prod", "var", "std", "ptp", "nansum", "nanmean", "nanmax", "average", "median"]
FUNCTIONS = {
    # A function of an array to a number, and its derivative: what a nested transform is taken of.
    "lambda x: xp.sin(x).sum()": "lambda x: xp.cos(x)",
    "lambda x: (x**3).sum()": "lambda x: 3 * x**2",
    "lambda x: (x * {other}).sum()": "lambda x: xp.ones_like(x) * {other}",
    "lambda x: (xp.tanh(x) * {other}).mean()": "lambda x: (1 - xp.tanh(x) ** 2) * {other} / x.size",
    "lambda x: (x * x).sum() * x.sum()": "lambda x: 2 * x * x.sum() + (x * x).sum()",
}
MAPS = [
    "lambda x: xp.sin(x) * x", "lambda x: x - xp.mean(x)", "lambda x: xp.tanh(x * {other})", "lambda x: x[..., ::-1] * x + {other}",
    "lambda x: xp.where(x > 0.2, x * x, -x)",
]  # fmt: skip


ROWS = ["lambda x: xp.sin(x) * x.sum()", "lambda x: x - xp.mean(x)", "lambda x: x[..., ::-1] * x"]


class Smooth(Statements):
    """Makers of statements that have a derivative almost everywhere."""

    of: Parts

    def again(self) -> str | None:
        """A late statement once more."""
        return super().again() if self.said else None

    def another(self) -> str | None:
        """One statement of any sort."""
        makers: list[tuple[int, Callable[[], str | None]]] = [
            (2, self.create), (14, self.view), (7, self.unary), (11, self.binary), (8, self.augment), (9, self.augment_part),
            (10, self.assign), (4, self.index), (4, self.select), (6, self.reduce), (1, self.order), (2, self.running), (4, self.join),
            (2, self.cast), (3, self.into), (2, self.rename), (1, self.forget), (2, self.flush), (3, self.chain), (2, self.softmax),
            (5, self.again), (4, self.product), (3, self.decide), (2, self.repeat), (4, self.transform), (2, self.windows),
            (2, self.parts), (2, self.factor), (1, self.fill),
        ]  # fmt: skip
        return self.of.rng.choices([maker for _, maker in makers], [weight for weight, _ in makers])[0]()

    def create(self) -> str | None:
        """A new array, whose derivative is zero."""
        of, to = self.of, self.target()
        sort = of.rng.randrange(5)
        if sort == 0:
            return f"{to} = xp.{of.one_of('zeros', 'ones')}({of.shape()}, dtype=xp.{of.dtype()})"
        if sort == 1:
            return f"{to} = xp.{of.one_of('zeros_like', 'ones_like')}({of.array()})"
        if sort == 2:
            return f"{to} = xp.linspace(-1.0, 1.0, {of.rng.randrange(1, 5)})"
        return f"{to} = xp.asarray({of.numpy_array(of.shape())})"

    def unary(self) -> str | None:
        """A function of one array."""
        of, to = self.of, self.target()
        name = of.array()
        array = of.env[name]
        if array.dtype.kind == "c":
            function = of.one_of(*OF_COMPLEX)
            # These jump where a number crosses the negative real axis.
            is_cut = function in ("sqrt", "log", "angle") and np.any((array.real < 0.05) & (np.abs(array.imag) < 0.05))
            return f"{to} = xp.{'exp' if is_cut else function}({name})"
        if of.chance(0.65):
            function = of.one_of(*ANYWHERE)
            if function == "logistic":
                return f"{to} = 1 / (1 + xp.exp(-{name}))"
            return f"{to} = {of.one_of('xp', 'xp', 'np')}.{function}({name})"
        function = of.one_of(*WHERE)
        if is_within(WHERE[function], array):
            return f"{to} = xp.{function}({name})"
        inside = {"> 0.05": "xp.square({}) + 0.1", "> -0.9": "abs({})", "> 1.1": "abs({}) + 1.25", "abs > 0.2": "xp.square({}) + 0.5"}
        return f"{to} = xp.{function}({inside.get(WHERE[function], 'xp.sin({}) * 0.8').format(name)})"

    def binary(self) -> str | None:
        """An operator or function of two."""
        of, to = self.of, self.target()
        name = of.array()
        other = of.operand(of.env[name].shape)
        left, right = (name, other) if of.chance(0.75) else (other, name)
        if of.chance(0.6):
            operator = of.one_of(*OPERATORS)
            return f"{to} = {left} {operator} {right if operator != '%' else f'(abs({right}) + 0.5)'}"
        if of.chance(0.2):
            return f"{to} = {name} ** {of.one_of('2', '3', '2.0', '-1', '1', '0')}"
        if of.chance(0.2):
            return f"{to} = (abs({name}) + 0.25) ** {other}"
        function = of.one_of(*BINARY)
        if function in ("remainder", "fmod"):
            # The steps of differences are not longer than what is divided by.
            right = f"abs({right}) + 0.5"
        if "power" in function:
            # Negative numbers have powers, but no derivative by the exponent.
            left = f"abs({left}) + 0.25"
        return f"{to} = {of.one_of('xp', 'xp', 'np')}.{function}({left}, {right})"

    def in_place(self, name: str) -> str:
        """An operator in place."""
        return self.of.one_of("+=", "-=", "*=", "+=", "-=", "*=", "*=", "/=")

    def augment(self) -> str | None:
        """An operator in place, or a power by a number."""
        if self.of.chance(0.1):
            return f"{self.of.array()} **= {self.of.one_of('2', '3', '1', '0', '2.0')}"
        return super().augment()

    def assign(self) -> str | None:
        """Writes to a part by any key."""
        of = self.of
        name = of.array(lambda array: array.ndim > 0)
        if name is None:
            return None
        array = of.env[name]
        if of.chance(0.5):
            key = of.basic_key(array.shape)
            try:
                shape = array[eval(f"np.s_[{key}]", {"np": np})].shape
            except IndexError:
                shape = ()
            return f"{name}[{key}] {of.one_of('=', '=', '+=', '*=')} {of.operand(shape)}"
        if of.chance(0.4) and array.shape[0] > 1:
            return of.one_of(
                f"{name}[1:] = {name}[:-1]", f"{name}[:] = {name}[::-1]", f"{name}[::-1] = {name}", f"{name}[:-1] = {name}[1:]",
                f"{name}[...] = {name}.T", f"{name}[::2] = xp.sin({name}[::2])",
            )  # fmt: skip
        key = of.key(name)
        if of.chance(0.3) and "data" not in key:
            return f"{name}[{key}] = {name}[{key}] {of.one_of('+ 1', '* 2', '- 3')}"
        return f"{name}[{key}] {of.one_of('=', '=', '+=', '*=')} {of.one_of(of.scalar(), of.operand(()))}"

    def select(self) -> str | None:
        """where and clip."""
        of, to = self.of, self.target()
        name = of.array()
        shape = of.env[name].shape
        if of.chance(0.3) and of.env[name].dtype.kind == "f":
            return f"{to} = xp.clip({name}, {of.one_of('-0.6', '0.1', 'None')}, {of.one_of('0.7', '1.2', of.operand(shape))})"
        tested = of.real() or name
        condition = f"{tested} {of.one_of('>', '<=')} {of.one_of('0.3', '-0.4')}" if of.env[tested].dtype.kind == "f" else "True"
        left, right = of.rng.sample([name, of.operand(shape)], 2)
        return f"{to} = xp.where({condition}, {left}, {right})"

    def reduce(self) -> str | None:
        """Along some axes."""
        of, to = self.of, self.target()
        name = of.array()
        array = of.env[name]
        function = of.one_of(*REDUCTIONS)
        words = []
        if array.ndim and of.chance(0.7):
            axis: object = of.rng.randrange(-array.ndim, array.ndim)
            if array.ndim > 1 and of.chance(0.2):
                axis = tuple(of.rng.sample(range(array.ndim), 2))
            words.append(f"axis={axis}")
        if of.chance(0.3):
            words.append("keepdims=True")
        if function in ("sum", "prod", "max", "min") and of.chance(0.15):
            words.append(f"initial={of.one_of('1', '0.5')}")
        if function in ("sum", "mean") and of.chance(0.15) and array.dtype.kind == "f":
            words.append(f"where={name} > -0.6")
        if function in ("var", "std") and of.chance(0.3):
            words.append("ddof=1")
        method = of.chance(0.4) and function in ("sum", "mean", "max", "min", "prod", "var", "std")
        return f"{to} = {name}.{function}({', '.join(words)})" if method else f"{to} = xp.{function}({', '.join([name, *words])})"

    def order(self) -> str | None:
        """Sorts, and subscripts by an order."""
        of, to = self.of, self.target()
        name = of.array(lambda array: array.ndim > 0 and array.dtype.kind == "f")
        if name is None:
            return None
        axis = of.rng.randrange(of.env[name].ndim)
        return of.one_of(
            f"{to} = xp.sort({name}, axis={axis})",
            f"{to} = xp.take_along_axis({name}, xp.argsort({name}, axis={axis}), axis={axis})",
            f"{name}.sort(axis={axis})",
            f"{to} = xp.partition({name}, 0, axis={axis})",
        )

    def running(self) -> str | None:
        """Cumulative functions, and differences."""
        of, to = self.of, self.target()
        name = of.array(lambda array: array.ndim > 0)
        if name is None:
            return None
        function = of.one_of("cumsum", "cumprod", "diff", "cumsum", "maximum.accumulate", "add.accumulate", "gradient", "trapezoid")
        return f"{to} = xp.{function}({name}, axis={of.axis(of.env[name].ndim)})"

    def cast(self) -> str | None:
        """Another dtype: what is whole has no derivative."""
        of, to = self.of, self.target()
        name = of.array()
        if of.chance(0.1) and of.env[name].dtype.kind == "f":
            return f"{to} = {name}.astype(xp.int64).astype(xp.{of.floats[0]})"
        return f"{to} = {name}.astype(xp.{of.dtype()})"

    def flush(self) -> str | None:
        """What makes work happen, and numbers that are read."""
        of = self.of
        name = of.real() or of.array()
        return of.one_of(
            f"xp.eval({name})", f"xp.eval({name}, {of.array()})", f"bool(xp.any({name} > 0))", f"n{self.made} = int(xp.argmax({name}))"
        )

    def product(self) -> str | None:
        """Products of matrices and vectors."""
        of, to = self.of, self.target()
        name = of.array(lambda array: array.ndim > 0)
        if name is None:
            return None
        ndim, last = of.env[name].ndim, of.env[name].shape[-1]
        other = of.array(lambda array: array.ndim > 0 and array.shape[-1] == last) or name
        turned = f"xp.swapaxes({other}, -1, -2)" if of.env[other].ndim > 1 else other
        second = of.env[other].ndim
        letters = "abcde"[: ndim - 1] + "z", "vwxyu"[: second - 1] + "z"
        return of.one_of(
            f"{to} = {name} @ {turned}", f"{to} = xp.matmul({name}, {turned})", f"{to} = xp.inner({name}, {other})",
            f"{to} = xp.einsum('{letters[0]},{letters[1]}->{letters[0][:-1]}{letters[1][:-1]}', {name}, {other})",
            f"{to} = xp.tensordot({name}, {other}, axes=([{ndim - 1}], [{second - 1}]))",
            f"{to} = xp.outer({name}, {other})[:4, ::2]", f"{to} = xp.dot({name}, {turned})", f"{to} = xp.vdot({name}, {name})",
            f"{to} = xp.kron({name}, {name}[..., :2])", f"{to} = xp.linalg.norm({name}, axis=-1)", f"{to} = xp.cross({name}, {name}[::-1])",
            f"{to} = xp.{of.one_of('trace', 'triu', 'diag')}(xp.outer({name}, {name}))",
            f"{to} = xp.convolve({name}.ravel(), {other}.ravel())",
        )  # fmt: skip

    def factor(self) -> str | None:
        """Linear algebra and Fourier transforms."""
        of, to = self.of, self.target()
        name = of.array(lambda array: 0 < array.ndim < 3)
        if name is None:
            return None
        last = of.env[name].shape[-1]
        square = f"(xp.conj({name}).T @ {name} + 2 * xp.eye({last}))"
        return of.one_of(
            f"{to} = xp.linalg.{of.one_of('inv', 'det', 'cholesky')}{square}",
            f"{to} = xp.linalg.solve({square}, xp.ones({last}))",
            f"{to} = xp.fft.{of.one_of('fft', 'ifft', 'fftshift')}({name})",
            f"{to} = abs(xp.fft.fft({name}))",
            f"{to} = xp.fft.irfft(xp.fft.rfft(xp.real({name})), {last})",
            f"{to} = xp.linalg.slogdet({square})[1]",
        )

    def decide(self) -> str | None:
        """What elements decide."""
        of = self.of
        name, other = of.real(), of.array()
        if name is None:
            return None
        shape = of.env[other].shape
        total = of.one_of(f"xp.sum({name})", f"xp.sum({name})", f"float(t.stop(xp.sum({name})))")
        condition = f"bool({total} {of.one_of('>', '<')} {of.one_of('0.3', '-0.2', '1.1')})"
        return of.one_of(
            f"if {condition}: {other} = {other} * {of.operand(shape)}",
            f"if {condition}: {other} *= {of.scalar()}",
            f"{self.target()} = {other} if {condition} else xp.sin({other})",
            f"if bool(xp.max({name}) > 0.5): {other}[...] = {of.operand(shape)}",
        )

    def repeat(self) -> str | None:
        """A loop of a few turns."""
        of = self.of
        name = of.array(lambda array: array.ndim > 0 and array.size > 0)
        if name is None:
            return None
        count = of.env[name].shape[0]
        return of.one_of(
            f"for i in range({count}): {name}[i] = {name}[i] * {name}[i - 1]",
            f"for i in range(1, {count}): {name}[i] += 0.5 * {name}[i - 1]",
            f"for i in range(3): {name} = xp.sin({name}) + {of.operand(of.env[name].shape)}",
            f"for row in {name}: row *= 0.5" if of.env[name].ndim > 1 else f"{name} *= 0.5",
            f"for i in range({count}): {name}[i:] -= {name}[i] * 0.25",
        )

    def transform(self) -> str | None:
        """Functions in programs: compiled, computed again, with rules of their own, differentiated, mapped."""
        of, to = self.of, self.target()
        name = of.real()
        if name is None:
            return None
        shape = of.env[name].shape
        other = of.array(lambda array: array.dtype.kind == "f" and array.shape in ((), shape)) or "0.5"
        a_map = of.one_of(*MAPS).format(other=other)
        function = of.one_of(*FUNCTIONS)
        slope = FUNCTIONS[function].format(other=other)
        function = function.format(other=other)
        return of.one_of(
            f"{to} = t.compile({a_map})({name})",
            f"{to} = t.checkpoint({a_map})({name})",
            f"{to} = t.checkpoint(lambda x: {slope.removeprefix('lambda x: ')} + t.grad({function}, {slope})(x))({name})",
            f"{to} = {name} * t.stop({name})",
            f"{to} = t.stop(xp.sin({name})) + {other}",
            f"{to} = t.grad({function}, {slope})({name})",
            f"{to} = t.grad({function}, {slope})({name})",
            f"{to} = t.slope({function}, {slope})({name}, {name})",
            f"{to} = t.vmap({of.one_of(*ROWS)})({name})",
            f"{to} = t.ruled(lambda x: xp.sin(x) * x, lambda x: xp.cos(x) * x + xp.sin(x))({name})",
            f"{to} = t.inner(lambda x, y: (x * y).sum(), lambda x, y: (y + xp.zeros_like(x), x + xp.zeros_like(y)))({name}, {name})[1]",
        )

    def windows(self) -> str | None:
        """Views whose elements lie upon each other."""
        of, to = self.of, self.target()
        name = of.array(lambda array: array.ndim > 0 and array.shape[0] > 1)
        if name is None:
            return None
        count = of.rng.randrange(1, of.env[name].shape[0] + 1)
        return f"{to} = t.windows({name}, {count})"

    def parts(self) -> str | None:
        """Diagonals, and parts of complex numbers."""
        of, to = self.of, self.target()
        name = of.array(lambda array: array.dtype.kind == "c")
        if name is not None and of.chance(0.7):
            other = of.operand(of.env[name].shape)
            return of.one_of(
                f"{to} = {name}.real", f"{to} = {name}.imag", f"{name}.real[...] = {other}", f"{name}.imag *= {of.scalar()}",
                f"{name}.real = xp.real({other})", f"{name}.imag += {name}.real", f"{to} = {name}.T.imag[..., ::-1]",
            )  # fmt: skip
        name = of.array(lambda array: array.ndim > 1)
        if name is None:
            return None
        return of.one_of(
            f"{to} = xp.diagonal({name}, {of.one_of(0, 1, -1)})", f"xp.fill_diagonal({name}, {of.one_of('0.5', '2')})",
            f"{to} = {name}.diagonal(offset=0, axis1=-1, axis2=0)", f"{to} = xp.rot90({name})", f"{to} = xp.diag({name}[0])",
        )  # fmt: skip


def is_within(where: str, array: np.ndarray) -> bool:
    """Whether all elements are where a function is smooth."""
    if where.startswith("abs"):
        array, where = np.abs(array), where.removeprefix("abs ")
    bound = float(where[1:])
    return bool(np.all(array > bound if where[0] == ">" else array < bound))
