"""What stands around a differentiated function: trees, chosen arguments, values beside it, other followed arrays, transforms in transforms,
tapes that add up, end early, or run in threads, and other devices."""

import itertools
import threading
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import weft
from gradients.differences import differences
from weft.errors import GradientError

Point = namedtuple("Point", "x y")

FUNCTIONS = [
    lambda x, y: (weft.sin(x) * y).sum(),
    lambda x, y: (x * x[::-1] * y).sum() + weft.tanh(y).sum(),
    lambda x, y: weft.maximum(x * y, x - y).sum(),
    lambda x, y: (x @ y) * weft.exp(x * 0.3).sum(),
]


def written(x, y):
    z = x * 1.0
    z[1:] += z[:-1] * y[1:]
    z[::2] *= y[::2]
    return (z * z).sum()


FUNCTIONS.append(written)


def pair(seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.3, 1.2, 4), rng.uniform(0.3, 1.2, 4)


def of_stacks(function):
    """A function of two rows, for stacks of one each."""
    return lambda x, y: weft.vmap(function)(weft.asarray(x)[None], weft.asarray(y)[None])


def gradients(function, x, y):
    """Of both arguments, by differences."""
    of_x = differences(lambda x: float(function(weft.asarray(x), weft.asarray(y))), x)
    return of_x, differences(lambda y: float(function(weft.asarray(x), weft.asarray(y))), y)


