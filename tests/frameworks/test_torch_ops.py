"""Operators of PyTorch: every sort of function, against NumPy and the undecorated function, and what PyTorch's own checks say."""

from __future__ import annotations

import copy
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import weft  # noqa: E402
from weft import njit  # noqa: E402

from . import functions as f  # noqa: E402
from .functions import DTYPES, FLOATS, SORTS, numbers  # noqa: E402

like = weft.like
COUNTER = iter(range(10**6))


def op_of(function, out=None, **said):
    """An operator with a name of its own."""
    return weft.torch_op(function, f"weft_tests::op{next(COUNTER)}", out, **said)


@pytest.fixture(scope="module")
def ops():
    """One operator of every sort."""
    rules = {
        **f.RULES,
        "returns a number": lambda x, g: (2 * x * g).to(x.dtype),
        "kernel with blocks": lambda x, g: g.expand_as(x),
    }
    return f.operations(op_of, rules) | {
        "kernel in place": op_of(f.added, mutates="y"),
        "function in place": op_of(f.growing, mutates=("x",)),
    }


def arguments(name: str, grad: bool = True) -> tuple:
    """What the operators above are called with."""
    generator = torch.Generator().manual_seed(1)

    def tensor(*shape, dtype=torch.float64):
        return torch.randn(*shape, dtype=dtype, generator=generator).requires_grad_(grad and "in place" not in name)

    in_place = {"kernel in place": lambda: (tensor(7), tensor(7)), "function in place": lambda: (tensor(7), 0.5)}
    return in_place[name]() if name in in_place else f.arguments(name, tensor)


IN_PLACE = ["kernel in place", "function in place"]


def expected(name: str, args: tuple) -> list[np.ndarray]:
    """What NumPy says."""
    a = [x.detach().numpy() if isinstance(x, torch.Tensor) else x for x in args]
    if name in IN_PLACE:
        return [a[1] + a[0]]
    return [np.asarray(each) for each in f.expected(name, a)]


def results(given) -> list:
    return list(given) if isinstance(given, tuple) else [given]


