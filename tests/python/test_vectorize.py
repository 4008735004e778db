"""Ufuncs made by `vectorize` behave as NumPy's own: shapes, types, memory, casting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support import texts

import weft
from weft import vectorize
from weft.types import float32, float64, int32, int64

DTYPES = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64]
DTYPES += [np.float16, np.complex64, np.complex128]


@vectorize
def mix(a, b):
    return a * b + a


def numpy_mix(a, b):
    with np.errstate(all="ignore"):
        return a * b + a


def same(got, want):
    assert type(got) is type(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got, want)


def strided(draw, base):
    """A view of `base` with steps, reversed axes or axes in another order, as drawn."""
    view = base
    for axis in range(base.ndim):
        step = draw(st.sampled_from([1, 1, 2, -1, -2]))
        view = view[(slice(None),) * axis + (slice(None, None, step),)]
    return view.transpose(draw(st.permutations(range(view.ndim))))


@st.composite
def operands(draw):
    """Two arrays that broadcast, of any dtypes and strides."""
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=5, min_side=0)).input_shapes
    arrays = []
    for shape in shapes:
        dtype = draw(st.sampled_from(DTYPES))
        base = np.arange(np.prod([2 * n for n in shape], dtype=int)).reshape([2 * n for n in shape])
        base = (base % 100).astype(dtype)
        order = draw(st.permutations(range(len(shape))))
        view = base.transpose(order)
        index = []
        for axis in range(view.ndim):
            want = shape[axis]
            have = view.shape[axis]
            if have >= 2 * want and want and draw(st.booleans()):
                index.append(slice(0, 2 * want, 2))
            else:
                index.append(slice(0, want) if have >= want else None)
        view = view[tuple(index)] if None not in index else np.resize(base, shape).astype(dtype)
        if view.ndim and draw(st.booleans()):
            view = view[::-1]
        arrays.append(view)
    return arrays


@settings(deadline=None, max_examples=150)
@given(operands())
def test_any_dtypes_ranks_and_strides(pair):
    a, b = pair
    same(mix(a, b), numpy_mix(a, b))


@pytest.mark.parametrize("a", [2, 2.5, 1j, True, np.float32(1.5), np.int8(3), np.uint64(7)])
@pytest.mark.parametrize("dtype", [np.int16, np.float32, np.complex64])
def test_scalars_are_weak_or_strong(a, dtype):
    x = np.arange(5).astype(dtype)
    same(mix(a, x), numpy_mix(a, x))
    same(mix(x, a), numpy_mix(x, a))


def test_scalars_alone_give_a_scalar():
    got = mix(np.float32(2), 3)
    assert isinstance(got, np.float32) and got == 8
    assert mix(2, 3) == 8
    assert isinstance(mix(np.array(2.0), np.array(3.0)), np.float64)


def test_lists_are_arrays():
    same(mix([1, 2], [3.0]), numpy_mix(np.array([1, 2]), np.array([3.0])))


def test_out():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    out = np.empty((2, 3))
    assert mix(a, b, out=out) is out
    np.testing.assert_array_equal(out, a * b + a)
    assert mix(a, b, out) is out
    assert mix(a, b, out=(out,)) is out
    wide = np.empty((2, 3), np.complex128)
    mix(a, b, out=wide)
    np.testing.assert_array_equal(wide, a * b + a)
    big = np.empty((4, 2, 3))
    mix(a, b, out=big)
    np.testing.assert_array_equal(big, np.broadcast_to(a * b + a, big.shape))


def test_out_that_does_not_fit():
    a = np.arange(6.0).reshape(2, 3)
    with pytest.raises(ValueError):
        mix(a, a, out=np.empty(3))
    with pytest.raises(ValueError):
        mix(a, a, out=np.empty((2, 4)))
    with pytest.raises(TypeError):
        mix(a, a, out=np.empty((2, 3), np.int32))
    mix(a, a, out=np.empty((2, 3), np.int32), casting="unsafe")
    frozen = np.empty((2, 3))
    frozen.flags.writeable = False
    with pytest.raises(ValueError):
        mix(a, a, out=frozen)


def test_where():
    a, b = np.arange(12.0).reshape(3, 4), np.float64(2)
    mask = a % 3 == 0
    for m in (mask, mask[0], mask[:, :1], True):
        got = mix(a, b, out=np.full((3, 4), -1.0), where=m)
        want = np.where(m, numpy_mix(a, b), -1)
        np.testing.assert_array_equal(got, want)
    assert (mix(a, b, out=np.full((3, 4), -1.0), where=False) == -1).all()
    with pytest.raises(TypeError):
        mix(a, b, where=a)


def test_dtype():
    a = np.arange(4)
    same(mix(a, a, dtype=np.float32), numpy_mix(a.astype(np.float32), a.astype(np.float32)).astype(np.float32))


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_overlapping_views(data):
    """The result is what it would be had the inputs been copied first."""
    n = data.draw(st.integers(1, 40))
    base = np.arange(80.0)

    def window():
        step = data.draw(st.sampled_from([1, 1, 2, -1]))
        if step < 0:
            start = data.draw(st.integers(n - 1, 79))
            stop = start - n
            return slice(start, stop if stop >= 0 else None, -1)
        start = data.draw(st.integers(0, 79 - step * (n - 1)))
        return slice(start, start + step * (n - 1) + 1, step)

    a, b, out = window(), window(), window()
    expected = base.copy()
    expected[out] = numpy_mix(base[a].copy(), base[b].copy())
    mix(base[a], base[b], out=base[out])
    np.testing.assert_array_equal(base, expected)


def test_broadcasting_errors():
    with pytest.raises(ValueError, match="broadcast"):
        mix(np.zeros(3), np.zeros(4))


def test_number_of_operands():
    with pytest.raises(TypeError):
        mix(1)
    with pytest.raises(TypeError):
        mix(1, 2, 3, 4)
    assert (mix.nin, mix.nout, mix.nargs) == (2, 1, 3)


def test_order_of_the_output():
    a = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert mix(a, a).flags.f_contiguous
    assert mix(a, a, order="C").flags.c_contiguous
    assert mix(a, np.ascontiguousarray(a)).flags.c_contiguous
    b = np.arange(24.0).reshape(2, 3, 4).transpose(1, 2, 0)
    assert mix(b, b).strides == np.add(b, b).strides
    same(mix(b, 2), numpy_mix(b, 2))


@vectorize([float32(float32, float32), float64(float64, float64), "int64(int64, int64)"])
def typed(a, b):
    return a + b


def test_declared_loops():
    assert typed(np.ones(2, np.float32), np.ones(2, np.float32)).dtype == np.float32
    assert typed(np.ones(2, np.int32), np.ones(2, np.int32)).dtype == np.float64
    assert typed(np.ones(2, np.float32), np.ones(2, np.float64)).dtype == np.float64
    assert typed(np.ones(2, np.int64), np.ones(2, np.int64), dtype=np.int64).dtype == np.int64
    with pytest.raises(TypeError):
        typed(np.ones(2, np.complex128), 1)


def test_a_declared_result_is_kept():
    @vectorize([int32(float64)])
    def truncated(x):
        return x

    same(truncated(np.array([1.7, -1.7])), np.array([1, -1], np.int32))


def test_signatures_and_inspection():
    assert typed.signatures == [(float32, float32), (float64, float64), (int64, int64)]
    mix(np.ones(2), np.ones(2))
    assert "define" in mix.inspect_llvm()
    assert mix.inspect_ir() and mix.inspect_asm()
    assert mix.py_func(2, 3) == 8
    assert mix.__name__ == "mix"


def test_branches_and_loops():
    @vectorize
    def collatz(n):
        steps = 0
        while n > 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    n = np.arange(1, 200)
    np.testing.assert_array_equal(collatz(n), [collatz.py_func(int(i)) for i in n])


def test_division_by_zero_is_numpys():
    @vectorize
    def divide(a, b):
        return (a / b,)

    @vectorize
    def floor(a, b):
        return a // b

    with pytest.raises(TypeError):
        divide(1.0, 2.0)
    np.testing.assert_array_equal(floor(np.array([1, 2]), np.array([0, 2])), [0, 1])


def test_large_arrays_use_every_core():
    a = np.random.default_rng(0).random(1_000_001)
    np.testing.assert_array_equal(mix(a, a), numpy_mix(a, a))


def test_targets():
    for target in ("cpu", "parallel", "cuda"):

        @vectorize(target=target)
        def one(x):
            return x + 1

        assert one(1) == 2
    with pytest.raises(ValueError):
        vectorize(target="tpu")


def test_ufuncs_are_called_from_kernels():
    @vectorize
    def twice(x):
        return 2 * x

    @weft.njit
    def f(x):
        return twice(x) + 1

    assert f(3) == 7


def test_rules_of_casting():
    """As NumPy's ufuncs have them: loops are looked for with safe casts at the most, then the rule decides."""

    @weft.vectorize(["float32(float32)", "float64(float64)"])
    def declared(x):
        return x * 2

    @weft.vectorize
    def double(x):
        return x * 2

    ints, singles, doubles = np.arange(3), np.ones(3, np.float32), np.ones(3)
    assert declared(singles).dtype == np.float32 and declared(doubles, casting="no").dtype == np.float64
    assert declared(ints).dtype == np.float64
    for casting in ("no", "equiv"):
        with pytest.raises(TypeError):
            declared(ints, casting=casting)
        assert declared(doubles, casting=casting).dtype == np.float64
    out = np.zeros(3, np.float32)
    for casting, fits in (("no", False), ("equiv", False), ("safe", False), ("same_kind", True), ("unsafe", True)):
        for function in (declared, double, lambda x, **options: np.multiply(x, 2, **options)):
            if fits:
                assert function(doubles, out=out, casting=casting) is out
            else:
                with pytest.raises(TypeError):
                    function(doubles, out=out, casting=casting)
    whole = np.zeros(3, np.int64)
    with pytest.raises(TypeError):
        double(doubles, out=whole)
    assert double(doubles, out=whole, casting="unsafe").tolist() == [2, 2, 2]
    with pytest.raises(TypeError):
        double(doubles, dtype=np.int64)
    assert double(doubles, dtype=np.int64, casting="unsafe").dtype == np.int64
    with pytest.raises(TypeError):
        double(2.5, dtype=np.int64)
    for wrong in ("", "sloppy", "SAFE"):
        with pytest.raises(ValueError, match="casting must be one of"):
            double(doubles, casting=wrong)