def near(found, wanted, tolerance=1e-6):
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), tolerance, tolerance)


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
class TestEveryFunction:
    def test_argnums(self, number):
        function, (x, y) = FUNCTIONS[number], pair()
        wanted = gradients(function, x, y)
        for argnums in (0, 1, -1, (0,), (1, 0), (0, 1), [-2]):
            found = weft.grad(function, argnums)(weft.asarray(x), weft.asarray(y))
            if isinstance(argnums, int):
                near(found, wanted[argnums])
            else:
                assert isinstance(found, tuple)
                for at, each in zip(argnums, found, strict=True):
                    near(each, wanted[at])

    def test_trees(self, number):
        function, (x, y) = FUNCTIONS[number], pair()
        wanted = gradients(function, x, y)
        trees = [
            ({"b": y, "a": x}, lambda t: (t["a"], t["b"])),
            (OrderedDict([("y", y), ("x", x)]), lambda t: (t["x"], t["y"])),
            (Point(x, y), lambda t: (t.x, t.y)),
            ([None, (x, [y, ()])], lambda t: (t[1][0], t[1][1][0])),
        ]
        for tree, taken in trees:
            found = weft.grad(lambda t, taken=taken: function(*taken(t)))(tree)
            assert type(found) is type(tree)
            for one, other in zip(taken(found), wanted):
                near(one, other)

    def test_values_beside_it(self, number):
        function, (x, y) = FUNCTIONS[number], pair()

        def with_aux(x, y):
            return function(x, y), {"sum": x + y, "text": "kept"}

        (value, aux), found = weft.value_and_grad(with_aux, has_aux=True)(x, y)
        near(value, function(weft.asarray(x), weft.asarray(y)))
        near(found, gradients(function, x, y)[0])
        near(aux["sum"], x + y)
        assert aux["text"] == "kept"
        # What stands beside the value is an array like any other when the tape has ended.
        near(aux["sum"] * 2, (x + y) * 2)

    def test_another_followed_array(self, number):
        """A gradient inside of a function of an array that the outer one is taken of."""
        function, (x, y) = FUNCTIONS[number], pair()

        def outer(x):
            inner = weft.grad(lambda y: function(x, y) * x[0])(weft.asarray(y))
            return (inner * x).sum()

        near(weft.grad(outer)(x), differences(lambda x: float(outer(weft.asarray(x))), x), 1e-5)

    def test_checkpoints(self, number):
        function, (x, y) = FUNCTIONS[number], pair()
        wanted = gradients(function, x, y)
        for kept in (weft.checkpoint(function), lambda x, y: weft.checkpoint(lambda x: function(x, y))(x)):
            for one, other in zip(weft.grad(kept, (0, 1))(x, y), wanted):
                near(one, other)

    @pytest.mark.parametrize(
        "way", ["jvp of grad", "grad of grad", "grad of jvp", "hessian", "vmap of jvp of grad", "vjp of grad", "linearize"]
    )
    def test_second_derivatives(self, number, way):
        function, (x, y) = FUNCTIONS[number], pair()
        v = np.array([0.5, -1.0, 0.25, 2.0])
        of_x = weft.grad(lambda x: function(x, weft.asarray(y)))
        rows = [differences(lambda x, at=at: float(of_x(weft.asarray(x))[at]), x) for at in range(4)]
        wanted = np.array(rows) @ v
        ways = {
            "jvp of grad": lambda: weft.jvp(of_x, (x,), (v,))[1],
            "grad of grad": lambda: weft.grad(lambda x: (of_x(x) * v).sum())(x),
            "grad of jvp": lambda: weft.grad(lambda x: weft.jvp(lambda x: function(x, weft.asarray(y)), (x,), (weft.asarray(v),))[1])(x),
            "hessian": lambda: weft.hessian(function)(x, y) @ v,
            "vmap of jvp of grad": lambda: weft.vmap(lambda row: weft.jvp(of_x, (weft.asarray(x),), (row,))[1])(np.stack([v, v * 2]))[0],
            "vjp of grad": lambda: weft.vjp(of_x, x)[1](v)[0],
            "linearize": lambda: weft.linearize(of_x, x)[1](v),
        }
        near(ways[way](), wanted, 1e-5)

    def test_many_at_once(self, number):
        function = FUNCTIONS[number]
        xs, ys = np.stack([pair(at)[0] for at in range(3)]), np.stack([pair(at)[1] for at in range(3)])
        together = weft.vmap(weft.grad(function, (0, 1)))(xs, ys)
        for at in range(3):
            for one, other in zip(together, weft.grad(function, (0, 1))(xs[at], ys[at])):
                near(one[at], other, 1e-12)
        # The gradient of a sum over many is that of each.
        of_all = weft.grad(lambda xs: weft.vmap(function)(xs, weft.asarray(ys)).sum())(xs)
        near(of_all, together[0], 1e-12)

    def test_compiled(self, number):
        function, (x, y) = FUNCTIONS[number], pair()
        compiled = weft.compile(weft.grad(function))
        for seed in range(3):
            x, y = map(weft.asarray, pair(seed))
            near(compiled(x, y), weft.grad(function)(x, y), 1e-12)
        near(weft.grad(weft.compile(function))(x, y), weft.grad(function)(x, y), 1e-12)

    def test_a_tape(self, number):
        function, (x, y) = FUNCTIONS[number], pair()
        wanted = gradients(function, x, y)
        x, y = weft.asarray(x), weft.asarray(y)
        for turn in range(1, 3):
            with weft.tape(x, y):
                total = function(x, y)
            total.backward()
            near(x.grad, wanted[0] * turn)
            near(y.grad, wanted[1] * turn)

    def test_an_error_ends_the_tape(self, number):
        function, (x, y) = FUNCTIONS[number], pair()
        wanted = gradients(function, x, y)

        def failing(x, y):
            function(x, y)
            raise KeyError("here")

        for transform in (weft.grad, lambda f: lambda *args: weft.vjp(f, *args), weft.jacrev, weft.checkpoint, weft.hessian, of_stacks):
            with pytest.raises(KeyError):
                transform(failing)(x, y)
        with pytest.raises(KeyError), weft.tape():
            failing(weft.asarray(x), weft.asarray(y))
        x, y = map(np.asarray, (x, y))
        assert not weft._weft._tape_is_here()
        near(weft.grad(function)(x, y), wanted[0])

    def test_threads(self, number):
        """Every thread has tapes of its own."""
        function = FUNCTIONS[number]
        found = {}

        def work(seed):
            x, y = pair(seed)
            a, b = weft.asarray(x), weft.asarray(y)
            for _ in range(5):
                a.grad = None
                with weft.tape(a, b):
                    total = function(a, b)
                total.backward()
                found[seed] = (np.asarray(weft.grad(function)(x, y)), np.asarray(a.grad))

        crew = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for each in crew:
            each.start()
        for each in crew:
            each.join()
        for seed in range(4):
            wanted = np.asarray(weft.grad(function)(*pair(seed)))
            assert np.array_equal(found[seed][0], wanted)
            near(found[seed][1], wanted, 1e-12)

    def test_devices(self, number, device):
        function, (x, y) = FUNCTIONS[number], pair()
        of_x, of_y = weft.grad(function, (0, 1))(weft.asarray(x, dtype="float32"), weft.asarray(y, dtype="float32"))
        assert of_x.device == weft.asarray(x).device
        wanted = gradients(function, x, y)
        near(of_x, wanted[0], 1e-4)
        near(of_y, wanted[1], 1e-4)


