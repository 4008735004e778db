"""Variables hold what they do in Python, or are refused: behind parallel loops, where they may not be assigned; a list is no tuple."""

import numpy as np
import pytest
from support import texts

import weft
from weft import cuda, njit, prange

A = np.array([1, 3, 2, 3, 5, 0, 7, 4] * 40)


def found(a):
    seen = False
    for i in prange(a.size):
        if a[i] == 3:
            seen = True
    return seen


def found_with_else(a, at):
    code = 7
    for i in prange(a.size):
        if a[i] == at:
            code = 11
        if a[i] == at + 1:
            code = 11
    return code


def found_none(a):
    seen = True
    for i in prange(a.size):
        if a[i] > 100:
            seen = False
    return seen


def last_value(a):
    x = -1
    for i in prange(a.size):
        x = a[i] * 2
    return x


def last_index(a):
    for i in prange(a.size):
        a[i] += 0
    return i


def last_index_of_a_step(a):
    for i in prange(2, a.size, 3):
        a[i] += 0
    return i


def last_of_both_branches(a):
    y = 0.0
    s = 0
    for i in prange(a.size):
        s += a[i]
        if a[i] > 2:
            y = a[i] * 0.5
        else:
            y = a[i] * 2.0
    return y, s


def last_row(a):
    m = a.reshape(-1, 4)
    row = m[0]
    for i in prange(m.shape[0]):
        row = m[i]
    return row.sum()


def last_with_sum_of_arrays(a):
    total = np.zeros(4)
    last = 0
    m = a.reshape(-1, 4)
    for i in prange(m.shape[0]):
        total += m[i]
        last = m[i, 0]
    return total.sum(), last, i


def last_after_a_continue(a):
    x = 5
    for i in prange(a.size):
        x = a[i]
        if a[i] > 2:
            continue
        a[i] += 0
    return x


def used_in_an_outer_loop(a):
    out = 0
    for k in range(3):
        for i in prange(a.size):
            x = a[i] + k
        out += x
    return out


def assigned_in_an_inner_loop(a):
    out = np.zeros(a.size)
    for i in prange(a.size):
        for j in range(3):
            d = a[i] + j
        out[i] = d
    return out


def found_and_last(a):
    found = False
    for i in prange(a.size):
        if a[i] == 3:
            found = True
        x = a[i]
    return found, x


PARALLEL = [found, found_and_last, found_none, last_value, last_index, last_index_of_a_step, last_of_both_branches, last_row,
            last_with_sum_of_arrays, last_after_a_continue, used_in_an_outer_loop, assigned_in_an_inner_loop]  # fmt: skip


@pytest.mark.parametrize("function", PARALLEL, ids=lambda f: f.__name__)
def test_behind_a_parallel_loop(function):
    for a in (A, A[:8], A[:4]):
        expected = function(a.copy())
        np.testing.assert_array_equal(njit(parallel=True)(function)(a.copy()), expected)
        np.testing.assert_array_equal(njit(function)(a.copy()), expected)


def test_one_constant_from_several_places():
    compiled = njit(parallel=True)(found_with_else)
    for at in (3, 0, 6, 50):
        assert compiled(A, at) == found_with_else(A, at)


@pytest.mark.parametrize("function", [last_value, found])
def test_no_iterations(function):
    assert njit(parallel=True)(function)(A[:0]) == function(A[:0])


def test_no_iterations_and_nothing_before():
    with pytest.raises(UnboundLocalError):
        njit(parallel=True)(last_index)(A[:0].copy())
    with pytest.raises(UnboundLocalError):
        last_index(A[:0].copy())


def test_what_depends_on_the_order_is_refused():
    def last_that_fits(a):
        x = -1
        for i in prange(a.size):
            if a[i] > 3:
                x = i
        return x

    def two_constants(a):
        x = 0
        for i in prange(a.size):
            if a[i] > 3:
                x = 1
            elif a[i] > 2:
                x = 2
        return x

    def last_that_fits_beside_the_last(a):
        x = -1
        for i in prange(a.size):
            y = a[i]
            if y > 3:
                x = i
        return x + y

    for function in (last_that_fits, two_constants, last_that_fits_beside_the_last):
        with pytest.raises(weft.errors.UnsupportedError, match="'x' is read here, and only some iterations") as caught:
            njit(parallel=True)(function)(A)
        assert "return x" in str(caught.value)
        assert njit(function)(A) == function(A)