def as_lies(x):
    """An array of NumPy's that lies as one on a device does."""
    return np.lib.stride_tricks.as_strided(np.zeros(x.size), x.shape, x.strides) if hasattr(x, "strides") else x


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_orders_of_results(target):
    """NumPy's letters in either case, and its order of axes; anything else is refused."""

    @vectorize(target=target)
    def add(x, y):
        return x + y

    a = np.arange(24.0).reshape(2, 3, 4)
    f = np.asfortranarray(a)
    swapped = np.transpose(np.arange(24.0).reshape(3, 4, 2), (2, 0, 1))
    operands = [(a, a), (a.T, a.T), (a, a.T.copy().T), (a[::-1], 1), (f, 1), (f, np.ones(4)), (f, np.ones((3, 1))), (f, np.ones((1, 4)))]
    operands += [(a[:1], f), (a[:1].transpose(0, 2, 1), f.transpose(0, 2, 1)), (swapped, 1), (swapped, f), (np.ones(4), swapped)]
    operands += [(a[:1, ::-1], swapped), (np.ones((3, 1)), np.ones((1, 4))), (np.ones(5), 1), (2, 3), (a[:0], 1), (f[:0], 1)]
    for order in ("C", "F", "A", "K", "c", "f", "a", "k", None):
        for x, y in operands:
            got, want = add(x, y, order=order), np.add(x, y, order=order)
            assert (got == want).all() and got.strides == want.strides, (order, x, y)
            if target == "cuda" and want.ndim and weft.cuda.is_available():
                sent = [weft.cuda.to_device(v) if isinstance(v, np.ndarray) else v for v in (x, y)]
                alike = [as_lies(v) for v in sent]
                on_device = add(*sent, order=order)
                assert (on_device.copy_to_host() == want).all()
                assert on_device.strides == np.add(*alike, order=order).strides or want.size == 0, (order, x, y)
    a = np.ones((2, 3))
    for wrong in ("Z", "", "CF", "c "):
        with pytest.raises(ValueError, match="order must be one of"):
            add(a, a, order=wrong)


