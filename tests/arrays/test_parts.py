"""What is computed part by part, and by several threads, has the bits that it has in one piece: random kernels that need each other's
results, in parts of a few bytes."""

import numpy as np
import pytest

import weft
from weft._weft import _few_at_once, _part_bytes

DTYPES = ["float32", "float64", "int32", "float16", "complex64"]
FOLDS = ["sum", "max", "mean", "var", "prod", "argmax", "any"]


@pytest.fixture(autouse=True)
def recorded():
    """Few elements wait as many do."""
    _few_at_once(False)
    yield
    _few_at_once(True)
    _part_bytes()


class Kernels:
    """A random program of maps, of operands with other axes, of folds that are spread over what was folded, and of shifted views."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.rank = int(self.rng.integers(1, 4))
        self.shape = (int(self.rng.integers(1, 60)), *(int(n) for n in self.rng.integers(1, 14, self.rank - 1)))
        if self.rank > 1 and self.rng.integers(4) == 0:
            self.shape = (1, *self.shape[:-1])
        self.dtype = DTYPES[self.rng.integers(len(DTYPES))]
        self.turned = bool(self.rng.integers(3) == 0)
        self.every = int(self.rng.integers(1, 3))
        self.steps = [self.step() for _ in range(self.rng.integers(1, 5))]
        self.kept = bool(self.rng.integers(3) == 0)
        self.last = FOLDS[self.rng.integers(len(FOLDS))] if self.rng.integers(3) == 0 else None
        self.last_axis = self.axis()

    def axis(self) -> int | tuple[int, ...] | None:
        """One to fold, several, or all."""
        if self.rng.integers(6) == 0:
            return None
        some = [int(axis) for axis in range(self.rank) if self.rng.integers(2)]
        return tuple(some) if some and self.rng.integers(4) == 0 else int(self.rng.integers(self.rank))

    def step(self) -> tuple:
        """What becomes of the array so far."""
        match self.rng.integers(6):
            case 4 | 5:
                return (
                    "with",
                    int(self.rng.integers(1, self.rank + 1)),
                    self.rng.integers(0, 4, self.rank).tolist(),
                    int(self.rng.integers(3)),
                )
            case 0:
                return ("off", FOLDS[self.rng.integers(4)], self.axis())
            case 1:
                return ("exp", "max", self.axis())
            case 2:
                shifts = [(int(self.rng.integers(self.rank)), int(self.rng.integers(3))) for _ in range(self.rng.integers(2, 5))]
                return ("blur", shifts)
            case _:
                return ("map", int(self.rng.integers(1, 12)))

    def data(self) -> np.ndarray:
        """Elements that are exact in every dtype."""
        rng = np.random.default_rng(self.rng.integers(1 << 30))
        values = rng.integers(-4, 5, (*self.shape[:-1], self.shape[-1] * self.every)) / 4
        return (values if self.dtype != "int32" else values * 4).astype(self.dtype)

    def other(self) -> np.ndarray:
        """Elements of another operand, whatever its shape and order will be."""
        rng = np.random.default_rng(self.rng.integers(1 << 30))
        sides = [2 * n + 3 for n in ([60] * self.rank if self.rank < 3 else [max(self.shape)] * 3)]
        values = rng.integers(-4, 5, sides) / 4
        values = (values if self.dtype != "int32" else values * 4).astype(self.dtype)
        return np.asfortranarray(values) if self.rng.integers(2) else values

    def run(self, xp, given, other):
        """On a namespace's arrays."""
        self.given_other = other
        x = given[..., :: self.every]
        x = x.T if self.turned else x
        names = []
        for step in self.steps:
            x = self.stepped(xp, x, step)
            names.append(x)
        if self.last:
            x = self.folded(xp, x, self.last, self.last_axis)
        # Results that somebody keeps are asked for behind the last one.
        return [x, *names] if self.kept else [x]

    def folded(self, xp, x, name, axis, **keep):
        """Folds with an axis that the function takes."""
        if name == "argmax":
            axis = axis if axis is None or isinstance(axis, int) else axis[0]
            if np.dtype(self.dtype).kind == "c":
                name = "sum"
        return getattr(xp, name)(x, axis=axis, **keep)

    def joined(self, xp, x, rank, kinds, way):
        """With what was made of an operand of fewer axes, or of such as are 1 long, and is read through two maps."""
        shape = [1 if kind == 0 else n for kind, n in zip(kinds, x.shape)][x.ndim - rank :]
        room = [n if way == 0 else n + 2 if way == 1 else 2 * n for n in shape]
        y = self.given_other[(0,) * (x.ndim - rank) + tuple(slice(n) for n in room)]
        if x.dtype.kind in "fc":
            h = xp.exp(xp.sin(y * y.dtype.type(0.25)) * xp.cos(y * y.dtype.type(0.125)))
        else:
            h = y * y.dtype.type(3) - y * y + y * y.dtype.type(5) - y * y.dtype.type(2) + y * y * y.dtype.type(7)
        one = [slice(n) for n in shape]
        two = list(one)
        for axis, n in enumerate(shape):
            if kinds[axis] == 1:
                two[axis] = slice(n - 1, None, -1) if way == 0 else slice(1, n + 1) if way == 1 else slice(0, 2 * n, 2)
            if kinds[axis] == 2 and way == 2:
                one[axis] = slice(1, 2 * n, 2)
        return x * h[tuple(one)] + x - h[tuple(two)]

    def stepped(self, xp, x, step):
        """One step."""
        match step:
            case ("off", name, axis):
                return x - self.folded(xp, x, name, axis, keepdims=True)
            case ("exp", name, axis):
                e = xp.exp((x - self.folded(xp, x, name, axis, keepdims=True)) * x.dtype.type(0.125 if x.dtype.kind != "i" else 1))
                return e / xp.sum(e, axis=axis, keepdims=True)
            case ("with", rank, kinds, way):
                return self.joined(xp, x, rank, kinds, way)
            case ("blur", shifts):
                result = None
                for axis, by in shifts:
                    room = min(2, x.shape[axis] - 1)
                    at = [slice(None)] * x.ndim
                    for other in {axis for axis, _ in shifts}:
                        least = min(2, x.shape[other] - 1)
                        start = min(by, room) if other == axis else 0
                        at[other] = slice(start, x.shape[other] - least + start)
                    part = x[tuple(at)]
                    result = part if result is None else result + part * x.dtype.type(2)
                return result
            case ("map", times):
                for i in range(times):
                    x = x * x.dtype.type(1) - x.dtype.type(i % 3)
                return x


