"""Where the text of a function comes from when no file has it: strings given to `exec`, `python -c`, the standard input, a session."""

import linecache
import os
import subprocess
import sys
import textwrap
import time

import pytest

import weft
from weft import njit

PROGRAM = """
from weft import njit

@njit
def f(x):
    return x + 1

print("gives", f(1), njit(lambda x: x * 3)(2))
"""


def added(text, name="f", **names):
    exec(text, names)
    return names[name]


def test_a_string_given_to_exec():
    text = "def f(x, y=2):\n    return x * y\n"
    assert njit(added(text))(3) == 6


def test_an_indented_string():
    text = """
        def f(x):
            return [3 * x, x][0]
    """
    assert njit(added(textwrap.dedent(text)))(3) == 9


def test_of_two_strings_the_one_that_was_compiled():
    for factor in (2, 3, 4):
        two, three, four = (f"def f(x):\n    return x * {k}\n" for k in (2, 3, 4))
        assert two in (two, three, four)
        assert njit(added(f"def f(x):\n    return x * {factor}\n"))(10) == 10 * factor


def test_strings_that_differ_in_a_function_inside_only():
    one = "def make(k):\n    def f(x):\n        return (lambda y: y + 1)(x)\n    return f\n"
    two = one.replace("y + 1", "y + 2")
    found = [added(text, "make")(0).__code__ for text in (one, two)]
    from weft import _texts

    assert _texts._holds(one, found[0]) and not _texts._holds(two, found[0])
    assert _texts._holds(two, found[1]) and not _texts._holds(one, found[1])


def test_a_string_given_to_eval():
    text = "  lambda x: x + 5"
    assert njit(eval(text))(1) == 6


def test_several_lambdas_of_a_line():
    fs = [eval(f"(lambda x: x + {k}, lambda x: x * {k})") for k in (2, 3)]
    for k, pair in zip((2, 3), fs, strict=True):
        text = f"(lambda x: x + {k}, lambda x: x * {k})"
        assert [njit(f)(10) for f in pair] == [10 + k, 10 * k], text


def gone(text):
    exec(text, names := {})
    return names["f"]


def test_a_string_that_is_gone_says_what_to_do():
    f = gone("".join(["def f(x):\n", "    return x\n"]))
    with pytest.raises(weft.SourceError, match=r"linecache\.cache") as caught:
        njit(f)
    assert "gone" in str(caught.value)


def test_what_the_message_says_to_do():
    def make():
        name, text = "<made here>", "def f(x):\n    " + "return x + 7\n"
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        names = {}
        exec(compile(text, name, "exec"), names)
        return names["f"]

    assert njit(make())(1) == 8


def test_a_name_whose_text_was_replaced():
    def tell(text):
        linecache.cache["<told>"] = len(text), None, text.splitlines(True), "<told>"
        return text

    exec(compile(tell("def f(x):\n    return x + 1\n"), "<told>", "exec"), names := {})
    tell("def f(x):\n    return x + 2\n")
    assert linecache.getlines("<told>")[1] == "    return x + 2\n"
    # The text it was made from stands in this function.
    assert njit(names["f"])(1) == 2


def test_code_of_a_name_that_is_no_file_is_not_taken_from_the_module():
    # Asked for the lines of a name it does not know, linecache gives those of the module whose globals it was given.
    text = "def test_a_string_given_to_exec(x):\n    return x - 1\n"
    exec(compile(text, "no such file", "exec"), names := {"__name__": __name__, "__loader__": __loader__})
    assert njit(names["test_a_string_given_to_exec"])(3) == 2


def test_a_renamed_function():
    def f(x):
        return x + 1

    f.__name__ = f.__qualname__ = "another"
    assert njit(f)(1) == 2
    assert njit(f).__name__ == "another"


def test_annotations_of_the_future():
    text = "from __future__ import annotations\ndef f(x: nothing):\n    return x\n"
    assert njit(added(text))(3) == 3


def test_parameters_of_other_kinds():
    wrong = "def f(a, b=5):\n    return b\n"
    right = "def f(a, *b):\n    return b\n"
    assert wrong != right
    assert njit(added(right))(1, 2) == (2,)
    more, less = "def f(a, *, b=1):\n    return b\n", "def f(a, b=1):\n    return b\n"
    assert more != less
    assert njit(added(less))(1, 2) == 2


def test_lambdas_with_defaults_and_lambdas_inside():
    assert njit(lambda x, y=2: x + y)(1) == 3
    assert njit(lambda x, f=lambda q: q + 1: f(x))(1) == 2

    def made(k):
        return njit(lambda x: (lambda y: y + k)(x))

    assert made(5)(1) == 6


def test_names_that_exec_made_stay():
    ns = locals()
    exec("def f(x): return x\ndef g(x): return x + 1", globals(), ns)
    f = njit(ns["f"])
    g = njit(ns["g"])
    assert (f(1), g(1)) == (1, 2)


def run(*args, **how):
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, timeout=120, **how)


def test_python_c():
    done = run("-Wignore", "-c", PROGRAM)
    assert "gives 2 6" in done.stdout, done.stderr


def test_the_standard_input(tmp_path):
    file = tmp_path / "program"
    file.write_text(PROGRAM)
    for args in ((), ("-",)):
        with file.open() as program:
            done = run(*args, stdin=program)
        assert "gives 2 6" in done.stdout, done.stderr


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python 3.13 keeps the text")
def test_a_pipe_says_what_to_do():
    done = run("-", input=PROGRAM)
    assert "came through a pipe" in done.stderr and "Put the function into a file" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no terminals to open")
def test_an_interactive_session():
    pytest.importorskip("readline")
    import pty

    main, other = pty.openpty()
    env = {**os.environ, "TERM": "dumb", "PYTHON_BASIC_REPL": "1", "HOME": "/nonexistent"}
    session = subprocess.Popen([sys.executable, "-q", "-i"], stdin=other, stdout=other, stderr=other, env=env)
    os.close(other)
    typed = ["from weft import njit", "def f(x):", "    return x + 1", "", "f = njit(f)", "@njit", "def g(x): return f(x) * 10", ""]
    typed += ["h = njit(lambda x: x - 1)", "print('gives', f(1), g(1), h(1))", "exit()"]
    for line in typed:
        os.write(main, f"{line}\n".encode())
    said, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        try:
            said += os.read(main, 4096)
        except OSError:
            break
    session.wait(timeout=60)
    os.close(main)
    assert b"gives 2 20 0" in said, said.decode()


def test_a_file_edited_before_the_first_decoration(tmp_path):
    program = """
import os, sys, time
path = sys.argv[1] + "/edited_early.py"
open(path, "w").write("def f(x):\\n    return x + 1\\n")
os.utime(path, (1e9, 1e9))
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import weft, edited_early
time.sleep(0.1)
open(path, "w").write("def f(x):\\n    return x + 2\\n")
try:
    print("gives", weft.njit(edited_early.f)(1))
except weft.SourceError as error:
    print("refused", "edited" in str(error))
"""
    done = run("-c", program, str(tmp_path))
    assert "refused True" in done.stdout, done.stdout + done.stderr
