"""The loop over all parameters that optimizers have on the CPU: bit for bit what the array expressions give, wherever elements lie."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

import weft
from weft import nn
from weft.gradients.trees import leaves, map_tree
from weft.nn import optimizers

from .near import near, normal
from .test_optimizers import CASES

DTYPES = [np.float32, np.float64]


def params(dtype: Any, seed: int) -> dict[str, Any]:
    """Lengths about those of chunks and of what a thread takes, none, one, and memory that lies in all ways."""

    def of(*shape: int) -> Any:
        return weft.asarray(normal(shape, dtype, seed + len(shape) + sum(shape)))

    return {f"of {n}": of(n) for n in (1, 63, 64, 65, 40_000)} | {
        "number": of(),
        "nothing": of(0, 3),
        "turned": of(7, 5).T,
        "backwards": of(6, 4)[::-1, ::-1],
        "apart": of(3, 5, 2)[..., 1],
        "in F": of(2, 3, 4).T,
    }


def bits(tree: Any) -> list[bytes]:
    return [np.ascontiguousarray(weft.asnumpy(leaf)).tobytes() for leaf in leaves(tree)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_bit_for_bit_as_expressions(case: str, dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    optimizer = CASES[case][0]()
    given = params(dtype, 1)
    found = [(given, optimizer.init(given))] * 2
    calls = []

    def counted(name: str, operands: list[Any]) -> Any:
        calls.append(name)
        return optimizers_step(name, operands)

    optimizers_step = optimizers._step_all
    monkeypatch.setattr(optimizers, "_step_all", counted)
    for step in range(3):
        grads = params(dtype, 100 * step)
        if step == 1:
            grads["of 64"][5:8] = weft.asarray([np.inf, np.nan, -0.0], dtype=dtype)
        one = optimizer.update(found[0][0], grads, found[0][1])
        with monkeypatch.context() as patched:
            patched.setattr(optimizers, "_tape_is_here", lambda: True)
            other = optimizer.update(found[1][0], grads, found[1][1])
        assert bits(one) == bits(other)
        assert map_tree(lambda x: (x.shape, x.dtype), one) == map_tree(lambda x: (x.shape, x.dtype), other)
        found = [one, other]
    assert len(calls) == 3 and calls[0].endswith(f"*{len(given)}")


def test_each_dtype_has_its_own() -> None:
    """Of a tree of several, and those of 16 bits as they are."""
    dtypes = ["float32", "float64", "float16", "float32"]
    tree = [weft.asarray(normal((3, 2), np.float64, at)).astype(name) for at, name in enumerate(dtypes)]
    optimizer = nn.AdamW(0.1)
    after, state = optimizer.update(tree, tree, optimizer.init(tree))
    for at, leaf in enumerate(tree):
        alone, _ = optimizer.update([leaf], [leaf], optimizer.init([leaf]))
        assert after[at].dtype == leaf.dtype and bits(after[at]) == bits(alone)
    assert [leaf.dtype.name for leaf in state["mean"]] == ["float32", "float64", "float32", "float32"]
    assert optimizer.update([], [], optimizer.init([]))[0] == []


def test_other_devices_and_rates_with_axes(device: weft.Device) -> None:
    tree = {"a": weft.asarray(normal(5, np.float32, 1), device=device), "b": weft.asarray(normal((2, 2), np.float32, 2), device=device)}
    for rate in (0.1, weft.asarray(0.1, dtype="float32", device=device), lambda step: 0.1 / (step + 1)):
        optimizer = nn.Adam(rate)
        after, _ = optimizer.update(tree, tree, optimizer.init(tree))
        for name, leaf in tree.items():
            near(after[name], weft.asnumpy(leaf) - 0.1 * np.sign(weft.asnumpy(leaf)), np.float32, 10)


def planned(donate: tuple[int, ...] = ()) -> tuple[Any, Any]:
    """A step that runs by a plan, since there is a product in it, and its optimizer."""
    optimizer = nn.Adam(0.1)

    @weft.compile(donate=donate)
    def step(params: Any, state: Any, grads: Any, x: Any) -> Any:
        return *optimizer.update(params, grads, state), x @ x

    return step, optimizer


def test_a_captured_step_is_one_call_whatever_there_is() -> None:
    counts = []
    for count in (2, 30):
        tree = [weft.asarray(normal((3, at + 1), np.float32, at)) for at in range(count)]
        step, optimizer = planned()
        state, plain = optimizer.init(tree), optimizer.init(tree)
        other = tree
        for _ in range(4):
            tree, state, _ = step(tree, state, other, weft.ones((2, 2)))
            other, plain = optimizer.update(other, other, plain)
            assert bits((tree, state)) == bits((other, plain))
        counts += [graph.planned for graph, _ in step._graphs.values()]
    assert len(set(counts)) == 1 and counts[0] < 10


def test_what_is_given_up_is_written_over() -> None:
    def addresses(tree: Any) -> list[int]:
        return [weft.asnumpy(leaf).ctypes.data for leaf in leaves(tree) if leaf.size > 1]

    step, optimizer = planned((0, 1))
    plain, _ = planned()
    make = lambda: [weft.asarray(normal((300, 200), np.float32, at)) for at in range(2)]  # noqa: E731
    tree, grads = make(), make()
    state = optimizer.init(tree)
    other, of_other = make(), optimizer.init(tree)
    for turn in range(6):
        before = addresses((tree, state)) if turn > 2 else []
        tree, state, _ = step(tree, state, grads, weft.ones((2, 2)))
        other, of_other, _ = plain(other, of_other, grads, weft.ones((2, 2)))
        assert bits((tree, state)) == bits((other, of_other))
        assert turn < 3 or addresses((tree, state)) == before
    # The gradient is not: it is also a parameter here.
    twice = weft.compile(lambda p, s, x: (*optimizer.update(p, p, s), x @ x), donate=0)
    tree, expected = make(), optimizer.update(make(), make(), optimizer.init(make()))
    for _ in range(3):
        assert bits(twice(make(), optimizer.init(tree), weft.ones((2, 2)))[:2]) == bits(expected)


def test_steps_have_gradients_and_batches() -> None:
    """Where somebody follows them, they are expressions."""
    optimizer, w = nn.SGD(0.5, momentum=0.9), weft.asarray([1.0, -2.0])

    def after(rate: Any) -> Any:
        tree, state = {"w": w}, optimizer.init({"w": w})
        for _ in range(2):
            grads = weft.grad(lambda tree: (tree["w"] ** 4).sum())(tree)
            tree, state = nn.SGD(rate, momentum=0.9).update(tree, grads, state)
        return (tree["w"] ** 2).sum()

    assert weft.gradcheck(after, (weft.asarray(0.01),))
    rates = weft.asarray([0.01, 0.02, 0.05])
    found = weft.vmap(after)(rates)
    np.testing.assert_allclose(found, [float(after(float(rate))) for rate in rates], rtol=1e-12)


def test_steps_in_files(tmp_path: Any) -> None:
    optimizer = nn.AdamW(nn.cosine_decay(0.1, 10))
    tree = {"a": weft.asarray(normal((3, 2), np.float32, 1)), "b": weft.asarray(normal(4, np.float64, 2))}
    state, path = optimizer.init(tree), tmp_path / "step.graph"
    weft.save_graph(path, optimizer.update, tree, tree, state)
    loaded, text = weft.load_graph(path), path.read_text()
    assert " call adam*1 %" in text
    for _ in range(3):
        assert bits(loaded(tree, tree, state)) == bits(optimizer.update(tree, tree, state))
        tree, state = loaded(tree, tree, state)
    for wrong, says in (
        ("adam*2", "another number of operands"),
        ("adam*0", "nothing is called"),
        ("adam*01", "nothing is called"),
        ("adam", "nothing is called"),
        ("momentum*1", "another number of operands"),
        ("descent*99999999999999999999", "nothing is called"),
    ):
        body = text[: text.rindex("end ")].replace("call adam*1 ", f"call {wrong} ")
        path.write_text(f"{body}end {hashlib.sha256(body.encode()).hexdigest()}\n")
        with pytest.raises(ValueError, match=says):
            weft.load_graph(path)
