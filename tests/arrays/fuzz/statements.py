"""Random statements on arrays, as text. Each maker gives a statement or, where it finds nothing to work on, none."""

from __future__ import annotations

from collections.abc import Callable

from arrays.fuzz.choices import FLOATS, Choices
from arrays.fuzz.data import DTYPES

UNARY = ["negative", "positive", "absolute", "sign", "floor", "ceil", "trunc", "rint", "sqrt", "square", "reciprocal", "conj"]
TESTS = ["isnan", "isinf", "isfinite", "signbit", "logical_not"]
ELEMENTARY = [
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh",
    "tanh", "arcsinh", "arccosh", "arctanh", "cbrt", "exp", "sin", "cos", "tanh",
]  # fmt: skip
BINARY = [
    "add", "subtract", "multiply", "true_divide", "floor_divide", "remainder", "fmod", "maximum", "minimum", "fmax", "fmin",
    "copysign", "nextafter", "hypot", "arctan2", "power", "logaddexp", "heaviside", "equal", "less", "greater_equal", "logical_and",
    "logical_xor", "add", "multiply", "subtract",
]  # fmt: skip
BITWISE = ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "gcd", "lcm"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "+", "-", "*", "<", "<=", "==", "!=", ">", ">="]
REDUCTIONS = ["sum", "sum", "mean", "max", "min", "prod", "any", "all", "argmax", "argmin", "var", "std", "count_nonzero"]
MOST = 14
"""Arrays that a program keeps."""