def test_what_is_carried_is_refused():
    def always(a):
        out = np.zeros(a.size)
        before = 0
        for i in prange(a.size):
            out[i] = before
            before = a[i]
        return out

    with pytest.raises(weft.errors.UnsupportedError, match="'before' carries a value"):
        njit(parallel=True)(always)(A)

    def sometimes(a):
        out = np.zeros(a.size)
        t = 0
        for i in prange(a.size):
            if a[i] > 0:
                t = a[i]
            out[i] = t
        return out

    with pytest.raises(UnboundLocalError, match="'t' is read in an iteration of a prange that did not assign it"):
        njit(parallel=True)(sometimes)(A)
    positive = A + 1
    np.testing.assert_array_equal(njit(parallel=True)(sometimes)(positive), sometimes(positive))


def test_the_last_iteration_sees_no_more_than_the_others():
    def sometimes(a):
        x = 7.0
        y = 0.0
        for i in prange(a.size):
            if a[i] > 0:
                x = a[i]
            y = x
            x = 5.0
        return x, y

    compiled = njit(parallel=True)(sometimes)
    for a in (np.array([1.0, 2.0, 0.0]), np.array([0.0, 2.0, 1.0]), np.array([0.0])):
        with pytest.raises(UnboundLocalError, match="'x' is read in an iteration of a prange that did not assign it"):
            compiled(a)
    assert compiled(A[A > 0] * 1.0) == sometimes(A[A > 0] * 1.0)


def test_the_index_is_not_accumulated():
    for text in ("i += 1", "i *= 2", "i = i + 5", "i = min(i, 1)", "i = max(i, 2)", "if n > 2:\n            i -= 2"):
        source = f"def f(n):\n    i = 77\n    for i in prange(1, n):\n        {text}\n    return i\n"
        function = texts.function_of(source, {"prange": prange})
        compiled = njit(parallel=True)(function)
        assert [compiled(n) for n in (1, 2, 5, 1000)] == [function(n) for n in (1, 2, 5, 1000)], text


@njit
def added(p, q):
    return p + q


def test_names_mean_what_they_are_bound_to():
    max = added

    def not_the_greatest(n):
        x = 0
        for i in prange(n):
            x = max(x, i)
        return x

    with pytest.raises(weft.errors.UnsupportedError, match="'x' carries a value"):
        njit(parallel=True)(not_the_greatest)(1000)


@pytest.mark.parametrize(
    "how", ["np.fmax(x, v)", "np.fmin(v, x)", "max(v, x)", "min(v, x)", "max(x, v)", "np.maximum(x, v)", "np.minimum(v, x)"]
)
@pytest.mark.parametrize("start", ["np.nan", "-1.0", "9.0"])
def test_extremes_of_nans(how, start):
    source = f"def f(a):\n    x = {start}\n    for i in prange(a.size):\n        v = a[i]\n        x = {how}\n    return x\n"
    function = texts.function_of(source, {"np": np, "prange": prange})
    compiled = njit(parallel=True)(function)
    values = np.arange(1.0, 1001) % 7
    for at in ([], [0], [500], [999], list(range(1000))):
        a = values.copy()
        a[at] = np.nan
        np.testing.assert_array_equal(compiled(a), function(a), err_msg=f"{how} {start} {at[:2]}")


# ---- variables that may not be assigned ----


def one_branch(n):
    if n > 0:
        x = n * 2
    return x


def a_loop(n):
    for i in range(n):
        x = i
    return x + i


def after_a_break(n):
    while True:
        if n > 3:
            break
        x = n
        if n > 1:
            break
        n += 1
    return x


def a_tuple(n):
    if n > 1:
        t = (n, 2.5)
    return t[0] + t[1]


def in_a_loop(n):
    s = 0
    for i in range(n):
        if i > 1:
            x = i
        if i > 2 or n > 5:
            s += x
    return s


def an_array(n):
    if n > 0:
        a = np.ones(n)
    return a.sum()


@pytest.mark.parametrize("function", [one_branch, a_loop, after_a_break, a_tuple, in_a_loop, an_array], ids=lambda f: f.__name__)
def test_a_variable_that_may_not_be_assigned(function):
    compiled = njit(function)
    for n in range(-1, 8):
        try:
            expected = function(n)
        except UnboundLocalError as error:
            with pytest.raises(UnboundLocalError) as caught:
                compiled(n)
            assert str(caught.value).startswith(str(error))
        else:
            assert compiled(n) == expected


