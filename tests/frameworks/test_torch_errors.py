"""What operators of PyTorch refuse, and what the message says to do."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import weft  # noqa: E402

from . import functions as f  # noqa: E402

like = weft.like


def op_of(function, out=None, **said):
    """An operator, defined anew for each test."""
    return weft.torch_op(function, "weft_tests::refusing", out, **said)


def test_element_types():
    op = op_of(f.double)
    with pytest.raises(TypeError, match=r"does not compute with tensors of torch\.float8_e4m3fn"):
        op(torch.ones(2).to(torch.float8_e4m3fn))
    with pytest.raises(TypeError, match=r"torch\.quint8|torch\.float8_e5m2"):
        op(torch.ones(2).to(torch.float8_e5m2))


def test_operands_that_do_not_fit():
    op = op_of(f.mixed)
    with pytest.raises(RuntimeError, match="broadcast"):
        op(torch.ones(2), torch.ones(3))
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor'"):
        op(torch.ones(2), 1.0)
    with pytest.raises(RuntimeError, match="missing value for argument 'y'"):
        op(torch.ones(2))


def test_results_that_are_not_as_declared():
    with pytest.raises(TypeError, match="returns float32, and out= says int64"):
        op_of(f.scaled, like("x", dtype="int64"))(torch.ones(2), 2.0)
    with pytest.raises(ValueError, match=r"returns an array of shape \(2, 3\), and out= says \(3, 2\)"):
        op_of(f.transposed, like("x"))(torch.ones(3, 2))
    with pytest.raises(TypeError, match="says a tuple of 2"):
        op_of(f.transposed, (like("x"), like("x")))(torch.ones(2, 2))
    with pytest.raises(RuntimeError, match="let it do one or the other"):
        op_of(f.both, {"y": like("x")})(torch.ones(2, 2))


@pytest.mark.parametrize(("function", "said"), [(f.overwriting, {"out": like("x")}), (f.written, {"mutates": "x"})])
def test_writes_that_are_not_declared(function, said):
    x = torch.ones(3)
    op = op_of(function, **said)
    with pytest.raises(weft.TypingError, match=r"writes to an argument of its operation: name it, mutates=\('x',\), or in out="):
        op(*[x, torch.ones(3)][: len(op._schema.arguments)])
    assert x.eq(1).all()


def test_memory_that_overlaps():
    op = op_of(f.added, mutates="y")
    base = torch.zeros(6)
    with pytest.raises(RuntimeError, match="writes to y, which shares memory with x"):
        op(base[:4], base[2:])
    with pytest.raises(RuntimeError, match="several elements are one place in memory"):
        op(torch.ones(3), torch.zeros(1).expand(3))
    with pytest.raises(RuntimeError, match="several elements are one place in memory"):
        op_of(f.growing, mutates="x")(base.unfold(0, 3, 1).flatten(0, 0).as_strided((2, 3), (1, 1)), 1.0)
    op = op_of(f.added, mutates="y")
    op(base[:3], base[3:])
    op(base[:3], torch.zeros(3, 2).t()[0])
    op(base[:0], base[:0])


def test_gradients_without_a_rule():
    x = torch.ones(3, requires_grad=True)
    op = op_of(f.overwriting, {"x": like("y")})
    given = op(x)
    assert given.requires_grad and op(x.detach()).requires_grad is False
    op = op_of(f.added, mutates="y")
    with pytest.raises(RuntimeError, match=r"writes to its arguments and has no gradient: call it under torch\.no_grad"):
        op(x, torch.zeros(3))
    with torch.no_grad():
        op(x, torch.zeros(3))


def test_derivatives_in_forward_mode():
    op = op_of(f.double, vjp=lambda g: 2 * g)
    x = torch.ones(3)
    with pytest.raises(NotImplementedError, match="no derivative in forward mode"):
        torch.func.jvp(op, (x,), (x,))
    with torch.autograd.forward_ad.dual_level():
        assert op(x).tolist() == [2, 2, 2]
        with pytest.raises(NotImplementedError, match="use reverse mode"):
            op(torch.autograd.forward_ad.make_dual(x, x))
    with pytest.raises(RuntimeError, match="setup_context"):
        torch.func.grad(lambda x: op(x).sum())(x)


def test_rules_that_do_not_fit():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(ValueError, match="has 2 items; it takes one for each of x"):
        op_of(f.double, vjp=lambda g: (g, g))(x).sum().backward()
    with pytest.raises(ValueError, match="names 'z', which is none of x"):
        op_of(f.double, vjp=lambda g: {"z": g})(x).sum().backward()
    with pytest.raises(RuntimeError, match="invalid gradient"):
        op_of(f.double, vjp=lambda g: g.new_ones(7))(x).sum().backward()


def test_errors_of_the_function_itself():
    @weft.njit
    def failing(x):
        if x[0] > 0:
            raise ValueError("it is positive")
        return x

    op = op_of(failing, like("x"))
    assert op(torch.zeros(2)).tolist() == [0, 0]
    with pytest.raises(ValueError, match="it is positive"):
        op(torch.ones(2))