def test_what_is_stopped_has_no_gradient():
    x = np.array([0.5, 2.0])
    near(weft.grad(lambda x: (x * weft.stop_gradient(x * x)).sum())(x), x * x)
    near(weft.grad(lambda x: (weft.stop_gradient({"a": x})["a"] * 3).sum())(x), [0, 0])
    near(weft.grad(weft.grad(lambda x: x * weft.stop_gradient(x)))(3.0), 0)


def test_what_is_stopped_in_a_batch_is_stopped_for_tapes_around_it():
    x = weft.asarray([0.5, 2.0])
    f = lambda x: x**3 * weft.stop_gradient({"a": x**2})["a"]  # noqa: E731
    twice = lambda x: weft.vmap(weft.vmap(f))(x[:, None])  # noqa: E731
    for batched in (weft.vmap(f), twice, weft.vmap(weft.checkpoint(f)), weft.compile(weft.vmap(f))):
        near(weft.grad(lambda x: batched(x).sum())(x), 3 * x**4)  # noqa: B023
        near(weft.jvp(batched, (x,), (weft.ones(2),))[1].reshape(-1), 3 * x**4)
    near(weft.hessian(lambda x: weft.vmap(f)(x).sum())(x), np.diag(6 * np.asarray(x) ** 3))
    near(weft.vmap(weft.grad(weft.grad(f)))(x), 6 * x**3)


def test_transforms_in_transforms_of_any_depth():
    """Derivatives of x ** 5 from the first to the fourth, by every sequence of transforms."""
    forward = [lambda f: lambda x: weft.jvp(f, (x,), (weft.ones_like(x),))[1], weft.grad, lambda f: weft.vmap(weft.grad(lambda x: f(x)))]
    value = 1.5
    for depth in range(1, 4):
        for ways in itertools.product(range(2), repeat=depth):
            f = lambda x: x**5  # noqa: E731
            for way in ways:
                f = forward[way](f)
            wanted = np.prod(np.arange(5, 5 - depth, -1)) * value ** (5 - depth)
            near(f(weft.asarray(value)), wanted, 1e-9)
            near(weft.vmap(f)(weft.asarray([value, value])), [wanted] * 2, 1e-9)