def test_keywords_that_ufuncs_have_not():
    @vectorize
    def double(x):
        return x * 2

    for name, value in {"subok": False, "signature": "d->d", "sig": "d->d", "axis": 0, "wher": True}.items():
        with pytest.raises(TypeError, match=rf"^double\(\) .*{name}"):
            double(1.0, **{name: value})


@vectorize
def accumulate(x, y):
    for _ in range(3):
        x += y
    return x


@vectorize
def larger(x, y):
    return x * 2 - y if x > y else y + 1


@vectorize
def first(x, y):
    return (x, y)[0]


@vectorize
def three(x):
    return 3.0


@vectorize([float64(float64, float64)])
def declared(x, y):
    return max(x, y)


def of_all(a, b):
    column = a[:4].copy().reshape(4, 1)
    one = three(a)
    one[0] = 5.0
    return accumulate(a, b), larger(a, 0.5), first(column, b), one, larger(a, b).sum(), accumulate(a * 2, b)[1:], declared(a, b)


@pytest.mark.parametrize("parallel", [False, True])
def test_inside_compiled_functions(parallel):
    """Functions of numbers are given elements, whatever their bodies do with their parameters."""
    a, b = np.linspace(0, 1, 7), np.ones(7)
    got = weft.njit(of_all, parallel=parallel)(a, b)
    for one, want in zip(got, of_all(a, b), strict=True):
        np.testing.assert_array_equal(one, want)
    np.testing.assert_array_equal(a, np.linspace(0, 1, 7))
    np.testing.assert_array_equal(b, np.ones(7))
    assert weft.njit(lambda x: larger(x, 2.0))(3.0) == 4.0


