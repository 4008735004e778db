"""Whatever is wrong, an exception says so, with the line where there is one, and all data stays as it was."""

import itertools
import subprocess
import sys
import textwrap
import unittest.mock

import numpy as np
import pytest

import weft
from weft import cuda, njit


def message(call, error):
    """What a traceback shows of the error: its message and its notes."""
    with pytest.raises(error) as caught:
        call()
    return "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])


def points_at(text, code):
    """The message shows the source line with carets below `code`."""
    lines = text.splitlines()
    for line, under in itertools.pairwise(lines):
        at = line.find(code)
        if at >= 0 and "^" in under:
            return under.index("^") == at
    return False


def test_syntax_outside_the_language():
    @njit
    def f(x):
        with open("file") as g:
            return g

    text = message(lambda: f(1), weft.UnsupportedError)
    assert "test_bad_input.py:" in text and "with open" in text and "^" in text


def test_undefined_name():
    @njit
    def f(x):
        return x + missing  # noqa: F821

    text = message(lambda: f(1), weft.NameError_)
    assert points_at(text, "missing")
    with pytest.raises(NameError):
        f(1)


def test_types_that_do_not_fit_show_both_places():
    @njit
    def f(flag):
        if flag:
            x = 1.0
        else:
            x = (1, 2)
        return x

    text = message(lambda: f(True), weft.TypingError)
    assert "x = 1.0" in text and "x = (1, 2)" in text
    with pytest.raises(TypeError):
        f(True)


def test_wrong_operands():
    @njit
    def f(a):
        return a + (1, 2)

    text = message(lambda: f(1), weft.TypingError)
    assert "^" in text


def test_number_of_arguments():
    @njit
    def f(a, b=1):
        return a + b

    assert "missing its argument 'a'" in message(lambda: f(), TypeError)
    assert "3 were given" in message(lambda: f(1, 2, 3), TypeError)
    assert "no parameter 'c'" in message(lambda: f(1, c=2), TypeError)
    assert "two values for 'a'" in message(lambda: f(1, a=2), TypeError)

    @njit
    def g():
        return f(1, 2, 3)

    assert "^" in message(g, weft.ArgumentError)


def test_variadic_functions_are_refused():
    @njit
    def f(*args):
        return args

    assert "*args" in message(lambda: f(1), weft.UnsupportedError)


def test_wrong_rank():
    @njit
    def f(a):
        return a[0, 0]

    text = message(lambda: f(np.zeros(3)), weft.TypingError)
    assert points_at(text, "0, 0]")

    @njit("float64(float64[:, :])")
    def g(a):
        return a[0, 0]

    assert "float64[::1]" in message(lambda: g(np.zeros(3)), weft.TypingError)


@pytest.mark.parametrize(
    "bad, word",
    [
        (np.array([None]), "object"),
        (np.zeros(2, [("x", float)]), "dtype"),
        (np.zeros(2, ">f8" if sys.byteorder == "little" else "<f8"), "order"),
        (np.frombuffer(bytearray(17), np.uint8)[1:].view(np.float64), "aligned"),
        (np.array(["a"]), "dtype"),
        (np.zeros(2, np.longdouble), "dtype"),
        (np.ma.masked_array([1.0]), "MaskedArray"),
        ([1.0, 2.0], "list"),
        ({}, "dict"),
        ("text", "str"),
    ],
)
def test_arguments_without_a_type(bad, word):
    @njit
    def f(a):
        return 0

    @weft.vectorize
    def g(a):
        return a

    assert word in message(lambda: f(bad), weft.TypingError)
    assert word in message(lambda: f((1, bad)), weft.TypingError)
    if not isinstance(bad, list):
        message(lambda: g(bad), TypeError)


def test_ints_beyond_64_bits():
    @njit
    def f(a):
        return a

    message(lambda: f(2**63), OverflowError)
    assert f(-(2**63)) == -(2**63)


def test_read_only_arrays():
    @njit
    def f(a):
        a[0] = 1

    a = np.zeros(3)
    a.flags.writeable = False
    text = message(lambda: f(a), weft.TypingError)
    assert "read-only" in text and points_at(text, "a[0]")
    assert a[0] == 0

    @njit
    def g(a):
        return a[0]

    assert g(a) == 0


def test_tuple_index_out_of_range():
    @njit
    def f(x):
        return (x, x)[2]

    assert "^" in message(lambda: f(1), (weft.ConstantError, weft.TypingError))


def test_division_by_a_literal_zero():
    @njit
    def f(x):
        return x // 0

    text = message(lambda: f(1), (weft.ConstantError, ZeroDivisionError))
    assert "zero" in text and "^" in text


def test_errors_while_running_name_the_line():
    @njit
    def f(a, i):
        assert i < 10, "too large"
        return 1 // (i - 3)

    assert f(np.zeros(1), 5) == 0
    text = message(lambda: f(np.zeros(1), 11), AssertionError)
    assert "too large" in text and "assert i < 10" in text
    text = message(lambda: f(np.zeros(1), 3), ZeroDivisionError)
    assert "1 // (i - 3)" in text


def test_recursion():
    @njit
    def f(n):
        return n * f(n - 1) if n else 1

    assert "recurs" in message(lambda: f(3), weft.UnsupportedError)


def kernel_of_nothing():
    @cuda.jit
    def k(a):
        a[0] = 1

    return k