class TestRulesOfUsers:
    """Functions with rules, and what is inside them."""

    def test_a_gradient_inside(self):
        x = weft.asarray([1.5, 0.7])
        wanted = 6 * np.asarray(x)

        @weft.custom_vjp
        def slope(x):
            return weft.grad(lambda y: (y**3).sum())(x)

        slope.defvjp(lambda cotangent, result, x: (cotangent * 6 * x,))
        value, found = weft.vjp(slope, x)
        near(value, 3 * np.asarray(x) ** 2)
        near(found(weft.ones(2))[0], wanted)
        near(weft.grad(lambda x: weft.checkpoint(lambda x: weft.grad(lambda y: (y**3).sum())(x))(x).sum())(x), wanted)

    def test_what_forward_keeps_is_each_calls_own(self):
        @weft.custom_vjp
        def f(x):
            return weft.sin(x)

        f.defvjp(lambda x: (f(x), weft.cos(x)), lambda cos, cotangent: (2 * cos * cotangent,))
        x = np.arange(3.0)
        near(weft.grad(lambda x: weft.vmap(f)(x).sum())(x), 2 * np.cos(x))
        near(weft.vmap(weft.grad(f))(x), 2 * np.cos(x))

    def test_forward_keeps_what_others_follow(self):
        """It reads nothing of it, and the rule has the derivative."""

        def slope(y):
            @weft.custom_vjp
            def f(x):
                return 2 * weft.sin(x)

            f.defvjp(lambda x: (f(x), y), lambda y, cotangent: (2 * weft.cos(y) * cotangent,))
            return weft.grad(f)(1.0)

        ys = np.arange(3.0)
        near(weft.vmap(slope)(ys), 2 * np.cos(ys))
        near(weft.compile(weft.vmap(slope))(weft.asarray(ys)), 2 * np.cos(ys))
        near(weft.grad(slope)(4.0), -2 * np.sin(4.0))

    def test_a_way_back_that_forward_keeps(self):
        @weft.custom_vjp
        def f(x):
            return x**2

        f.defvjp(lambda x: weft.vjp(lambda x: x**2, x), lambda back, cotangent: back(cotangent))
        near(weft.grad(f)(3.0), 6)
        near(weft.grad(lambda x: weft.vjp(f, x)[1](weft.asarray(1.0))[0])(3.0), 2)

    def test_a_derivative_that_is_a_call_of_the_function(self):
        @weft.custom_jvp
        def quotient(x, y):
            return x / y

        @quotient.defjvp
        def _(primals, tangents):
            (x, y), (dx, _) = primals, tangents
            return quotient(x, y), quotient(dx, y)

        near(weft.grad(quotient)(1.0, 4.0), 0.25)

    def test_none_stands_for_no_cotangents(self):
        @weft.custom_vjp
        def f(tree):
            return tree["a"] * 2

        f.defvjp(lambda tree: (f(tree), None), lambda _, cotangent: ({"a": cotangent * 2, "b": None},))
        found = weft.grad(lambda tree: f(tree))({"a": 1.0, "b": (2.0, 3.0)})
        near(found["a"], 2)
        near(found["b"][0], 0)

    def test_lost_gradients_are_refused(self):
        @weft.custom_vjp
        def reads(x):
            return x * other

        reads.defvjp(lambda cotangent, result, x: (cotangent,))

        @weft.custom_vjp
        def writes(x):
            x *= 2
            return x + 1

        writes.defvjp(lambda cotangent, result, x: (cotangent,))

        def of_both(x):
            nonlocal other
            other = x * 2
            return reads(x)

        other = None
        with pytest.raises(GradientError, match="none of its arguments"):
            weft.grad(of_both)(2.0)
        with pytest.raises(GradientError, match="writes to an array"):
            weft.grad(writes)(2.0)

    def test_a_checkpoint_in_a_tape_of_everything(self):
        x, w = weft.asarray([1.0, 2.0]), weft.asarray(3.0)
        with weft.tape():
            total = weft.checkpoint(lambda x: (x * w).sum())(x)
        total.backward()
        near(x.grad, [3, 3])
        near(w.grad, 3)

    def test_a_checkpoint_that_writes(self):
        @weft.checkpoint
        def f(x):
            x *= x
            return (x * x).sum()

        near(weft.grad(f)(np.array([2.0, 3.0])), [32, 108])
        near(weft.grad(lambda x: f(x) + x.sum())(np.array([2.0, 3.0])), [36, 114])


class TestPowers:
    def test_exponents_of_a_half_have_a_gradient(self):
        x = np.array([1.5, 0.7])
        for exponent in (0.5, 0.6, 2.0):
            near(weft.grad(lambda e: (weft.asarray(x) ** e).sum())(exponent), (x**exponent * np.log(x)).sum())

    def test_negative_numbers_to_a_whole_power(self):
        near(weft.grad(lambda x: (x ** weft.asarray(3.0)).sum())(np.array([-1.5, 2.0])), [6.75, 12])
        near(weft.grad(weft.grad(lambda x: x**3))(-2.0), -12)
        near(weft.grad(weft.grad(lambda x: x**1))(-2.0), 0)

    def test_second_derivatives_at_a_power_of_zero(self):
        x = 4.0
        found = weft.jacfwd(weft.jacrev(weft.power, (0, 1)), (0, 1))(weft.asarray(x), weft.asarray(0.0))
        near(np.array([[float(b) for b in a] for a in found]), [[0, 1 / x], [1 / x, np.log(x) ** 2]])


def test_parts_of_an_array_that_lies_turned_are_overwritten():
    x = np.asfortranarray(np.arange(1.0, 7.0).reshape(3, 2))

    def f(x):
        x[1, ::-1] = 0
        return (x * x).sum() + (weft.moveaxis(x, -1, 1) * 3).sum()

    near(weft.grad(f)(weft.asarray(x)), np.where(np.arange(3)[:, None] == 1, 0, 2 * x + 3))