@weft.vectorize
def with_scratch(x):
    scratch = np.zeros(2)
    scratch[0] = x
    scratch[1] = 2 * x
    return scratch[0] + scratch[1]


@weft.vectorize
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@weft.vectorize
def positive(x):
    if x <= 0:
        raise ValueError("not positive")
    return x * 2


@weft.vectorize
def shouting(x):
    print("shout", x)
    return x


def test_inside_it_cannot_do_what_it_cannot_do_from_python():
    """What makes arrays runs for a number on the host, and never in lanes, which would share them."""
    for call in (lambda: with_scratch(np.arange(5.0)), lambda: weft.njit(lambda a: with_scratch(a))(np.arange(5.0))):
        with pytest.raises(weft.UnsupportedError, match="makes a new array"):
            call()
    assert weft.njit(lambda x: with_scratch(x))(5.0) == 15.0


@pytest.mark.parametrize("parallel", [False, True])
def test_inside_it_may_call_itself(parallel):
    of_elements = weft.njit(lambda a: fibonacci(a) + 1, parallel=parallel)
    np.testing.assert_array_equal(of_elements(np.arange(20)), fibonacci(np.arange(20)) + 1)
    one = weft.njit(lambda a, n: (fibonacci(a).sum(), fibonacci(n)))
    assert one(np.arange(10), 10) == (88, 55)


def test_inside_it_takes_numbers_and_arrays():
    for operand, words in (("(1, 2)", "tuple"), ("[1, 2]", "list"), ("None", "None"), ("'a'", "str")):
        f = texts.function_of(f"def f():\n    return larger({operand}, 1)\n", {"larger": larger})
        with pytest.raises(weft.TypingError, match=f"'larger' takes numbers and arrays, not {words}"):
            weft.njit(f)()


@pytest.mark.parametrize("parallel", [False, True])
def test_inside_it_raises_and_prints_for_every_element(parallel, capfd):
    """Though one element, or none, is read."""
    a = np.array([1.0, -1.0, 2.0])
    for read in (lambda a: positive(a)[0], lambda a: positive(a).shape, lambda a: len(positive(a)), lambda a: positive(a)):
        with pytest.raises(ValueError, match="not positive"):
            weft.njit(read, parallel=parallel)(a)
    assert weft.njit(lambda a: positive(a)[2], parallel=parallel)(np.abs(a)) == 4.0
    weft.njit(lambda a: shouting(a)[0])(a)
    assert sorted(capfd.readouterr().out.splitlines()) == ["shout -1.0", "shout 1.0", "shout 2.0"]