def test_no_check_where_it_is_assigned_for_sure():
    def f(n):
        for i in range(4):
            x = n * i
        if n > 0:
            y = 1
        else:
            y = 2
        while True:
            z = x + y
            if z > 3:
                break
            n += 1
            x += 1
        return x + y + z + i

    compiled = njit(f)
    assert compiled(3) == f(3)
    (text,) = compiled.inspect_ir().values()
    assert "raise" not in text


@pytest.mark.parametrize("device", ["cpu", "cuda:0", "vulkan:0"])
def test_in_a_kernel(device):
    if device not in [d.name for d in weft.devices()]:
        pytest.skip(f"no {device} here")

    @cuda.jit
    def kernel(out, least):
        i = cuda.grid(1)
        if i >= least:
            x = i * 2
        if i < out.size:
            out[i] = x

    with weft.device(device):
        out = np.zeros(40, np.int64)
        kernel[2, 32](out, 0)
        np.testing.assert_array_equal(out, np.arange(40) * 2)
        with pytest.raises(UnboundLocalError, match="'x'"):
            kernel[2, 32](out, 5)
            cuda.synchronize()


# ---- lists ----


def test_a_list_is_not_returned():
    for function in (
        lambda: [1, 2, 3],
        lambda: (1, [2, 3]),
        lambda: list((1, 2)),
        lambda: [1] + [2],
        lambda: [1, 2] * 2,
        lambda: [1, 2, 3][1:],
    ):
        with pytest.raises(weft.errors.UnsupportedError, match="returns a list"):
            njit(function)()


def test_lists_are_lists_where_they_may_be(capfd):
    def same():
        xs = [1, 2, 3]
        total = 0
        for x in [4, 5]:
            total += x
        return (
            xs == [1, 2, 3],
            xs == (1, 2, 3),
            (1, 2, 3) != xs,
            xs[1],
            len(xs),
            2 in xs,
            sum(xs),
            max([7, 9]),
            tuple(xs),
            tuple(xs[1:]),
            total,
        )

    assert njit(same)() == same()

    @njit
    def third(xs):
        return xs[2]

    @njit
    def passes():
        return third([5, 6, 7]) + third((1, 2, 3))

    assert passes() == 10

    def shows(x):
        print([1, x], (1, x), [(1, x)])

    njit(shows)(2)
    shown = capfd.readouterr().out
    shows(2)
    assert shown == capfd.readouterr().out


def test_what_lists_do_in_python_alone():
    def grows():
        xs = [1]
        ys = xs
        xs += [2]
        return len(ys)

    def mixed():
        return len([1] + (2,))

    for function in (grows, mixed):
        with pytest.raises(weft.errors.WeftError):
            njit(function)()


def test_iterators_are_no_tuples():
    def kept():
        pairs = zip((1, 2), (3, 4))
        return tuple(pairs)

    for function in (
        lambda: zip((1, 2), (3, 4)),
        lambda: enumerate((1, 2)),
        lambda: reversed((1, 2)),
        lambda: zip((1, 2), (3, 4))[0],
        kept,
    ):
        with pytest.raises(weft.errors.WeftError):
            njit(function)()

    def looped():
        s = 0
        for i, (x, y) in enumerate(zip((1, 2), reversed((3, 4)))):
            s += i * x * y
        return s, tuple(zip((1, 2), (3, 4)))

    assert njit(looped)() == looped()


# ---- signatures ----


def test_an_argument_that_the_declared_type_does_not_have():
    f = njit("uint32(uint32)")(lambda x: x)
    assert f(2**32 - 1) == 2**32 - 1
    for wrong in (-1, 2**32, np.int64(-1), 1e20, float("nan")):
        with pytest.raises(OverflowError, match="does not fit uint32"):
            f(wrong)
    g = njit("int8(int8)")(lambda x: x)
    assert g(-128) == -128
    with pytest.raises(OverflowError):
        g(128)


def test_a_result_that_is_not_declared():
    for signature, function in (
        ("void(int64)", lambda x: x),
        ("int64(int64)", lambda x: None),
        ("float64(int64)", lambda x: (x, x)),
        ("float64(int64)", lambda x: x * 1j),
        ("float64[:](int64)", lambda x: np.zeros(x, np.float32)),
        ("float64(int64)", lambda x: np.zeros(x)),
    ):
        with pytest.raises(weft.errors.TypingError, match="signature declares"):
            njit(signature)(function)(3)
    assert njit("void(int64)")(lambda x: None)(3) is None
    assert njit("float32(int64)")(lambda x: x)(3) == np.float32(3)