class Statements:
    """Makers of statements."""

    def __init__(self, choices: Choices) -> None:
        self.of = choices
        self.made = 0
        self.said: list[str] = []

    def target(self) -> str:
        """A name for a new array: mostly a new one."""
        names = self.of.names
        if len(names) >= MOST or (names and self.of.chance(0.08)):
            return self.of.rng.choice(names)
        self.made += 1
        self.of.recent.append(f"a{self.made}")
        return f"a{self.made}"

    def statement(self) -> str | None:
        """One statement."""
        line = self.another()
        if line is not None:
            self.said.append(line)
        return line

    def again(self) -> str | None:
        """A statement once more, of late ones: what is kept of the first time may no longer be true."""
        line = self.of.rng.choice(self.said[-8:])
        return None if line.startswith("del") else line

    def another(self) -> str | None:
        """One statement of any sort."""
        if len(self.of.names) < 2:
            return self.create()
        makers: list[tuple[int, Callable[[], str | None]]] = [
            (3, self.create), (12, self.view), (6, self.unary), (14, self.binary), (9, self.augment), (8, self.augment_part),
            (10, self.assign), (3, self.index), (4, self.select), (9, self.reduce), (3, self.order), (3, self.running), (4, self.join),
            (2, self.cast), (2, self.into), (2, self.method_of_ufunc), (4, self.rename), (3, self.forget), (5, self.flush), (3, self.chain),
            (2, self.softmax), (1, self.fill), (1, self.two), (1, self.numbers), (6, self.again),
        ]  # fmt: skip
        return self.of.rng.choices([maker for _, maker in makers], [weight for weight, _ in makers])[0]()

    def create(self) -> str | None:
        """A new array."""
        of, to = self.of, self.target()
        sort = of.rng.randrange(8)
        if sort == 0:
            return (
                f"{to} = xp.arange({of.rng.randrange(1, max(of.width, 12))}, dtype=xp.{of.one_of('int32', 'int64', 'float32', 'float64')})"
            )
        if sort == 1:
            return f"{to} = xp.arange({of.rng.randrange(-5, 5)}, {of.rng.randrange(5, 12)}, {of.one_of('1', '2', '3', '0.5')})"
        if sort == 2:
            return f"{to} = xp.{of.one_of('zeros', 'ones')}({of.shape()}, dtype=xp.{of.dtype()})"
        if sort == 3:
            return f"{to} = xp.full({of.shape()}, {of.one_of('2', '3', '1')}, dtype=xp.{of.dtype()})"
        if sort == 4:
            name = of.array()
            return f"{to} = xp.{of.one_of('zeros_like', 'ones_like')}({name})" if name else None
        if sort == 5 and of.chance(0.4):
            count = of.rng.randrange(1, 6)
            return f"{to} = xp.{of.one_of(f'eye({count})', f'linspace(0.0, {count}, {count + 1})', f'eye({count}, {count + 1}, k=1)')}"
        return f"{to} = xp.asarray({of.numpy_array(of.shape())})"

    def view(self) -> str | None:
        """Another array on the same elements, where NumPy makes a view."""
        of, to = self.of, self.target()
        name = of.array()
        array = of.env[name]
        shape, ndim = array.shape, array.ndim
        sort = of.rng.randrange(15)
        if sort < 5:
            return f"{to} = {name}[{of.basic_key(shape)}]"
        if sort == 5:
            return f"{to} = {name}.T"
        if sort == 6 and ndim:
            axes = tuple(of.rng.sample(range(ndim), ndim))
            return f"{to} = xp.{of.one_of('transpose', 'permute_dims')}({name}, {axes})"
        if sort in (7, 8):
            return f"{to} = {self.reshaped(name)}"
        if sort == 9:
            wider = (*of.one_of((), (2,), (3,)), *(of.one_of(2, 3) if length == 1 else length for length in shape))
            return f"{to} = xp.broadcast_to({name}, {wider})"
        if sort == 10:
            return f"{to} = xp.{of.one_of('expand_dims')}({name}, axis={of.axis(ndim + 1)})"
        if sort == 11 and ndim:
            return f"{to} = xp.flip({name}, axis={of.axis(ndim)})"
        if sort == 12 and ndim > 1:
            return f"{to} = xp.{of.one_of('swapaxes', 'moveaxis')}({name}, {of.axis(ndim)}, {of.axis(ndim)})"
        if sort == 13 and array.dtype.kind == "c":
            return f"{to} = {name}.{of.one_of('real', 'imag')}"
        if sort == 13 and array.dtype.kind in "iu" and ndim:
            other = of.one_of(f"u{array.dtype}", str(array.dtype)[1:]) if array.dtype.kind == "i" else str(array.dtype)[1:]
            return f"{to} = {name}.view(xp.{other})" if other in DTYPES else None
        return f"{to} = xp.squeeze({name})" if sort == 14 else f"{to} = {name}.{of.one_of('ravel', 'copy', 'flatten')}()"

    def reshaped(self, name: str) -> str:
        """A reshape of the same size, now and then of another."""
        of = self.of
        size = of.env[name].size
        factors = [n for n in range(1, min(size, 50) + 1) if size % n == 0] or [1]
        first = of.rng.choice(factors)
        rest = size // first
        second = of.rng.choice([n for n in factors if rest % n == 0])
        shape = of.one_of((size,), (first, rest), (first, -1), (-1,), (first, second, rest // second), (first, rest, 1))
        if of.chance(0.02):
            shape = (size + 1,)
        if size == 0:
            shape = of.one_of((0,), (0, 3), (2, 0))
        return f"xp.reshape({name}, {shape})" if of.chance(0.5) else f"{name}.reshape({shape})"

    def unary(self) -> str | None:
        """A function of one array."""
        of, to = self.of, self.target()
        name = of.array()
        kind = of.env[name].dtype.kind
        sort = of.rng.random()
        if sort < 0.15:
            return f"{to} = {of.one_of('-', '+', 'abs', '~' if kind in 'biu' else '-')}({name})"
        if sort < 0.25:
            return f"{to} = xp.{of.one_of(*TESTS)}({name})"
        if sort < 0.55 and kind != "b":
            function = of.one_of(*(("exp", "sin", "cos", "sqrt", "tanh") if kind == "c" else ELEMENTARY))
            return f"{to} = {of.one_of('xp', 'xp', 'xp', 'np')}.{function}({name})"
        if sort < 0.6:
            return f"{to} = xp.round({name}, decimals={of.one_of(0, 1, 2)})" if of.chance(0.5) else f"{to} = {name}.round()"
        return f"{to} = xp.{of.one_of(*UNARY)}({name})"

    def binary(self) -> str | None:
        """An operator or function of two."""
        of, to = self.of, self.target()
        name = of.array()
        other = of.operand(of.env[name].shape)
        left, right = (name, other) if of.chance(0.75) else (other, name)
        if of.chance(0.6):
            return f"{to} = {left} {of.one_of(*OPERATORS)} {right}"
        if of.chance(0.1):
            return f"{to} = {name} ** {of.one_of('2', '3', '0.5', '-1', '0', right)}"
        functions = BITWISE if of.env[name].dtype.kind in "biu" and of.chance(0.4) else BINARY
        return f"{to} = {of.one_of('xp', 'xp', 'xp', 'np')}.{of.one_of(*functions)}({left}, {right})"

    def augment(self) -> str | None:
        """An operator in place: of every dtype with every other, so that some cannot be cast."""
        of = self.of
        name = of.array()
        return f"{name} {self.in_place(name)} {of.operand(of.env[name].shape)}"

    def in_place(self, name: str) -> str:
        """An operator in place that fits the dtype, mostly."""
        kind = self.of.env[name].dtype.kind
        if kind in "iu":
            return self.of.one_of("+=", "-=", "*=", "+=", "-=", "*=", "//=", "%=", "&=", "|=", "^=", "/=")
        return self.of.one_of("|=", "&=", "^=", "+=") if kind == "b" else self.of.one_of("+=", "-=", "*=", "/=", "+=", "-=", "*=", "**=")

    def augment_part(self) -> str | None:
        """An operator in place on a part, often with another part of the same array."""
        of = self.of
        name = of.array(lambda array: array.ndim > 0)
        if name is None:
            return None
        length = of.env[name].shape[0]
        if length > 1 and of.chance(0.5):
            left, right = of.one_of(
                ("1:", ":-1"), (":-1", "1:"), ("::-1", ":"), (":", "::-1"), (f":{length // 2}", f"{length - length // 2}:")
            )
            return f"{name}[{left}] {self.in_place(name)} {name}[{right}]"
        key = of.key(name)
        return f"{name}[{key}] {self.in_place(name)} {of.one_of(of.scalar(), of.scalar(), of.operand(()))}"

    def assign(self) -> str | None:
        """Writes to a part by any key."""
        of = self.of
        name = of.array(lambda array: array.ndim > 0)
        if name is None:
            return None
        array = of.env[name]
        if of.chance(0.25):
            key = of.basic_key(array.shape)
            try:
                shape = array.v[eval(f"np.s_[{key}]", {"np": __import__("numpy")})].shape
            except IndexError:
                shape = ()
            return f"{name}[{key}] = {of.operand(shape)}"
        if of.chance(0.2) and array.shape[0] > 1:
            return of.one_of(
                f"{name}[1:] = {name}[:-1]", f"{name}[:] = {name}[::-1]", f"{name}[::-1] = {name}", f"{name}[:-1] = {name}[1:]"
            )
        key = of.key(name)
        if of.chance(0.3) and "data" not in key:
            # The elements themselves, changed: of the right shape whatever the key is.
            return f"{name}[{key}] = {name}[{key}] {of.one_of('+ 1', '* 2', '- 3')}"
        return f"{name}[{key}] = {of.one_of(of.scalar(), of.scalar(), of.operand(()))}"

    def index(self) -> str | None:
        """Reads by any key."""
        of, to = self.of, self.target()
        name = of.array(lambda array: array.ndim > 0)
        if name is None:
            return None
        if of.chance(0.2):
            axis = of.rng.randrange(of.env[name].ndim)
            return f"{to} = xp.take({name}, {of.index_array(of.env[name].shape[axis], (3,))}, axis={axis})"
        return f"{to} = {name}[{of.key(name)}]"

    def select(self) -> str | None:
        """where and clip."""
        of, to = self.of, self.target()
        name = of.array()
        shape = of.env[name].shape
        if of.chance(0.3):
            low, high = sorted(of.rng.sample(range(-4, 6), 2))
            return f"{to} = xp.clip({name}, {max(low, 0)}, {max(high, 1)})"
        condition = of.array(lambda array: array.shape == shape and array.dtype.kind == "b") or f"{name} {of.one_of('>', '!=', '<=')} 1"
        left, right = of.rng.sample([name, of.operand(shape)], 2)
        return f"{to} = xp.where({condition}, {left}, {right})"

    def reduce(self) -> str | None:
        """Along some axes, with the keywords that there are."""
        of, to = self.of, self.target()
        name = of.array()
        array = of.env[name]
        function = of.one_of(*REDUCTIONS)
        words = []
        if array.ndim and of.chance(0.7):
            axis: object = of.axis(array.ndim)
            if array.ndim > 1 and of.chance(0.2) and "arg" not in function:
                axis = tuple(of.rng.sample(range(array.ndim), 2))
            words.append(f"axis={axis}")
        if of.chance(0.3) and function != "count_nonzero":
            words.append("keepdims=True")
        if function in ("sum", "prod") and of.chance(0.2):
            words.append(f"dtype=xp.{of.one_of('float64', 'int64', 'complex128', 'float32')}")
        if function in ("sum", "max", "min", "prod") and of.chance(0.15):
            words.append(f"initial={of.one_of('1', '0', '5')}")
        if function in ("sum", "mean", "any", "all") and of.chance(0.15):
            words.append(f"where={name} > 0" if array.dtype.kind != "c" else f"where={name} != 0")
        if function in ("var", "std") and of.chance(0.3):
            words.append("ddof=1")
        method = of.chance(0.4) and function != "count_nonzero"
        return f"{to} = {name}.{function}({', '.join(words)})" if method else f"{to} = xp.{function}({', '.join([name, *words])})"

    def order(self) -> str | None:
        """Sorts and what needs them."""
        of, to = self.of, self.target()
        name = of.array(lambda array: array.ndim > 0)
        if name is None:
            return None
        ndim = of.env[name].ndim
        sort = of.rng.randrange(6)
        if sort == 0:
            return f"{to} = xp.argsort({name}, axis={of.axis(ndim)}, stable=True)"
        if sort == 1:
            return f"{name}.sort(axis={of.axis(ndim)})"
        if sort == 2:
            return f"{to} = xp.{of.one_of('unique_values', 'flatnonzero')}({name})"
        if sort == 3:
            return f"{to} = xp.searchsorted(xp.sort({name}.ravel()), {of.one_of('1', '0', name)})"
        return f"{to} = xp.sort({name}, axis={of.axis(ndim)})"

    def running(self) -> str | None:
        """Cumulative functions."""
        of, to = self.of, self.target()
        name = of.array(lambda array: array.ndim > 0 and array.size < 5000)
        if name is None:
            return None
        return f"{to} = xp.{of.one_of('cumsum', 'cumsum', 'cumprod')}({name}, axis={of.axis(of.env[name].ndim)})"

    def join(self) -> str | None:
        """Several arrays as one."""
        of, to = self.of, self.target()
        name = of.array(lambda array: 0 < array.ndim and array.size < 20_000)
        if name is None:
            return None
        ndim, shape = of.env[name].ndim, of.env[name].shape
        sort = of.rng.randrange(7)
        other = of.array(lambda array: array.ndim == ndim and array.shape[1:] == shape[1:] and array.size < 20_000) or name
        if sort < 2:
            return f"{to} = xp.concatenate([{name}, {other}])"
        if sort == 2:
            return f"{to} = xp.concatenate([{name}, {name} + 1], axis={of.axis(ndim)})"
        if sort == 3:
            return f"{to} = xp.stack([{name}, {name}{of.one_of('', '[::-1]', ' * 2')}], axis={of.axis(ndim + 1)})"
        if sort == 4:
            return f"{to} = xp.roll({name}, {of.one_of('1', '-2', '3')}{of.one_of('', f', axis={of.axis(ndim)}')})"
        if sort == 5:
            return f"{to} = xp.{of.one_of('repeat', 'tile')}({name}, 2)"
        return f"{to} = xp.{of.one_of('tril', 'triu')}({name})" if ndim > 1 else f"{to} = xp.pad({name}, 1)"

    def cast(self) -> str | None:
        """Another dtype."""
        of, to = self.of, self.target()
        name = of.array()
        return f"{to} = {name}.astype(xp.{of.dtype()})" if of.chance(0.8) else f"{to} = xp.astype({name}, xp.{of.dtype()})"

    def into(self) -> str | None:
        """`out` and `where`."""
        of = self.of
        name = of.array()
        shape = of.env[name].shape
        left, right = of.operand(shape), of.operand(shape)
        function = of.one_of("add", "multiply", "subtract", "maximum")
        where = f", where={of.numpy_array(shape, 'bool')}" if of.chance(0.4) else ""
        return f"xp.{function}({left}, {right}, out={name}{where})"

    def method_of_ufunc(self) -> str | None:
        """reduce, accumulate, outer, at."""
        of, to = self.of, self.target()
        name = of.array(lambda array: array.ndim > 0 and array.size < 300)
        if name is None:
            return None
        axis = of.axis(of.env[name].ndim)
        function = of.one_of("add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "bitwise_or", "bitwise_xor")
        sort = of.rng.randrange(4)
        if sort == 0:
            return f"{to} = xp.{of.one_of('add', 'maximum', 'minimum')}.accumulate({name}, axis={axis})"
        if sort == 1:
            return f"{to} = xp.{of.one_of('add', 'multiply', 'less')}.outer({name}, xp.asarray({of.numpy_array((2,))}))"
        if sort == 2:
            return f"xp.add.at({name}, {of.index_array(of.env[name].shape[0], (4,))}, 1)"
        return f"{to} = xp.{function}.reduce({name}, axis={axis})"

    def rename(self) -> str | None:
        """A second name for the same array, or the name of another."""
        return f"{self.target()} = {self.of.array()}"

    def forget(self) -> str | None:
        """A name less."""
        return f"del {self.of.array()}" if len(self.of.names) > 3 else None

    def flush(self) -> str | None:
        """What makes work happen."""
        of = self.of
        name = of.array()
        array = of.env[name]
        self.made += 1
        number = f"n{self.made}"
        sort = of.rng.randrange(6)
        place = ", ".join(str(of.rng.randrange(length)) for length in array.shape) if array.size else ""
        if sort == 0:
            return f"xp.eval({name})"
        if sort == 1:
            return f"xp.eval({name}, {of.array()})"
        if sort == 2 and place and array.dtype.kind != "c":
            return f"{number} = {'int' if array.dtype.kind in 'biu' else 'float'}({name}[{place}])"
        if sort == 3:
            return f"{number} = bool(xp.any({name} != 0))"
        if sort == 4 and array.size < 100:
            return f"{number} = {name}.tolist()"
        return f"np.asarray({name}).shape" if of.env[name].is_exact else f"xp.eval({name})"

    def chain(self) -> str | None:
        """A longer expression, to be one kernel."""
        of, to = self.of, self.target()
        name = of.array()
        shape = of.env[name].shape
        text = name
        for _ in range(of.rng.randrange(2, 7)):
            sort = of.rng.random()
            if sort < 0.7:
                text = f"({text} {of.one_of('+', '-', '*', '+', '*')} {of.operand(shape)})"
            elif sort < 0.85:
                text = f"xp.{of.one_of('maximum', 'minimum')}({text}, {of.operand(shape)})"
            else:
                text = f"xp.where({text} > {of.one_of('0', '1')}, {text}, {of.operand(shape)})" if len(text) < 150 else f"abs({text})"
        return f"{to} = {text}"

    def softmax(self) -> str | None:
        """A reduction amid elements: what fuses into one kernel of several passes."""
        of, to = self.of, self.target()
        name = of.array(lambda array: array.ndim > 0 and array.dtype.name in FLOATS and array.size > 0)
        if name is None:
            return None
        axis = of.axis(of.env[name].ndim)
        return f"{to} = " + of.one_of(
            f"{name} - xp.mean({name}, axis={axis}, keepdims=True)",
            f"{name} - xp.max({name}, axis={axis}, keepdims=True)",
            f"xp.exp({name} - xp.max({name}, axis={axis}, keepdims=True))",
            f"{name} / (xp.sum({name} * {name}, axis={axis}, keepdims=True) + 1)",
            f"({name} * 2 + 1).sum(axis={axis}) * 3",
            f"xp.sum(xp.exp({name} * 0.125), axis={axis})",
        )

    def fill(self) -> str | None:
        """One value everywhere."""
        return f"{self.of.array()}.fill({self.of.one_of('1', '0', '2')})"

    def two(self) -> str | None:
        """Functions with two results."""
        of = self.of
        name = of.array(lambda array: array.dtype.kind in "iuf")
        if name is None:
            return None
        text = of.one_of(f"divmod({name}, {of.scalar()})", f"xp.divmod({name}, 3)", f"xp.modf({name})", f"xp.frexp({name})")
        first, second = self.target(), self.target()
        return f"{first}, {second} = {text}" if first != second else None

    def numbers(self) -> str | None:
        """A copy that stays as it is, whatever is done to its source later."""
        self.made += 1
        return f"s{self.made} = np.array({self.of.array()})"