def bits(arrays) -> list:
    """The elements as bytes; NaNs are all the same."""
    found = []
    for array in arrays:
        array = np.asarray(array)
        if array.dtype.kind in "fc":
            array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
        found.append((array.dtype, array.shape, array.tobytes()))
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("block", range(8))
def test_parts_have_the_bits_of_the_whole(block):
    """In parts of 16 bytes to 2 KiB; and near NumPy's."""
    for seed in range(block * 150, block * 150 + 150):
        kernels = Kernels(seed)
        data, other = kernels.data(), kernels.other()
        _part_bytes()
        with np.errstate(all="ignore"):
            whole = kernels.run(weft, weft.asarray(data), weft.asarray(other))
            expected = kernels.run(np, data, other)
        want = bits(whole)
        for ours, theirs in zip(whole, expected, strict=True):
            if np.asarray(theirs).dtype.kind in "fc" and data.dtype.itemsize > 2 and np.isfinite(theirs).all():
                np.testing.assert_allclose(np.asarray(ours), theirs, rtol=2e-3, atol=2e-3 * float(np.abs(theirs).max(initial=1)))
        _part_bytes(16 << seed % 8)
        assert bits(kernels.run(weft, weft.asarray(data), weft.asarray(other))) == want, f"program {seed}: {vars(kernels)}"


def laid(rng, shape, dtype) -> np.ndarray:
    """Random elements, which lie in memory in any order of the axes."""
    order = rng.permutation(len(shape))
    values = rng.random([shape[axis] for axis in order]) + 0.5
    return values.astype(dtype).transpose(np.argsort(order))