@pytest.mark.parametrize(
    "blocks, threads",
    [(1, 1025), (1, (32, 64)), (1, (1, 1, 65)), (0, 1), (-1, 1), (1, 0), ((1, 1, 1, 1), 1), ("a", 1), ((1, 0), 1), (1.5, 1)],
)
def test_grids_that_cannot_be(blocks, threads):
    a = np.zeros(1)
    text = message(lambda: kernel_of_nothing()[blocks, threads](a), weft.LaunchError)
    assert text
    assert a[0] == 0


def test_a_kernel_needs_a_grid():
    assert "[blocks, threads]" in message(lambda: kernel_of_nothing()(np.zeros(1)), TypeError)
    message(lambda: kernel_of_nothing()[1](np.zeros(1)), weft.LaunchError)
    message(lambda: kernel_of_nothing().forall((1, 1, 1, 1)), weft.LaunchError)
    message(lambda: kernel_of_nothing().forall(-1), weft.LaunchError)


def test_a_kernel_returns_nothing():
    @cuda.jit
    def k(a):
        return a[0]

    assert "return" in message(lambda: k[1, 1](np.zeros(1)), (weft.TypingError, weft.UnsupportedError))


def test_too_much_shared_memory():
    @cuda.jit
    def k(a):
        s = cuda.shared.array(10_000_000, weft.types.float64)
        s[0] = 1
        cuda.syncthreads()
        a[0] = s[0]

    assert "shared" in message(lambda: k[1, 1](np.zeros(1)), (weft.UnsupportedError, weft.ConstantError))


def test_a_barrier_under_divergent_control():
    @cuda.jit
    def k(a):
        i = cuda.threadIdx.x
        if i < 3:
            cuda.syncthreads()
        a[i] = i

    # On CUDA it is for the hardware to say.
    with weft.device("cpu"):
        text = message(lambda: k[1, 32](np.zeros(32)), weft.UnsupportedError)
    assert points_at(text, "cuda.syncthreads()")


def test_kernel_names_outside_kernels():
    message(lambda: cuda.grid(1), RuntimeError)
    message(lambda: cuda.threadIdx.x, RuntimeError)
    message(lambda: cuda.shared.array(3, np.float32), RuntimeError)


def test_lambdas_without_source_say_what_to_do():
    assert "interactive" in message(lambda: njit(eval("lambda x: x")), weft.SourceError)


def test_functions_without_source_say_what_to_do():
    namespace = {}
    exec("def f(x): return x", namespace)
    assert "file" in message(lambda: njit(namespace["f"]), weft.SourceError)
    run = subprocess.run([sys.executable, "-c", "import weft\ndef f(x): return x\nweft.njit(f)"], capture_output=True, text=True)
    # Since 3.13 Python keeps the text of -c.
    assert "SourceError" in run.stderr if sys.version_info < (3, 13) else run.returncode == 0


def test_decorating_something_else():
    message(lambda: njit(3), TypeError)
    message(lambda: njit("float65(int32)"), TypeError)
    message(lambda: njit(error_model="c"), ValueError)
    message(lambda: njit(forceobj=True), weft.UnsupportedError)


def test_a_file_edited_since_import(tmp_path, monkeypatch):
    path = tmp_path / "edited_module.py"
    source = """
    def plain(x):
        return x + 1

    def make():
        import weft
        return weft.njit(plain)
    """
    path.write_text(textwrap.dedent(source))
    monkeypatch.syspath_prepend(tmp_path)
    import edited_module

    assert edited_module.make()(1) == 2
    path.write_text(textwrap.dedent(source).replace("x + 1", "x + 2"))
    assert "edited" in message(edited_module.make, weft.SourceError)


CHECKED = dict(debug=True)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes before Python 3.11")
def test_an_exception_has_the_message_that_the_program_gave_it():
    @njit
    def root(x):
        if x < 0:
            raise ValueError("negative")
        return x**0.5

    with pytest.raises(ValueError) as caught:
        root(-1.0)
    assert caught.value.args == ("negative",)
    assert len(caught.value.__notes__) == 1 and points_at(caught.value.__notes__[0], 'raise ValueError("negative")')


def test_checked_mode_finds_indices_out_of_bounds():
    @cuda.jit(**CHECKED)
    def k(a, b):
        i = cuda.grid(1)
        b[i] = a[i + 1]

    a, b = np.zeros(32), np.zeros(32)
    text = message(lambda: k[1, 32](a, b), IndexError)
    for part in ("a", "32", "31", "a[i + 1]"):
        assert part in text


def test_checked_mode_finds_races():
    @cuda.jit(**CHECKED)
    def k(out):
        s = cuda.shared.array(32, np.float64)
        i = cuda.threadIdx.x
        s[0] = i
        cuda.syncthreads()
        out[i] = s[0]

    out = np.zeros(32)
    text = message(lambda: k[1, 32](out), AssertionError)
    assert "race" in text and points_at(text, "s[0] = i")


def test_checked_mode_finds_uninitialised_reads():
    @njit(**CHECKED)
    def f():
        a = np.empty(3)
        return a[1]

    text = message(f, AssertionError)
    assert "before anything wrote it" in text and points_at(text, "a[1]")


def test_the_process_survives_it_all():
    @njit
    def f(x):
        return x + 1

    assert f(1) == 2


def test_objects_that_answer_to_any_name():
    anything = unittest.mock.MagicMock()

    @njit
    def f(x):
        return anything(x)

    assert "cannot be called" in message(lambda: f(1), weft.TypingError)
