"""Whatever is wrong, an exception says so, with the line where there is one, and all data stays as it was."""

import itertools
import os
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


def test_ints_beyond_unsigned_64_bits():
    @njit
    def f(a):
        return a

    @cuda.jit
    def k(a):
        pass

    ufunc = weft.vectorize(lambda a: a)
    text = message(lambda: f(2**63), OverflowError)
    assert "np.uint64" in text and "argument a" in text
    for huge in (2**64, -(2**64), 10**5000):
        for call in (lambda n: f(n), lambda n: f((1, n)), lambda n: k[1, 1](n), lambda n: ufunc(n)):
            text = message(lambda call=call, huge=huge: call(huge), OverflowError)
            assert "uint64(" not in text


def test_attributes_that_numbers_do_not_have():
    text = message(lambda: njit(lambda n: n.shape)(1), weft.TypingError)
    assert "int" in text and "shape" in text and "^" in text


def test_length_of_ranges():
    @njit
    def f(a, b, c):
        return len(range(a, b, c))

    for bounds in [(0, 10, 1), (0, 10, 3), (10, 0, -3), (5, 5, 1), (5, 0, 1), (-7, 8, 2)]:
        assert f(*bounds) == len(range(*bounds))
    message(lambda: f(0, 1, 0), ValueError)
    assert njit(lambda n: len(range(n)))(7) == 7
    message(lambda: njit(lambda n: len(zip(range(n), range(n))))(7), weft.TypingError)


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


@pytest.mark.parametrize(
    "blocks, threads", [(2**40, 1), (2**70, 1), (-(2**70), 1), (1, 2**40), ((1, 2**40), 1), ((1, 1.5), 1), ((1, "2"), 1)]
)
def test_grids_beyond_all_hardware(blocks, threads):
    a = np.zeros(1)
    text = message(lambda: kernel_of_nothing()[blocks, threads](a), weft.LaunchError)
    assert any(word in text for word in ("limit", "at least 1", "expected an int"))
    message(lambda: kernel_of_nothing().forall(2**70)(a), weft.LaunchError)
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
        for _ in range(2):
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


def test_checked_mode_finds_plain_accesses_beside_atomic_ones():
    @cuda.jit(**CHECKED)
    def reads(out):
        i = cuda.threadIdx.x
        cuda.atomic.add(out, 0, 1)
        out[i + 1] = out[0]

    @cuda.jit(**CHECKED)
    def writes(out):
        i = cuda.threadIdx.x
        if i == 3:
            out[0] = 5
        cuda.atomic.add(out, 0, 1)

    @cuda.jit(**CHECKED)
    def waits(out):
        i = cuda.threadIdx.x
        cuda.atomic.add(out, 0, 1)
        cuda.syncthreads()
        out[i + 1] = out[0]

    for kernel in (reads, writes):
        assert "race" in message(lambda kernel=kernel: kernel[1, 32](np.zeros(33)), AssertionError)
    out = np.zeros(33)
    waits[1, 32](out)
    assert out.tolist() == [32] * 33


def test_checked_kernels_divide_as_python():
    def divide(a, b, out):
        i = cuda.grid(1)
        out[i] = a[i] // b[i] if i < 16 else a[i] / b[i]

    for kind in (np.int64, np.float64):
        a, b, out = np.ones(32, kind), np.ones(32, kind), np.zeros(32)
        checked, plain = cuda.jit(**CHECKED)(divide), cuda.jit(divide)
        checked[1, 32](a, b, out)
        assert out.tolist() == [1] * 32
        for zero in (3, 20):
            b[:] = 1
            b[zero] = 0
            message(lambda checked=checked, a=a, b=b, out=out: checked[1, 32](a, b, out), ZeroDivisionError)
            plain[1, 32](a, b, out)


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


def run_python(*arguments, **environment):
    """A Python process of its own."""
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env={**os.environ, **environment})


def test_a_program_without_a_console_prints_nothing(tmp_path):
    program = tmp_path / "prints.py"
    program.write_text("""
import sys, weft
@weft.njit
def f(x):
    print("said", x)
    return x
stdout, sys.stdout = sys.stdout, None
assert f(3) == 3
sys.stdout = stdout
f(4)
""")
    run = run_python(str(program))
    assert (run.returncode, run.stdout) == (0, "said 4\n"), run.stderr


def test_assertions_go_with_the_option_that_drops_them(tmp_path):
    program = tmp_path / "asserts.py"
    program.write_text("""
import weft
@weft.njit
def f(x):
    assert x > 0, "positive"
    return 2 if __debug__ else 1
try:
    print(f(-1))
except AssertionError:
    print("raised", f(1))
""")
    assert run_python(str(program)).stdout == "raised 2\n"
    assert run_python("-O", str(program)).stdout == "1\n"


@pytest.mark.parametrize("wish", ["abc", "0", "-1", "1.5", "100000"])
def test_numbers_of_threads_that_cannot_be(wish):
    run = run_python("-c", "import weft", WEFT_NUM_THREADS=wish)
    assert run.returncode == 1 and "ValueError: WEFT_NUM_THREADS is" in run.stderr and wish in run.stderr
    if wish.lstrip("-").isdigit():
        before = weft.get_num_threads()
        assert "between 1 and" in message(lambda: weft.set_num_threads(int(wish)), ValueError)
        assert weft.get_num_threads() == before


def test_the_number_of_threads_is_what_the_environment_says():
    for wish, number in (("1", "1"), (" 3 ", "3")):
        assert run_python("-c", "import weft; print(weft.get_num_threads())", WEFT_NUM_THREADS=wish).stdout.strip() == number


def test_the_command_is_silent_about_screens():
    environment = {name: value for name, value in os.environ.items() if name not in ("XDG_RUNTIME_DIR", "DISPLAY", "NODEVICE_SELECT")}
    run = subprocess.run([sys.executable, "-m", "weft.cli", "info"], capture_output=True, text=True, env=environment)
    assert (run.returncode, run.stderr) == (0, "")
    assert "cpu" in run.stdout
