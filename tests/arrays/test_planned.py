"""Captured graphs that call routines run by plans: the same bits as without, whatever memory arguments have, and given up or not."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import weft
from arrays.captured import Captured, host, same
from weft._weft import _part_bytes

PROGRAMS = int(os.environ.get("WEFT_GRAPHS", "150"))


def planned(compiled):
    """How many steps the plans of a compiled function have."""
    return [graph.planned for graph, _ in compiled._graphs.values()]


def address(x):
    return np.asarray(x).ctypes.data


@pytest.mark.parametrize("donate", [False, True])
def test_random_programs(donate):
    """A product beside a program makes it one that runs by a plan."""
    plans = 0
    for seed in range(PROGRAMS):
        program = Captured(seed)

        def f(m, given, program=program):
            found = program(*given)
            return found, m @ m, given

        _part_bytes(16 << seed % 5 if seed % 2 else None)
        compiled = weft.compile(f, donate=(1,) if donate else ())
        try:
            for turn in range(3):
                m = weft.asarray(np.arange(9.0).reshape(3, 3) + turn)
                expected = host(f(m, program.arrays(turn)))
                assert same(host(compiled(m, program.arrays(turn))), expected), (seed, turn, program.lines)
        finally:
            _part_bytes(None)
        assert compiled.captures == 1
        plans += planned(compiled) != [None]
    # Others call what is no routine, as sorts, or write to parts of their arguments.
    assert plans > PROGRAMS * 0.25


def softmax_step(params, x):
    """A bit of everything: products, folds, stages, updates of parts, results that are views."""
    w, b = params
    z = x @ w + b
    e = weft.exp(z - z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    d = p.copy()
    d[:, 0] -= 1
    g = x.T @ d
    return (w - 0.1 * g, b - 0.1 * d.sum(axis=0)), p.T, weft.log(p[:, 0]).sum(), g[::-1]


def inputs(seed, rows=20, dtype="f4"):
    rng = np.random.default_rng(seed)
    w, b, x = (weft.asarray(rng.standard_normal(shape).astype(dtype)) for shape in ((6, 5), (5,), (rows, 6)))
    return (w, b), x


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("rows", [1, 20, 3000])
def test_steps(rows, dtype):
    def step(params, x):
        return softmax_step(params, x) if x.dtype.kind == "f" else (x @ params[0] + params[1], (x.conj() @ params[0]).sum())

    compiled = weft.compile(step)
    for seed in range(4):
        assert same(host(compiled(*inputs(seed, rows, dtype))), host(step(*inputs(seed, rows, dtype))))
    assert planned(compiled)[0] > 1


def test_parameters_go_round():
    compiled = weft.compile(softmax_step, donate=0)
    params, x = inputs(0)
    other, _ = inputs(0)
    for _ in range(20):
        params, *rest = compiled(params, x)
        other, *expected = softmax_step(other, x)
        assert same(host(rest), host(expected))
    assert same(host(params), host(other))


def test_what_was_given_up_says_so():
    compiled = weft.compile(softmax_step, donate=(0,))
    for _ in range(3):
        (w, b), x = inputs(1)
        view, pending = w[1:], w + 1
        before = host(w)
        compiled((w, b), x)
        for look in (
            lambda w=w: host(w),
            lambda w=w: float(w[0, 0]),
            lambda v=view: host(v),
            lambda w=w: host(w * 2),
            lambda b=b: b.tolist(),
        ):
            with pytest.raises(ValueError, match="was given up to a captured function"):
                look()
        with pytest.raises(ValueError, match="was given up"):
            compiled((w, b), x)
        assert w.shape == (6, 5) and host(x).shape == (20, 6)
        # What was recorded before has what it read.
        assert same(host(pending), before + 1)


def test_memory_of_what_was_given_up_is_used_again():
    @weft.compile
    def plain(w, x):
        return w - 0.5 * (x.T @ x)

    compiled = weft.compile(plain.__wrapped__, donate=0)
    n = 200
    x = weft.asarray(np.random.default_rng(0).standard_normal((n, n)))
    w = weft.asarray(np.eye(n))
    expected = np.eye(n)
    places = []
    for _ in range(5):
        expected = host(plain(weft.asarray(expected), x))
        places.append(address(w))
        w = compiled(w, x)
    assert same(host(w), expected)
    assert places[-1] == places[-2] == places[-3] == address(w)
    # Somebody looks at the memory: it stays as it is.
    held = np.asarray(w)
    copied = held.copy()
    after = compiled(w, x)
    assert same(held, copied) and address(after) != held.ctypes.data
    assert same(host(after), host(plain(weft.asarray(copied), x)))


def test_donation_that_cannot_be():
    step = weft.compile(lambda a, b: (a @ b, a + 1), donate=(0,))
    a = weft.asarray(np.ones((3, 3)))
    for pair in ((a, a), (a, a[:2].T.copy()[:, :1] * 0 + a[:, :1]), (a[:2], a)):
        if pair[1] is not a:
            continue
        with pytest.raises(ValueError, match="is given up, and its memory is that of another argument"):
            step(*pair)
    assert same(host(a), np.ones((3, 3)))
    known = weft.asarray(np.ones((3, 3)))
    with pytest.raises(ValueError, match="knows by a global name"):
        weft.compile(lambda a: a @ known, donate=0)(known)
    assert same(host(known), np.ones((3, 3)))
    with pytest.raises(ValueError, match="read-only"):
        step(weft.broadcast_to(weft.asarray(1.0), (3, 3)), a)
    both = weft.compile(lambda a, b: a @ b, donate=(0, 1))
    assert same(host(both(a, a)), np.full((3, 3), 3.0))
    for wrong in (-1, (0, 0), (0, -2)):
        with pytest.raises(ValueError, match="donate takes"):
            weft.compile(lambda a: a, donate=wrong)
    with pytest.raises(TypeError):
        weft.compile(lambda a: a, donate="0")
    with pytest.raises(TypeError, match="gives up argument 1"):
        weft.compile(lambda a, b=None: a, donate=1)(a)


def test_views_that_are_given_up():
    """A view of all of an array gives that up; one of a part would take more with it than what was named, and is refused."""
    step = weft.compile(lambda a, b: (a @ b, a + 1), donate=0)
    other = weft.asarray(np.ones((3, 3)))
    for part in (lambda x: x[1:4], lambda x: x[::-2], lambda x: x[:4, 1:], lambda x: x[2], lambda x: x[0:0]):
        base = weft.asarray(np.arange(15.0).reshape(5, 3))
        given = weft.compile(lambda a: (other @ other, a + 1), donate=0)
        for _ in range(3):
            with pytest.raises(ValueError, match=r"array 0 is given up, and it is a part of another array.*pass a copy"):
                given(part(base))
        assert same(host(given(part(base).copy())[1]), host(part(base)) + 1)
        assert same(host(base), np.arange(15.0).reshape(5, 3))
    for whole in (lambda x: x.T, lambda x: x[::-1], lambda x: x.reshape(3, 3), lambda x: x[None][0]):
        base = weft.asarray(np.arange(9.0).reshape(3, 3))
        _, more = step(whole(base), other)
        assert same(host(more), host(whole(np.arange(9.0).reshape(3, 3))) + 1)
        with pytest.raises(ValueError, match="was given up"):
            host(base)
    # Twice the same array, and an array beside a view of all of it.
    for pair in (lambda x: (x, x), lambda x: (x, x.T), lambda x: (x[::-1], x)):
        base = weft.asarray(np.arange(9.0).reshape(3, 3))
        expected = host(step._function(*pair(weft.asarray(np.arange(9.0).reshape(3, 3)))))
        assert same(host(weft.compile(lambda a, b: (a @ b, a + 1), donate=(0, 1))(*pair(base))), expected)


def test_many_arguments_that_are_given_up():
    """More of them than are compared one by one."""

    def step(params, x):
        return [p * 2 + x.sum() for p in params], x @ x

    compiled = weft.compile(step, donate=0)
    x = weft.asarray(np.eye(3))
    params = [weft.asarray(np.full((7, k), k)) for k in range(1, 41)]
    wanted = [np.full((7, k), float(k)) for k in range(1, 41)]
    for _ in range(4):
        (params, _), wanted = compiled(params, x), [each * 2 + 3 for each in wanted]
        assert same(host(params), wanted)
    with pytest.raises(ValueError, match="memory is that of another argument"):
        compiled(params, params[5][:3, :3])
    params[7] = params[3]
    (params, _), wanted[7] = compiled(params, x), wanted[3]
    assert same(host(params), [each * 2 + 3 for each in wanted])


def test_decorators_and_functions_of_few_operations():
    @weft.compile(donate=0)
    def scaled(x, k):
        return x * k, x

    for turn in range(3):
        x = weft.asarray(np.arange(4.0) + turn)
        twice, same_x = scaled(x, 2)
        assert host(twice).tolist() == [2 * (i + turn) for i in range(4)] and host(same_x)[1] == 1 + turn
        with pytest.raises(ValueError, match="given up"):
            host(x)
    assert scaled.donate == (0,) and weft.compile(scaled, donate=0) is scaled and weft.compile(scaled).donate == ()


def test_writes_to_arguments():
    def f(x, y):
        x += y @ y
        y[0] = 5
        return x.sum()

    compiled = weft.compile(f)
    for turn in range(4):
        mine, theirs = ([weft.asarray(np.arange(9.0).reshape(3, 3) + turn) for _ in range(2)] for _ in range(2))
        before = mine[0] + 0
        view = mine[1][0]
        assert same(host(compiled(*mine)), host(f(*theirs))) and same(host(mine), host(theirs))
        assert same(host(before), np.arange(9.0).reshape(3, 3) + turn) and host(view).tolist() == [5] * 3


def test_arguments_that_share_memory():
    compiled = weft.compile(lambda x, y: (x @ y + x * y, x - y))
    f = compiled.__wrapped__
    whole = weft.asarray(np.arange(32.0).reshape(8, 4))
    for view in (lambda a: (a[:4], a[4:]), lambda a: (a[:4], a[:4]), lambda a: (a[:4], a[3::-1]), lambda a: (a[::2], a[1::2].T)):
        for _ in range(4):
            assert same(host(compiled(*view(whole))), host(f(*view(whole))))
    a = weft.asarray(np.arange(16.0).reshape(4, 4))
    b = a.reshape(16).reshape(4, 4) + 0
    for pair in ((a, b), (a, a), (b, a), (a, a.T)):
        assert same(host(compiled(*pair)), host(f(*pair)))


def test_elements_anywhere_in_memory():
    compiled = weft.compile(lambda x: (x @ x + 1, x * 2))
    for start in (0, 4, 8, 1, 3, 0):
        memory = np.zeros(9 * 4 + 16, np.uint8)
        values = memory[start : start + 36].view(np.float32).reshape(3, 3)
        values[...] = np.arange(9).reshape(3, 3)
        x = weft.asarray(memory)[start : start + 36].view("f4").reshape(3, 3)
        assert same(host(compiled(x)), host(compiled.__wrapped__(weft.asarray(values.copy()))))


def test_arrays_without_elements():
    def f(x, y):
        none = x[:0] * 2 + y[:0]
        return x @ y, none, none.sum(axis=0), x[:0] @ y, y[:, :0] + 1, (x[:, :0] @ y[:0]).T, none.reshape(3, 0)

    compiled = weft.compile(f, donate=1)
    for turn in range(3):
        x, y = (weft.asarray(np.arange(9.0).reshape(3, 3) + k + turn) for k in range(2))
        expected = host(f(x, y))
        assert same(host(compiled(x, y)), expected)
    assert planned(compiled) != [None]
    only = weft.compile(lambda x: (x @ x.T, x.sum(axis=1)))
    for _ in range(3):
        assert same(host(only(weft.zeros((3, 0)))), [np.zeros((3, 3)), np.zeros(3)])


def test_results_do_not_share_memory_with_the_next():
    compiled = weft.compile(lambda x: (x @ x, x + 1, (x @ x).T))
    kept = []
    for turn in range(5):
        x = weft.asarray(np.arange(9.0).reshape(3, 3) + turn)
        kept.append((compiled(x), host(compiled.__wrapped__(x))))
    for found, expected in kept:
        assert same(host(found), expected)
        found[0][...] = 0
    for (_, found, turned), (_, expected, other) in kept:
        assert same(host(found), expected) and same(host(turned), other)


def test_captured_functions_in_captured_functions():
    inner = weft.compile(lambda x, y: (x @ y, x + y), donate=0)

    def outer(x):
        a, b = inner(x, x.T)
        c, _ = inner(a + 0, b)
        return c, x

    compiled = weft.compile(outer)
    for turn in range(4):
        x = weft.asarray(np.arange(9.0).reshape(3, 3) + turn)
        a, b = x @ x.T, x + x.T
        assert same(host(compiled(x)), host(((a + 0) @ b, x)))
    assert compiled.captures == 1


def test_errors_leave_no_trace():
    compiled = weft.compile(lambda a, b: (weft.linalg.solve(a, b), a @ b))
    good, bad = np.array([[2.0, 0], [0, 1]]), np.zeros((2, 2))
    b = weft.asarray(np.ones((2, 2)))
    for a in (good, bad, good, bad, good):
        if a is bad:
            with pytest.raises(np.linalg.LinAlgError):
                weft.eval(*compiled(weft.asarray(a), b))
        else:
            assert same(host(compiled(weft.asarray(a), b)), host(compiled.__wrapped__(weft.asarray(a), b)))


def test_runs_are_no_hidden_syncs():
    compiled = weft.compile(softmax_step)
    compiled(*inputs(0))
    for _ in range(2):
        given = inputs(0)
        with weft.syncs("error"):
            found = compiled(*given)
        assert same(host(found), host(softmax_step(*inputs(0))))


def test_many_graphs_and_shapes():
    compiled = weft.compile(lambda x, k: (x @ x.T) * k)
    for n in range(1, 30):
        for k in (1, 2.5):
            x = weft.asarray(np.arange(2.0 * n).reshape(n, 2))
            for _ in range(2):
                assert same(host(compiled(x, k)), host(compiled.__wrapped__(x, k)))
    assert compiled.captures == 58


def test_containers_and_constants():
    def f(tree, n, name, flag=None):
        return {"y": tree["a"] @ tree["b"][0] * n, "rest": [name, (flag, None, 2.5)], 3: tree["a"]}

    compiled = weft.compile(f)
    a, b = (weft.asarray(np.arange(4.0).reshape(2, 2) + k) for k in range(2))
    for n in (1, 2, 1.0, True, float("nan"), 2**70):
        for name in ("x", "y", "\u00e4"):
            for _ in range(2):
                found = compiled({"a": a, "b": [b]}, n, name)
                assert same(host(found), host(f({"a": a, "b": [b]}, n, name))) and list(found) == ["y", "rest", 3]
    assert compiled.captures == 18


def test_threads():
    compiled = weft.compile(softmax_step)
    expected = [host(softmax_step(*inputs(seed))) for seed in range(4)]
    wrong = []

    def work(seed):
        for _ in range(30):
            if not same(host(compiled(*inputs(seed))), expected[seed]):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("tier", ["0", "1"])
def test_tiers(tier):
    text = "import sys; sys.path.insert(0, 'tests')\nfrom arrays import test_planned as t\nt.PROGRAMS = 12\n"
    text += "t.test_random_programs(True); t.test_parameters_go_round(); t.test_steps(20, 'f4')"
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", text], cwd=root, env={**os.environ, "WEFT_ARRAYS_TIER": tier}, check=False)
    assert done.returncode == 0


def test_devices():
    for device in weft.devices():
        if device.kind == "cpu":
            continue
        compiled = weft.compile(lambda x, w: (x - 0.5 * (x @ w), x.sum()), donate=0)
        w = weft.asarray(np.eye(3, dtype="f4"), device=device)
        for turn in range(2):
            x = weft.asarray(np.arange(9, dtype="f4").reshape(3, 3) + turn, device=device)
            expected = host((x - 0.5 * (x @ w), x.sum()))
            assert same(host(compiled(x, w)), expected)
            with pytest.raises(ValueError, match="given up"):
                host(x)
