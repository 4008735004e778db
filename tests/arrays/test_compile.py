"""`weft.compile`: a captured function gives what the function itself gives, for whatever arrays, however often."""

from __future__ import annotations

import collections
import copy
import operator
import pickle

import numpy as np
import pytest

import weft
from weft._weft import ndarray
from weft.errors import CaptureError

RNG = np.random.default_rng(3)


def host(x):
    """NumPy's arrays for those of Weft, in whatever they stand."""
    if isinstance(x, ndarray):
        return np.array(x)
    if isinstance(x, (tuple, list)):
        return [host(each) for each in x]
    if isinstance(x, dict):
        return {key: host(each) for key, each in x.items()}
    return x


def same(a, b):
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and a == b


def check(function, *args, times=3):
    """Against the function, on arrays of the same elements; what happens to the arguments, too."""
    captured = weft.compile(function)
    for _ in range(times):
        mine = [weft.asarray(host(arg)) if isinstance(arg, ndarray) else arg for arg in args]
        theirs = [weft.asarray(host(arg)) if isinstance(arg, ndarray) else arg for arg in args]
        assert same(host(captured(*mine)), host(function(*theirs)))
        assert same(host(mine), host(theirs))
        args = [weft.asarray(host(arg + 1)) if isinstance(arg, ndarray) else arg for arg in args]
    assert captured.captures == 1
    return captured


def arrays(*shapes):
    return [weft.asarray(RNG.random(shape)) for shape in shapes]


def normalised(x):
    return (x - x.mean(axis=-1, keepdims=True)) / (x.std(axis=-1, keepdims=True) + 1e-5)


def step(x, y, rate):
    error = x * 2 - y
    return x - rate * error, (error * error).sum()


def stencil(a):
    b = a.copy()
    b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
    return b


def mesh(n):
    x, y = weft.meshgrid(weft.linspace(0, 1, n), weft.linspace(0, 2, n))
    return weft.sin(x) * weft.cos(y)


@pytest.mark.parametrize("function", [normalised, stencil, lambda x: (x.T @ x).sum(), lambda x: weft.where(x > 0.5, x, 0).max()])
def test_functions_of_one_array(function):
    check(function, *arrays((6, 4)))
    check(function, *arrays((3, 5)))


def test_python_does_not_run_again():
    runs = []

    def f(x):
        runs.append(1)
        return x * 2 + 1

    g = weft.compile(f)
    for _ in range(5):
        (x,) = arrays(10)
        assert same(host(g(x)), host(x * 2 + 1))
    assert len(runs) == 1 and g.captures == 1
    g(weft.zeros(11))
    g(weft.zeros(10, dtype="f4"))
    g(weft.zeros((10, 1)))
    assert len(runs) == 4
    g(*arrays(10))
    assert len(runs) == 4


def test_results_are_recorded_not_computed():
    g = weft.compile(normalised)
    (x,) = arrays((4, 4))
    g(x)
    with weft.syncs("error"):
        y = g(x) + 1
    assert same(host(y), host(normalised(x) + 1))


def test_several_arrays_numbers_and_containers():
    check(step, *arrays(8, 8), 0.5)
    check(lambda x, n: x**n, *arrays(5), 3)

    def tree(given, *, scale=1):
        (a, [b]), rest = given["pair"], given["rest"]
        return {"sum": (a + b) * scale, "list": [a, rest[0] - b, None, "name", 3], 2: (b,)}

    a, b, c = arrays(4, 4, 4)
    given = {"pair": (a, [b]), "rest": [c]}
    g = weft.compile(tree)
    for scale in (1, 2.5, True):
        assert same(host(g(given, scale=scale)), host(tree(given, scale=scale)))
    assert g.captures == 3
    result = g(given)
    assert isinstance(result["list"], list) and isinstance(result[2], tuple)


def test_named_tuples():
    Point = collections.namedtuple("Point", "x y")
    g = weft.compile(lambda p: Point(p.y * 2, p.x))
    a, b = arrays(3, 3)
    result = g(Point(a, b))
    assert type(result) is Point and same(host(result.x), host(b * 2)) and result.y is not None
    result.y[0] = 9
    assert float(a[0]) == 9