def views(rng, array, shape):
    """Two views of this shape: shifted, stepped or reversed along some axes."""
    found = []
    for _ in range(2):
        at = []
        for axis, n in enumerate(shape):
            room = array.shape[axis]
            step = int(rng.integers(1, 3)) if room >= 2 * n else 1
            first = int(rng.integers(room - (n - 1) * step))
            ours = slice(first, first + (n - 1) * step + 1, step)
            last = first + (n - 1) * step
            at.append(slice(last, first - 1 if first else None, -step) if rng.integers(5) == 0 else ours)
        found.append(tuple(at))
    return found


def crossed(seed: int):
    """A function of an array and of another one, of fewer or shorter axes, of which something costly is made that is read through two maps
    before and behind folds; and the arrays."""
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(2, 5))
    shape = [int(n) for n in rng.integers(2, 30 if rank == 2 else 9, rank)]
    if rng.integers(3) == 0:
        shape[int(rng.integers(rank))] = 1
    own = [1 if rng.integers(4) == 0 else n for n in shape[int(rng.integers(rank)) :]]
    room = [n if rng.integers(2) else n + int(rng.integers(3)) if rng.integers(2) else 2 * n for n in own]
    dtype = ["float64", "float32"][rng.integers(2)]
    x, z = laid(rng, shape, dtype), laid(rng, room, dtype)
    one, two = views(rng, z, own)
    first, second = (int(axis) for axis in rng.integers(0, rank, 2))
    form = rng.integers(4)

    def run(xp, x, z):
        h = xp.exp(xp.sin(z) * xp.cos(z))
        u, v = h[one], h[two]
        match form:
            case 0:
                s = x + u
                return (s - xp.max(s, axis=first, keepdims=True)) * v + u
            case 1:
                return xp.sum(x * u - xp.max(x + v, axis=first, keepdims=True) * v, axis=second)
            case 2:
                return x * u + v * v
            case _:
                e = xp.exp(x * u - xp.max(x * u, axis=first, keepdims=True))
                return e / xp.sum(e, axis=first, keepdims=True) + u - v

    return run, x, z


@pytest.mark.parametrize("block", range(4))
def test_operands_of_other_axes(block):
    """Parts of what is read along other axes than its own are parts of nothing: then all is computed as it was."""
    for seed in range(block * 500, block * 500 + 500):
        run, x, z = crossed(seed)
        _part_bytes()
        whole = run(weft, weft.asarray(x), weft.asarray(z))
        np.testing.assert_allclose(np.asarray(whole), run(np, x, z), rtol=1e-4 if x.dtype == "float32" else 1e-11, atol=1e-4)
        _part_bytes(16 << seed % 8)
        assert bits([run(weft, weft.asarray(x), weft.asarray(z))]) == bits([whole]), f"program {seed}"


def test_stages_are_told():
    """What ran for what is like a softmax: a kernel for each stage, of all parts."""
    _part_bytes(1024)
    x = weft.asarray(np.random.default_rng(0).random((64, 100)))
    e = weft.exp(weft.sin(x - weft.max(x, axis=1, keepdims=True)))
    told = weft.explain(e / weft.sum(e, axis=1, keepdims=True))
    assert [kernel.what for kernel in told.kernels] == ["fold", "map", "fold", "map"]
    assert len({kernel.runs for kernel in told.kernels}) == 1 and told.kernels[0].runs > 1


def test_what_others_refer_to_is_kept():
    """A map that a part would need more of than its own is stored where somebody else has it, and it is not computed twice."""
    _part_bytes(8192)
    x = weft.asarray(np.random.default_rng(0).random((100, 50)))
    h = weft.sin(x[:, :-2] + x[:, 1:-1] * 2 + x[:, 2:] * 3 + x[:, 2:] * 5 + 1)
    y = h[:-2] + h[1:-1] + h[2:]
    told = weft.explain(y)
    assert [kernel.runs for kernel in told.kernels] == [1, 1]
    assert weft.explain(h).kernels == []
    del h
    h = weft.sin(x[:, :-2] + x[:, 1:-1] * 2 + x[:, 2:] * 3 + x[:, 2:] * 5 + 1)
    y = h[:-2] + h[1:-1] + h[2:]
    del h
    assert all(kernel.runs > 1 for kernel in weft.explain(y).kernels)