@pytest.mark.parametrize("name", SORTS)
def test_values(ops, name):
    args = arguments(name)
    for given, right in zip(results(ops[name](*args)), expected(name, args), strict=True):
        assert given.shape == right.shape and given.requires_grad
        np.testing.assert_allclose(given.detach().numpy(), right, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", IN_PLACE)
def test_values_in_place(ops, name):
    args = arguments(name)
    right = expected(name, args)[0]
    assert ops[name](*args) is None
    np.testing.assert_allclose(args[1 if "kernel" in name else 0].numpy(), right)


@pytest.mark.parametrize("name", [*SORTS, *IN_PLACE])
def test_pytorchs_own_checks(ops, name):
    for args in (arguments(name), arguments(name, grad=False)):
        found = torch.library.opcheck(ops[name], args)
        assert set(found.values()) == {"SUCCESS"}


@pytest.mark.parametrize("name", SORTS)
def test_gradients(ops, name):
    assert torch.autograd.gradcheck(ops[name], arguments(name))


@pytest.mark.parametrize("name", SORTS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled(ops, name, dynamic):
    if dynamic and name != "kernel":
        pytest.skip("one of them tells")
    torch._dynamo.reset()
    op = ops[name]

    def program(*args):
        return [r * 2 for r in results(op(*args))]

    args = arguments(name)
    compiled = torch.compile(program, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    for given, right in zip(compiled(*args), program(*args), strict=True):
        torch.testing.assert_close(given, right)
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    grads = torch.autograd.grad(sum(r.sum() for r in compiled(*args)), tensors)
    for given, right in zip(grads, torch.autograd.grad(sum(r.sum() for r in program(*args)), tensors), strict=True):
        torch.testing.assert_close(given, right)


def test_compiled_by_inductor(ops):
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: ops["vectorized"](x + 1).sum(), fullgraph=True)
    x = torch.ones(3, 4, requires_grad=True)
    compiled(x).backward()
    assert compiled(x).item() == 48 and x.grad.eq(2).all()


@pytest.mark.parametrize("name", IN_PLACE)
def test_compiled_in_place(ops, name):
    torch._dynamo.reset()

    def program(*args):
        args = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
        ops[name](*args)
        return sum(args)

    args = arguments(name)
    torch.testing.assert_close(torch.compile(program, fullgraph=True, backend="aot_eager")(*args), program(*args))


# Shapes, strides, dtypes


def views(x) -> list:
    """Tensors of the same elements or fewer, that lie otherwise."""
    return [x, x.t(), x[::2], x[:, 1:], x[:0], x[:, :0], x[1:2], x[0, 0], x[None].expand(3, *x.shape), x.t()[::2]]


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_every_dtype(ops, dtype):
    op = ops["vectorized"]
    base = torch.from_numpy(numbers((4, 6), dtype)).to(getattr(torch, dtype))
    for x in views(base):
        given = op(x)
        if dtype == "bfloat16":
            assert given.dtype == torch.bfloat16
            right = 2 * x
        else:
            right = torch.from_numpy(np.asarray(f.double(x.numpy())))
            assert given.dtype == right.dtype
        assert torch.equal(given, right)
        with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True) as mode:
            fake = op(mode.from_tensor(x))
        assert fake.shape == given.shape and fake.dtype == given.dtype
        assert fake.stride() == given.stride() or not given.numel()


@pytest.mark.parametrize("seed", range(20))
def test_random_operands(ops, seed):
    """Dtypes and shapes that broadcast: what the vectorized function gives for NumPy's arrays."""
    generator = np.random.default_rng(seed)
    shape = tuple(int(n) for n in generator.integers(0, 5, generator.integers(0, 4)))
    operands = []
    for at in range(2):
        own = tuple(1 if generator.random() < 0.3 else n for n in shape[generator.integers(0, len(shape) + 1) :])
        dtype = [d for d in DTYPES if d != "bfloat16"][generator.integers(len(DTYPES) - 1)]
        axes = generator.permutation(len(own))
        array = np.asarray(numbers(tuple(own[i] for i in axes), dtype, seed + at)).transpose(np.argsort(axes))
        operands.append(torch.from_numpy(np.asarray(array)))
    right = np.asarray(f.mixed(operands[0].numpy(), operands[1].numpy(), 0.5, 3))
    given = ops["two operands"](*operands, 0.5, 3)
    assert given.numpy().dtype == right.dtype and given.shape == right.shape
    np.testing.assert_array_equal(given.numpy(), right)
    assert set(torch.library.opcheck(ops["two operands"], (*operands, 0.5, 3), test_utils=["test_schema", "test_faketensor"]).values()) == {
        "SUCCESS"
    }


def test_a_result_lies_as_its_operand_does(ops):
    x = torch.randn(2, 3, 4, 5)
    for laid in (x, x.to(memory_format=torch.channels_last), x.permute(3, 1, 0, 2)):
        assert ops["vectorized"](laid).stride() == (laid * 2).stride()


def test_bools_and_keywords(ops):
    x, y = torch.tensor([1.0, 5.0]), torch.tensor([2, 2])
    assert op_of(f.larger)(x, y).tolist() == [False, True]
    assert ops["two operands"](x, y, n=3).tolist() == [8.0, 56.0]
    assert ops["two operands"](x=x, y=y, a=1.0).tolist() == [3.0, 27.0]
    schema = str(ops["two operands"]._schema)
    assert schema.endswith("(Tensor x, Tensor y, float a=2., int n=1) -> Tensor")
    assert "(Tensor x, Tensor(b!) y) -> ()" in str(ops["kernel in place"]._schema)


@pytest.mark.parametrize("dtype", FLOATS)
def test_arrays_that_are_returned(dtype):
    op = op_of(f.transposed, like("x", shape=lambda x: x.shape[::-1]))
    x = torch.from_numpy(numbers((3, 4), dtype)).to(getattr(torch, dtype))
    for each in (x, x.t(), x[::2], x[:0]):
        given = op(each)
        assert torch.equal(given, each.t()) and given.is_contiguous()
        # A view of the argument would be written to with it.
        assert given.data_ptr() != each.data_ptr() or not each.numel()
        if each.numel():
            given.add_(1)
            assert not torch.equal(given, each.t())


CONSTANT = np.arange(3.0)


@njit
def constant(x):
    return CONSTANT


def test_a_constant_is_copied():
    op = op_of(constant, like("x"))
    x = torch.zeros(3, dtype=torch.float64)
    op(x).add_(1)
    assert op(x).tolist() == [0, 1, 2]


def test_grids(ops):
    x = torch.randn(4, 6)
    assert torch.equal(ops["kernel in two dimensions"](x, 3), 3 * x.t())
    assert ops["kernel with blocks"](torch.ones(1000)).item() == 1000
    assert ops["kernel"](x[:0, 0], x[:0, 0]).shape == (0,)
    with pytest.raises(ValueError, match="say for which points"):
        ops["kernel"](x, x)
    for points in (4, (4,), torch.Size([4])):
        op = op_of(f.product, like("a"), grid=lambda points=points: points)
        assert op(x[:, 0], x[:, 1]).allclose(x[:, 0] * x[:, 1])


def test_what_is_not_written_is_filled():
    op = op_of(f.product, like("a", fill=7), launch=(1, 2))
    assert op(torch.ones(5), torch.ones(5)).tolist() == [1, 1, 7, 7, 7]
    assert op_of(f.product, like("a", shape=3, dtype=np.float64, fill=1.5), grid=0)(torch.ones(2), torch.ones(2)).tolist() == [1.5] * 3


def test_threads(ops):
    wrong = []

    def work(seed):
        x = torch.full((1000,), float(seed))
        for _ in range(50):
            if not torch.equal(ops["vectorized"](x), 2 * x) or not torch.equal(ops["kernel"](x, x), x * x):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_names(ops):
    op = weft.torch_op(f.double, "weft_tests::named")
    assert op is torch.ops.weft_tests.named.default and copy.deepcopy(op) is op
    assert weft.torch_op(f.scaled, out=like("x")).name() == "weft::scaled"
    # Defined anew, as by a cell of a notebook that runs again.
    again = weft.torch_op(f.larger, "weft_tests::named")
    assert again(torch.ones(1), torch.zeros(1)).item() is True


def test_vmap(ops):
    x, y = torch.randn(3, 4), torch.randn(4)
    op = ops["two operands"]
    assert torch.equal(torch.vmap(op, in_dims=(0, None))(x, y), op(x, y))
    assert torch.equal(torch.vmap(op, in_dims=(None, 0))(y, x), op(y, x))
    assert torch.equal(torch.vmap(op, in_dims=(1, 0))(x, y), op(x.t(), y[:, None]))
    assert torch.equal(torch.vmap(op, in_dims=(1, None), out_dims=1)(x, x[:, 0]), op(x.t(), x[:, 0]).t())
    assert torch.equal(torch.vmap(torch.vmap(op, in_dims=(None, 0)), in_dims=(0, None))(x, x), op(x[:, None], x))
    assert torch.equal(torch.vmap(lambda a: op(a, y, 0.5, n=3))(x), op(x, y, 0.5, n=3))
    assert torch.equal(torch.vmap(ops["kernel"])(x, x), x * x)


def test_modes_and_wrapped_tensors(ops):
    op = ops["vectorized"]
    with torch.inference_mode():
        assert op(torch.ones(2)).tolist() == [2, 2]
    with torch.autocast("cpu"):
        assert op(torch.ones(2)).dtype == torch.float32
    weight = torch.nn.Parameter(torch.ones(2))
    op(weight).sum().backward()
    assert weight.grad.tolist() == [2, 2]
    # What is the conjugate or the negative of its memory is made so before it arrives.
    z = torch.full((2,), 1j).conj()
    assert op(z).tolist() == [-2j, -2j] and op(z.imag).tolist() == [-2, -2]


def test_exported(ops):
    class Module(torch.nn.Module):
        def forward(self, x):
            return ops["vectorized"](x) + ops["kernel"](x, x)

    program = torch.export.export(Module(), (torch.ones(3),))
    assert program.module()(torch.full((3,), 2.0)).tolist() == [8, 8, 8]


def test_what_is_written_to_is_refused_by_autograd() -> None:
    @weft.njit
    def doubled(x):
        for i in range(x.shape[0]):
            x[i] *= 2

    op = weft.torch_op(doubled, "test::doubled_in_place", mutates="x")
    weights = torch.ones(3, requires_grad=True)
    y = weights * 2
    z = y * y
    op(y.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    with torch.inference_mode():
        given = torch.ones(3)
        op(given)
    assert given.tolist() == [2.0] * 3