def test_numbers_are_told_apart():
    def f(x, k):
        return x * k

    g = weft.compile(f)
    (x,) = arrays(3)
    for k in (1, 1.0, True, np.float32(1), np.int8(1), 0.0, -0.0, float("nan"), 1j, np.float64(2)):
        for _ in range(2):
            assert same(host(g(x.astype("f4"), k)), host(f(x.astype("f4"), k)))
    assert g.captures == 10


def test_numbers_without_axes_change():
    g = weft.compile(lambda x, k: x * k)
    (x,) = arrays(3)
    for k in range(5):
        assert same(host(g(x, weft.asarray(float(k)))), host(x * float(k)))
    assert g.captures == 1


def test_conditions_on_elements_name_the_line():
    (x,) = arrays(4)

    def branching(x):
        y = x + 1
        if y.sum() > 0:
            return y
        return -y

    def number(x):
        return float(x[0])

    def masked(x):
        return x[x > 0.5]

    def looped(x):
        return [each + 1 for each in range(int(x[0]))]

    def printed(x):
        print(x)

    for function, text in (
        (branching, "if y.sum() > 0:"),
        (number, "return float(x[0])"),
        (masked, "return x[x > 0.5]"),
        (looped, "range(int(x[0]))"),
        (printed, "print(x)"),
    ):
        for _ in range(2):
            with pytest.raises(CaptureError, match="the elements of an array are needed here") as caught:
                weft.compile(function)(x)
            assert __file__ in str(caught.value) and text in str(caught.value)
    # Nothing is left of it.
    assert float(x.sum()) > 0 and same(host(weft.compile(normalised)(x)), host(normalised(x)))


def test_conditions_on_shapes_and_numbers():
    def f(x, n):
        for _ in range(n):
            x = x + x.shape[0]
        return x.sum(axis=0) if x.ndim == 2 else x

    g = weft.compile(f)
    for shape in ((3,), (4,), (2, 3), (3, 2)):
        for n in (0, 1, 3):
            (x,) = arrays(shape)
            assert same(host(g(x, n)), host(f(x, n)))


def test_new_shapes():
    g = weft.compile(lambda x, y: (x + y, x[1:-1].sum(), (x * y).reshape(-1)[::2]))
    f = g.__wrapped__
    for n in range(2, 40):
        x, y = arrays((n, 3), 3)
        assert same(host(g(x, y)), host(f(x, y)))
        x, y = arrays((n, 3), (n, 1))
        assert same(host(g(x, y)), host(f(x, y)))
    with pytest.raises(ValueError):
        g(*arrays((4, 3), 5))


def test_writes_to_arguments():
    def update(x, y):
        x += y
        x[::2] *= 3
        y[0] = x.sum()
        return x * 2

    check(update, *arrays(6, 6))

    def reset(x):
        x[...] = 0

    check(reset, *arrays((2, 3)))


def test_writes_show_in_all_views_and_what_was_read_stays():
    @weft.compile
    def double(x):
        x *= 2

    whole = weft.asarray(np.arange(8.0))
    back, before = whole[::-1], whole + 0
    double(whole[1::2])
    double(whole[1::2])
    expected = np.arange(8.0)
    expected[1::2] *= 4
    assert host(whole).tolist() == expected.tolist() and host(back).tolist() == expected[::-1].tolist()
    assert host(before).tolist() == list(range(8)) and double.captures == 1
    double(whole)
    assert host(whole).tolist() == (expected * 2).tolist()
    with pytest.raises(ValueError, match="read-only"):
        double(weft.broadcast_to(weft.asarray(1.0), (3,)))


def test_arguments_that_overlap():
    def f(x, y):
        x += 1
        return x + y

    g = weft.compile(f)
    for _ in range(2):
        for view in (lambda a: (a, a), lambda a: (a[1:], a[:-1]), lambda a: (a[::2], a[::-2]), lambda a: (a, a.copy())):
            a, b = (weft.asarray(np.arange(6.0)) for _ in range(2))
            assert same(host(g(*view(a))), host(f(*view(b)))) and same(host(a), host(b))
    assert g.captures == 4


