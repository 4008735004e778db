"""Gradients of operators of PyTorch that Weft derives: against differences, under the compiler, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import weft  # noqa: E402

from . import functions as f  # noqa: E402

like = weft.like


@pytest.fixture(scope="module")
def ops():
    """One operator of every sort."""

    return f.operations(lambda function, out, **said: weft.torch_op(function, f"weft_derived::{function.__name__}", out, **said))


def tensor(*shape, seed: int = 1):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def arguments(name):
    seeds = iter(range(1, 9))
    return f.arguments(name, lambda *shape: tensor(*shape, seed=next(seeds)))


def loss(given):
    return sum((r * r).sum() for r in (given if isinstance(given, tuple) else (given,)))


@pytest.mark.parametrize("name", f.SORTS)
def test_against_differences(ops, name):
    assert torch.autograd.gradcheck(ops[name], arguments(name))


@pytest.mark.parametrize("name", f.SORTS)
def test_of_operands_that_lie_otherwise(ops, name):
    """Views that are not dense: a gradient is the same as for a copy."""
    args = arguments(name)
    views, copies = [], []
    for a in args:
        if isinstance(a, torch.Tensor):
            wide = torch.zeros(*a.shape[:-1], 2 * a.shape[-1], dtype=a.dtype)
            wide[..., ::2] = a.detach()
            views.append(wide[..., ::2].requires_grad_())
            copies.append(a.detach().clone().requires_grad_())
        else:
            views.append(a), copies.append(a)
    loss(ops[name](*views)).backward()
    loss(ops[name](*copies)).backward()
    for view, copy in zip(views, copies, strict=True):
        if isinstance(view, torch.Tensor):
            torch.testing.assert_close(view.grad, copy.grad)


@pytest.mark.parametrize("name", f.SORTS)
def test_pytorchs_own_checks(ops, name):
    torch.library.opcheck(ops[name], arguments(name))


@pytest.mark.parametrize("name", f.SORTS)
def test_compiled(ops, name):
    torch._dynamo.reset()
    args = arguments(name)
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    compiled = torch.compile(lambda *args: loss(ops[name](*args)), fullgraph=True, backend="aot_eager")
    for given, right in zip(
        torch.autograd.grad(compiled(*args), tensors), torch.autograd.grad(loss(ops[name](*args)), tensors), strict=True
    ):
        torch.testing.assert_close(given, right)


def test_gradients_are_operators(ops):
    """Those of a compiled program hold them."""
    a, b = tensor(5), tensor(5, seed=2)
    loss(ops["kernel"](a, b)).backward()
    loss(ops["two operands"](a, b)).backward()
    a, b, g = a.detach(), b.detach(), torch.ones(5, dtype=torch.float64)
    for op, args in (
        (torch.ops.weft_derived.product_backward.default, (a, b, g, 3)),
        (torch.ops.weft_derived.product_backward.default, (a, b, g, 2)),
        (torch.ops.weft_derived.mixed_by_x.default, (a, b, 2.0, 1, g)),
    ):
        torch.library.opcheck(op, args)


def test_only_what_is_wanted(ops):
    a, b = tensor(5), tensor(5, seed=2)
    ops["kernel"](a, b.detach()).sum().backward()
    assert a.grad.equal(b.detach()) and b.grad is None
    x = torch.ones(3, requires_grad=True)
    y = torch.ones(3, dtype=torch.int64)
    ops["two operands"](x, y).sum().backward()
    assert x.grad.tolist() == [4, 4, 4]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_of_other_floats(ops, dtype):
    x = torch.tensor([1.0, 2, 3], dtype=getattr(torch, dtype), requires_grad=True)
    for name in ("vectorized", "kernel"):
        args = (x,) if name == "vectorized" else (x, x.detach())
        (grad,) = torch.autograd.grad(ops[name](*args).sum(), x)
        assert grad.dtype == x.dtype and grad.tolist() == ([2, 2, 2] if name == "vectorized" else [1, 2, 3])


def test_of_no_elements(ops):
    for name in ("vectorized", "kernel", "writes to a parameter"):
        x = torch.zeros(0, dtype=torch.float64, requires_grad=True)
        args = (x, x) if name == "kernel" else (x,)
        ops[name](*args).sum().backward()
        assert x.grad.shape == (0,)


def test_what_is_refused(ops):
    x = torch.ones(3, dtype=torch.complex64, requires_grad=True)
    with pytest.raises(RuntimeError, match="gradients by complex tensors are not derived: give a rule"):
        ops["vectorized"](x).abs().sum().backward()
    x = tensor(3)
    (grad,) = torch.autograd.grad(ops["vectorized"](x).pow(2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="second derivatives are not derived"):
        grad.sum().backward()
    with pytest.raises(weft.errors.WeftError, match=r"overwrit|derivative|read"):

        @weft.njit
        def unruly(x):
            for i in range(1, x.shape[0]):
                x[i] = x[i - 1] * x[i]
            return x

        weft.torch_op(unruly, "weft_derived::unruly", like("x"))(x).sum().backward()


def test_a_rule_of_the_functions_own():
    @weft.njit
    def clipped(x):
        return np.minimum(x, 1.0)

    @clipped.defvjp
    def straight_through(cotangent, output, x):
        return (cotangent,)

    op = weft.torch_op(clipped, "weft_derived::clipped", like("x"))
    x = torch.tensor([0.5, 2.0], requires_grad=True)
    op(x).sum().backward()
    assert x.grad.tolist() == [1, 1]

    @weft.vectorize
    def ruled(x):
        return x

    ruled.defvjp(lambda g, out, x: (g,))
    with pytest.raises(ValueError, match="give it in PyTorch's words"):
        weft.torch_op(ruled, "weft_derived::ruled")