def test_results_that_are_views_of_arguments():
    @weft.compile
    def parts(x):
        y = x * 2
        return x, x[1:], y, y[::-1]

    for _ in range(2):
        a = weft.asarray(np.arange(4.0))
        x, tail, y, turned = parts(a)
        tail[0] = 50
        y[0] = -1
        assert host(a).tolist() == [0, 50, 2, 3] and host(x).tolist() == [0, 50, 2, 3]
        assert host(y).tolist() == [-1, 2, 4, 6] and host(turned).tolist() == [6, 4, 2, -1]


def test_views_with_other_strides():
    def f(x):
        y = x.reshape(-1)
        y[0] = 100
        return y + 0

    g = weft.compile(f)
    for view in (lambda a: a, lambda a: a.T, lambda a: a[:, ::-1], lambda a: a[1:]):
        for _ in range(2):
            a, b = (weft.asarray(np.arange(12.0).reshape(3, 4)) for _ in range(2))
            assert same(host(g(view(a))), host(f(view(b)))) and same(host(a), host(b))


def test_arrays_that_are_no_arguments():
    weight, count = weft.asarray(np.arange(3.0)), weft.zeros(())

    def f(x):
        nonlocal count
        count += 1
        return x * weight + count

    g = weft.compile(f)
    for turn in range(1, 4):
        (x,) = arrays(3)
        expected = host(x) * host(weight) + turn
        assert same(host(g(x)), expected) and float(count) == turn
        weight += 1
    assert g.captures == 1


def test_an_array_that_is_argument_and_global():
    state = weft.asarray(np.arange(3.0))

    def f(x):
        x += 1
        return state * 2

    g = weft.compile(f)
    other = weft.zeros(3)
    for turn in range(1, 4):
        assert host(g(other)).tolist() == (host(state) * 2).tolist() and host(other).tolist() == [turn] * 3
    before = host(state)
    assert host(g(state)).tolist() == ((before + 1) * 2).tolist() and host(state).tolist() == (before + 1).tolist()


def test_what_is_made_inside_is_made_once_for_each_call():
    @weft.compile
    def f(n):
        return weft.zeros(n)

    a, b = f(3), f(3)
    a += 1
    assert host(a).tolist() == [1, 1, 1] and host(b).tolist() == [0, 0, 0] and host(f(3)).tolist() == [0, 0, 0]
    g = weft.compile(mesh)
    assert same(host(g(20)), host(mesh(20))) and same(host(g(20)), host(mesh(20)))


def test_constants_may_be_looked_at():
    @weft.compile
    def f(x):
        k = weft.arange(4)
        return x * float(k.sum()) if k.max() == 3 else x

    (x,) = arrays(3)
    assert same(host(f(x)), host(x * 6.0)) and same(host(f(x)), host(x * 6.0))


def test_captured_functions_call_others():
    inner = weft.compile(lambda x, y: (x + y, x - y))

    @weft.compile
    def outer(x):
        a, b = inner(x, x * 2)
        x[0] = 5
        return inner(a, b)

    def plain(x):
        a, b = x + x * 2, x - x * 2
        x[0] = 5
        return a + b, a - b

    for _ in range(3):
        (x,) = arrays(4)
        y = weft.asarray(host(x))
        assert same(host(outer(x)), host(plain(y))) and same(host(x), host(y))
    assert outer.captures == 1 and inner.captures == 1


def test_vectorised_functions_and_kernels_inside():
    @weft.vectorize
    def blend(a, b):
        return a * 0.25 + b * 0.75

    check(lambda x: blend(x, x[::-1]) + 1, *arrays(9))

    @weft.njit
    def compiled(x):
        return x + 1

    with pytest.raises(CaptureError, match="compiled"):
        weft.compile(lambda x: compiled(x))(*arrays(3))


@weft.compile
def of_the_module(x):
    return x * 2


def test_copies_and_pickles():
    """As functions have them: an object that holds one can be copied, and sent to another process."""
    assert copy.deepcopy({"step": of_the_module})["step"] is of_the_module is copy.copy(of_the_module)
    assert pickle.loads(pickle.dumps(of_the_module)) is of_the_module
    again = pickle.loads(pickle.dumps(weft.compile(operator.neg, donate=0)))
    assert again.donate == (0,) and again(weft.ones(2)).tolist() == [-1, -1]
    with pytest.raises((pickle.PicklingError, AttributeError), match="pickle"):
        pickle.dumps(weft.compile(lambda x: x))


def test_what_is_refused():
    x = weft.zeros(3)
    with pytest.raises(TypeError, match="takes a function"):
        weft.compile(3)
    with pytest.raises(TypeError, match=r"pass weft.asarray\(x\)"):
        weft.compile(normalised)(np.zeros(3))
    with pytest.raises(TypeError, match="was given an object of type set"):
        weft.compile(normalised)({1})
    with pytest.raises(TypeError, match="returns an object of type set"):
        weft.compile(lambda x: {1})(x)

    def replaced(params):
        params["w"] = params["w"] + 1

    with pytest.raises(CaptureError, match="return it instead"):
        weft.compile(replaced)({"w": x})

    class Model:
        @weft.compile
        def call(self, x):
            return x

    with pytest.raises(CaptureError, match="is a method"):
        Model().call(x)


def test_an_error_in_the_function_is_its_own():
    def f(x):
        return x + weft.zeros(5)

    g = weft.compile(f)
    for _ in range(2):
        with pytest.raises(ValueError, match="broadcast"):
            g(weft.zeros(3))
    assert host(g(weft.zeros(1))).tolist() == [0] * 5


def test_what_escapes_has_no_elements():
    kept = []

    @weft.compile
    def f(x):
        kept.append(x + 1)
        return x

    f(weft.zeros(3))
    with pytest.raises(CaptureError):
        kept[0].sum().item()


def test_long_chains_and_many_calls():
    def f(x):
        for i in range(500):
            x = x * 0.99 + i
        return x

    check(f, *arrays(100))
    g = weft.compile(lambda x, dt: x + dt * weft.sin(x))
    x = y = weft.asarray(RNG.random(50))
    for _ in range(200):
        x, y = g(x, weft.asarray(0.1)), y + 0.1 * weft.sin(y)
    assert same(host(x), host(y)) and g.captures == 1


def test_graphs_that_are_kept_are_few():
    g = weft.compile(lambda x, k: x + k)
    x = weft.zeros(2)
    for k in range(300):
        assert host(g(x, k)).tolist() == [k, k]
    assert len(g._graphs) == 256 and host(g(x, 0)).tolist() == [0, 0]


def test_threads_capture_apart():
    import threading

    failures = []

    def work(seed):
        rng = np.random.default_rng(seed)
        g = weft.compile(lambda x: (x * seed).sum() + x)
        for _ in range(20):
            a = rng.random(int(rng.integers(1, 6)))
            if not np.array_equal(np.array(g(weft.asarray(a))), np.array((weft.asarray(a) * seed).sum() + weft.asarray(a))):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures


LIBRARY = {
    "sort": (lambda x: weft.sort(x * 2) + 1, (30,)),
    "argsort": (lambda x: x[weft.argsort(x)], (30,)),
    "cumsum": (lambda x: weft.cumsum(x, axis=0) * 2, (3, 4)),
    "matmul": (lambda x, y: (x @ y).T + 1, (3, 4), (4, 5)),
    "stacked matmul": (lambda x, y: (x @ y).sum(axis=0), (2, 3, 4), (2, 4, 5)),
    "median": (lambda x: x - weft.median(x), (30,)),
    "percentile": (lambda x: weft.percentile(x, [10, 50]), (30,)),
    "take": (lambda x: weft.take(x + 1, [1, 2, 3]), (30,)),
    "indices": (lambda x, y: x[1:, [0, 2], None] + y, (3, 4), (2, 1)),
    "histogram": (lambda x: weft.histogram(x, bins=5), (30,)),
    "convolve": (lambda x, y: weft.convolve(x, y), (30,), (3,)),
    "searchsorted": (lambda x, y: weft.searchsorted(weft.sort(x), y), (10,), (4,)),
    "concatenate": (lambda x, y: weft.concatenate([x, y]) * 2, (3,), (4,)),
    "interp": (lambda x, y: weft.interp(x, weft.arange(10.0) / 10, y), (30,), (10,)),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_library_functions(name):
    function, *shapes = LIBRARY[name]
    check(function, *arrays(*shapes))


def test_assignments_by_indices():
    def f(x, y):
        x[[1, 2, 2]] = y
        x[y.argsort(), ...] += 1
        x[x > 1] = 0
        return x * 2

    check(f, *arrays(6, 3))


@pytest.mark.parametrize("function", [weft.unique, weft.nonzero, lambda x: weft.bincount(x.astype("i8")), lambda x: x[x > 0]])
def test_results_whose_shape_elements_decide_are_refused(function):
    with pytest.raises(CaptureError, match=r"test_compile.py:\d+"):
        weft.compile(lambda x: function(x))(*arrays(5))


def test_errors_of_elements_come_when_they_are_known():
    g = weft.compile(lambda x, i: x[i])
    (x,) = arrays(5)
    assert same(host(g(x, weft.asarray([0, 4]))), host(x)[[0, 4]])
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        g(x, weft.asarray([0, 5]))


def program(seed):
    """A random function of three arrays: statements that compute, make views, write to them, reduce and return."""
    rng = np.random.default_rng(seed)
    lines, names, count = [], ["a", "b", "c"], 0

    def pick():
        return names[int(rng.integers(len(names)))]

    def fresh(text):
        nonlocal count
        count += 1
        lines.append(f"t{count} = {text}")
        names.append(f"t{count}")

    for _ in range(int(rng.integers(3, 14))):
        x, y = pick(), pick()
        step, first = int(rng.choice([-2, -1, 1, 2])), int(rng.integers(0, 2))
        kind = int(rng.integers(10))
        if kind < 3:
            fresh(f"fit({x}, {y}) {rng.choice(['+', '-', '*'])} {y}")
        elif kind == 3:
            fresh(f"{x}[{first}:][::{step}]")
        elif kind == 4:
            fresh(f"{x}.T")
        elif kind == 5:
            fresh(f"weft.where({x} > {x}.mean(), {x}, 0.5)")
        elif kind == 6:
            lines.append(f"{x} += fit({y}, {x}) * 0.5")
        elif kind == 7:
            lines.append(f"{x}[..., ::{abs(step)}] = {rng.random():.3f}")
        elif kind == 8:
            fresh(f"{x}.copy()" if step > 0 else f"{x}.reshape(-1)")
        else:
            lines.append(f"known[...] = known * 0.5 + {x}.sum()")
    chosen = ", ".join(pick() for _ in range(int(rng.integers(1, 4))))
    body = "\n    ".join(lines)
    return f"def f(a, b, c):\n    {body}\n    return ({chosen},)\n"


def fit(x, to):
    """An array of the shape of another one, made of the elements of the first."""
    return weft.broadcast_to(x.sum(), to.shape) + weft.arange(to.size).reshape(to.shape)


def arguments(rng):
    """Three arrays, some of which are views of one, and all that they are views of."""
    whole = weft.asarray(rng.random((4, 4)))
    other = weft.asarray(rng.random(5))
    views = [
        lambda: whole,
        lambda: whole[1:],
        lambda: whole.T,
        lambda: whole[::-1, ::2],
        lambda: whole[2],
        lambda: other,
        lambda: other[1:4],
        lambda: weft.asarray(rng.random((2, 3))),
    ]
    return [views[int(rng.integers(len(views)))]() for _ in range(3)], [whole, other]


@pytest.mark.parametrize("block", range(4))
def test_random_functions(block):
    replayed = 0
    for seed in range(block * 100, block * 100 + 100):
        text = program(seed)
        mine, theirs = ({"weft": weft, "fit": fit, "known": weft.zeros(3)} for _ in range(2))
        exec(text, mine)
        exec(text, theirs)
        g = weft.compile(mine["f"])
        for turn in range(6):
            case = seed * 10 + turn // 2
            first, second = (arguments(np.random.default_rng(case)) for _ in range(2))
            before = first[0][0] + 0, second[0][0] + 0
            got, expected = g(*first[0]), theirs["f"](*second[0])
            if turn % 3 == 0:
                weft.eval(*got)
            got[0][...] += 1
            expected[0][...] += 1
            pairs = zip((got, first, mine["known"], before[0]), (expected, second, theirs["known"], before[1]))
            assert all(same(host(x), host(y)) for x, y in pairs), (seed, turn, text)
        replayed += 6 - g.captures
    assert replayed > 200


def count(function, shapes, dtype="f8"):
    """Captures for arrays of these shapes, against the function."""
    g = weft.compile(function)
    for given in shapes:
        mine = [weft.asarray(RNG.random(shape).astype(dtype) * 9) for shape in given]
        theirs = [weft.asarray(host(each)) for each in mine]
        assert same(host(g(*mine)), host(function(*theirs))), given
        assert same(host(mine), host(theirs))
    return g.captures


def test_functions_that_look_at_no_size_are_captured_twice_for_all_sizes():
    sizes = range(2, 30)
    assert count(lambda x, y: weft.sin(x) * 2 + y, [[(n,), (n,)] for n in sizes]) == 2
    assert count(lambda x, y: (x * y).T * 2, [[(n, n + 1), (n + 1,)] if n % 2 else [(n, 3), (3,)] for n in sizes]) == 2
    assert count(lambda x, y: x[:, None] * y[None, :], [[(n,), (n * 2,)] for n in sizes]) == 2
    assert count(lambda x: x, [[(n,)] for n in sizes]) == 2

    def update(x, y):
        x += y * 2
        return x, (x > 3), -y

    assert count(update, [[(n, 4), (4,)] for n in sizes]) == 2


def test_sizes_that_are_looked_at_are_captured_each():
    sizes = [[(n,)] for n in range(2, 12)]
    many = len(sizes)
    assert count(lambda x: x * x.shape[0], sizes) == many
    assert count(lambda x: x * len(x), sizes) == many
    assert count(lambda x: x + x.size, sizes) == many
    assert count(lambda x: x + x.strides[0] + x.nbytes, sizes) == many
    assert count(lambda x: x[1:] + x[:-1], sizes) == many
    assert count(lambda x: x[:2] * 2, sizes) == many
    assert count(lambda x: x * x[-1], sizes) == many
    assert count(lambda x: x.reshape(1, -1), sizes) == many
    assert count(lambda x: x.mean(), sizes) == many
    assert count(lambda x: x[::-1], sizes) == many
    assert count(lambda x: weft.sort(x), sizes) == many
    assert count(lambda x: (x > 300).sum(), sizes, "u1") == many

    def cleared(x):
        y = x * 1
        y[...] = 2
        return y.sum()

    assert count(cleared, sizes) == many
    assert count(lambda x: x + weft.arange(3)[:, None], sizes) == many


def test_lengths_of_none_and_of_one_are_others():
    shapes = [[(n,), (m,)] for n, m in ((3, 3), (4, 4), (1, 1), (5, 1), (1, 5), (0, 0), (0, 1), (7, 7), (9, 1), (1, 9), (2, 2))]
    count(lambda x, y: (x * y + x)[None], shapes)
    g = weft.compile(lambda x, y: x + y)
    for n in (3, 4, 5):
        g(*arrays(n, n))
    with pytest.raises(ValueError, match="broadcast"):
        g(*arrays(3, 4))
    assert host(g(*arrays(8, 8))).shape == (8,)


def test_random_functions_of_any_size():
    rng = np.random.default_rng(9)
    texts = [
        "x + y",
        "x * 2 - y",
        "weft.where(x > y, x, y)",
        "weft.exp(x) * y.T",
        "(x - y)[None, :, :] * x",
        "x.sum(axis=0) + y",
        "x.max(axis=1)",
    ]
    texts += ["x.sum() * y", "x.T.sum(axis=1) + x", "(x < y).any(axis=0)", "x.argmax(axis=0) + y", "-x ** 2 + abs(y)", "x.astype('f4') + y"]
    captures = 0
    for _ in range(60):
        first, second, third = rng.choice(texts, 3)
        scope = {"weft": weft}
        exec(f"def f(x, y):\n    a = {first}\n    x *= 0.5\n    b = {second}\n    y[...] = y + x\n    return a, b, {third}, x\n", scope)
        g = weft.compile(scope["f"])
        for n in (3, 4, 1, 6, 1, 0, 5, 2, 7, 9):
            a, b = rng.random((n, n)) - 0.5, rng.random((n, n)) - 0.5
            mine, theirs = (tuple(map(weft.asarray, (a, b))) for _ in range(2))
            try:
                expected = scope["f"](*theirs)
            except ValueError:
                with pytest.raises(ValueError):
                    g(*mine)
                continue
            assert same(host(g(*mine)), host(expected)) and same(host(mine), host(theirs)), (first, second, third, n)
        captures += g.captures
    assert captures < 60 * 8


def test_a_graph_of_any_size_takes_reshaped_arrays():
    """A reshaped array has another shape than the value that its storage started with."""
    g = weft.compile(lambda x: (x.sum(axis=1), x * 2, x))
    for shape in ((2, 3), (4, 5)):
        g(weft.ones(shape))
    for array in (weft.arange(12.0).reshape(3, 4), weft.asarray(np.arange(12.0).reshape(3, 4)).reshape(2, 6)):
        expected = np.asarray(array)
        for mine, theirs in zip(g(array), (expected.sum(axis=1), expected * 2, expected)):
            np.testing.assert_array_equal(np.asarray(mine), theirs)


def test_numpys_arrays_are_as_they_were_where_they_were_used():
    def f(x):
        at = np.array([0, 1])
        first = x[at]
        at[0] = 3
        values = np.array([10.0, 20.0])
        changed = x * 1
        changed[at] = values
        values[:] = 0
        return first, x[at], changed

    x = weft.arange(4.0) + 1
    for mine, theirs in zip(weft.compile(f)(x), f(np.arange(4.0) + 1)):
        np.testing.assert_array_equal(np.asarray(mine), theirs)


@pytest.mark.parametrize(
    ("function", "good", "bad", "error", "words"),
    [
        (lambda x: weft.average(x, weights=x), [[1.0, 2, 6], [2, 3, 4]], [[1.0, 2, 6], [0, 0, 0]], ZeroDivisionError, "sum to zero"),
        (weft.nanargmax, [[1.0, np.nan, 6], [9, 3, 4]], [[1.0, 2, 6], [np.nan] * 3], ValueError, "All-NaN slice"),
        (weft.nanargmin, [[1.0, np.nan, 6], [9, 3, 4]], [[1.0, 2, 6], [np.nan] * 3], ValueError, "All-NaN slice"),
        (lambda i: weft.choose(i, [i, i + 5, [7, 8, 9]]), [[0, 1, 2], [2, 1, 0]], [[0, 1, 2], [2, 3, 0]], ValueError, "invalid entry"),
    ],
)
def test_what_is_refused_for_elements_is_refused_when_there_are_some(function, good, bad, error, words):
    """Each row by itself, by a graph that is captured with good ones and by `vmap`, in a graph, too: errors are those of the function."""
    good, bad = weft.asarray(good), weft.asarray(bad)
    expected = [np.asarray(function(row)) for row in good]
    one, every = weft.compile(function), weft.vmap(function)
    for found in ([one(row) for row in good], every(good), weft.compile(every)(good)):
        assert np.array_equal(np.asarray([np.asarray(each) for each in found]), expected)
    captured = weft.compile(every)
    captured(good)
    for call in (lambda: one(bad[1]), lambda: every(bad), lambda: captured(bad)):
        with pytest.raises(error, match=words):
            weft.eval(call())
    assert np.array_equal(one(good[0]), expected[0])
