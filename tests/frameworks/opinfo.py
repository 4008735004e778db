"""PyTorch's OpInfo: samples of its operators, values and gradients of Weft's functions against PyTorch's.

    python tests/frameworks/opinfo.py                  # every operator, against the list
    python tests/frameworks/opinfo.py --names linalg.det softmax --verbose
    python tests/frameworks/opinfo.py --write          # makes the list anew

`opinfo_names.py` says which function an operator is. `opinfo.txt` lists the operators that are not covered, and those of which a sample is
refused or differs, with the reason: all others have to be right in each sample.
"""

from __future__ import annotations

import argparse
import collections
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

HERE = Path(__file__).resolve().parent
LIST = HERE / "opinfo.txt"
SAMPLES = 16
"""So many samples of an operator are run, evenly spread."""

NEAR = 1e-7


@dataclass
class Outcome:
    """What became of an operator: `passed`, `no samples`, or else, and why."""

    what: str
    why: str = ""
    samples: int = 0
    gradients: int = 0


def operators() -> list[Any]:
    """All of them."""
    from torch.testing._internal.common_methods_invocations import op_db

    return list(op_db)


def name_of(op: Any) -> str:
    """An operator's name, with its variant's."""
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def _samples(op: Any) -> Iterator[Any]:
    """Samples of floats and of complex numbers, or of integers where there are neither."""
    import torch

    floats = [dtype for dtype in (torch.float64, torch.complex128) if dtype in op.dtypes]
    for dtype in floats or [torch.int64]:
        if dtype not in op.dtypes:
            continue
        torch.manual_seed(0)
        with_gradient = bool(floats) and op.supports_autograd and op.supports_dtype(dtype, "cpu")
        found = list(op.sample_inputs("cpu", dtype, requires_grad=with_gradient))
        step = max(len(found) // SAMPLES, 1)
        yield from found[::step]


def run(op: Any) -> Outcome:
    """What becomes of the samples of an operator."""
    from frameworks.opinfo_names import NAMES

    name = name_of(op)
    function = NAMES.get(name)
    if function is None:
        return Outcome("not covered", "no function of Weft's")
    told = Outcome("no samples")
    for sample in _samples(op):
        try:
            gradients = compare(op, function, sample)
        except NotImplementedError as error:
            return Outcome("refused", f"not the same function: {error}")
        except AssertionError as error:
            return Outcome("differs", " ".join(str(error).split())[:160])
        except Exception as error:
            kinds = [kind.__name__ for kind in type(error).__mro__]
            if told.samples and re.search(r"takes floats|not supported for the input types", str(error)):
                # Of complex numbers there is no such function.
                continue
            what = "refused" if "WeftError" in kinds else "raises"
            said = re.sub(r"^/.*?`\): ", "", " ".join(str(error).split()))
            return Outcome(what, f"{type(error).__name__}: {said}"[:160])
        told = Outcome("passed", "", told.samples + 1, told.gradients + gradients)
    return told


def compare(op: Any, function: Any, sample: Any) -> int:
    """Values and gradients of a sample; AssertionError where they differ. How many gradients there were."""
    import torch
    from torch.utils import _pytree

    import weft

    leaves, spec = _pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    tensors = [leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    moving = [at for at, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    sort = "complex " if any(leaves[at].is_complex() for at in moving) else ""
    given = [leaf.numpy(force=True).copy() if isinstance(leaf, torch.Tensor) else leaf for leaf in tensors]
    for at in moving:
        tensors[at].requires_grad_()
    first, args, keywords = _pytree.tree_unflatten(tensors, spec)
    wanted = [each for each in _pytree.tree_leaves(op.op(first, *args, **keywords)) if isinstance(each, (torch.Tensor, bool, int, float))]

    def of_arrays(*arrays: Any) -> Any:
        row = [weft.asarray(leaf) if isinstance(leaf, np.ndarray) else _plain(leaf) for leaf in given]
        for at, array in zip(moving, arrays):
            row[at] = array
        first, args, keywords = _pytree.tree_unflatten(row, spec)
        return _arrays(function(first, *args, **keywords))

    arrays = [weft.asarray(given[at]) for at in moving]
    values = of_arrays(*arrays)
    numbers = [each.detach().resolve_conj().numpy(force=True) if isinstance(each, torch.Tensor) else np.asarray(each) for each in wanted]
    assert len(values) == len(numbers), f"{len(values)} results, expected {len(numbers)}"
    for found, number in zip(values, numbers):
        _near(f"{sort}value", np.asarray(found), number)
    smooth = [at for at, each in enumerate(wanted) if isinstance(each, torch.Tensor) and each.requires_grad]
    if not smooth or not op.supports_autograd:
        return 0
    rng = np.random.default_rng(0)
    cotangents = {at: _like(rng, numbers[at]) for at in smooth}
    back = [torch.from_numpy(cotangents[at].copy()) for at in smooth]
    gradients = torch.autograd.grad([wanted[at] for at in smooth], [tensors[at] for at in moving], back, allow_unused=True)
    _, pull = weft.vjp(lambda *arrays: [of_arrays(*arrays)[at] for at in smooth], *arrays)
    # PyTorch's gradients of complex numbers are the conjugates of JAX's, and so are its cotangents.
    found = pull([weft.asarray(np.conj(cotangents[at])) for at in smooth])
    is_hermitian = "hermitian" in getattr(op.gradcheck_wrapper, "__name__", "")
    for at, one, other in zip(moving, found, gradients):
        # A tensor of zeros may have no memory: a sum does.
        number = np.zeros_like(given[at]) if other is None else (other.resolve_conj() + 0).numpy(force=True)
        gradient = np.conj(np.asarray(one))
        if is_hermitian and at == moving[0]:
            # Of a matrix that is Hermitian only this part of a gradient means something.
            gradient, number = (each + np.conj(np.swapaxes(each, -1, -2)) for each in (gradient, number))
        _near(f"{sort}gradient of input {at}", gradient, number)
    return len(moving)


def _plain(leaf: Any) -> Any:
    """Dtypes of PyTorch's as NumPy's."""
    import torch

    return str(leaf).removeprefix("torch.") if isinstance(leaf, torch.dtype) else leaf


def _arrays(tree: Any) -> list[Any]:
    import weft

    if isinstance(tree, (tuple, list)):
        return [each for part in tree for each in _arrays(part)]
    return [tree if isinstance(tree, weft.ndarray) else weft.asarray(tree)]


def _like(rng: Any, x: np.ndarray) -> np.ndarray:
    made = rng.normal(0, 1, x.shape)
    return np.asarray(made + 1j * rng.normal(0, 1, x.shape) if x.dtype.kind == "c" else made).astype(x.dtype)


def _near(what: str, found: np.ndarray, wanted: np.ndarray) -> None:
    assert found.shape == wanted.shape, f"{what}: the shape {found.shape}, expected {wanted.shape}"
    if found.size == 0:
        return
    finite = wanted[np.isfinite(wanted)] if wanted.dtype.kind in "fc" else wanted
    near = 1e-4 if wanted.dtype in (np.float32, np.complex64) else 2e-2 if wanted.dtype == np.float16 else NEAR
    least = near * max(1.0, float(np.max(np.abs(finite), initial=0)))
    if not np.allclose(found, wanted, near, least, equal_nan=True):
        place = tuple(int(at) for at in np.argwhere(~np.isclose(found, wanted, near, least, equal_nan=True))[0])
        raise AssertionError(f"{what}: {found[place]} at {list(place)}, expected {wanted[place]}")


def read() -> dict[str, str]:
    """The operators of the list, and why."""
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")] if LIST.exists() else []
    return {name: why for name, _, why in (line.partition("  ") for line in lines)}


def write(found: dict[str, Outcome]) -> None:
    """Makes the list anew."""
    groups: dict[str, list[str]] = collections.defaultdict(list)
    for name, outcome in sorted(found.items()):
        if outcome.what not in ("passed",):
            groups[outcome.what].append(f"{name}  {outcome.why}".rstrip())
    lines = ["# PyTorch's operators that are not covered, and those of which a sample is refused or differs: `opinfo.py --write`."]
    for what in ("differs", "raises", "refused", "no samples", "not covered"):
        lines += ["", f"# {what}: {len(groups[what])}", *groups[what]]
    LIST.write_text("\n".join(lines) + "\n")


def judge(found: dict[str, Outcome]) -> list[str]:
    """What is wrong: operators that fail without being in the list, and those that pass though they are."""
    listed = read()
    wrong = []
    for name, outcome in sorted(found.items()):
        if outcome.what == "passed" and name in listed:
            wrong.append(f"{name} passes, and is in the list")
        elif outcome.what != "passed" and name not in listed:
            wrong.append(f"{name} {outcome.what}: {outcome.why}")
    return wrong


def run_all(names: list[str] | None = None) -> dict[str, Outcome]:
    """What becomes of all operators, or of some."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return {name_of(op): run(op) for op in operators() if not names or name_of(op) in names}


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", nargs="*", help="only these operators")
    parser.add_argument("--write", action="store_true", help="make the list anew")
    parser.add_argument("--verbose", action="store_true", help="every outcome")
    options = parser.parse_args()
    found = run_all(options.names)
    if options.verbose:
        for name, outcome in found.items():
            print(f"{outcome.what:12} {name}  {outcome.why}")
    counts = collections.Counter(outcome.what for outcome in found.values())
    samples = sum(outcome.samples for outcome in found.values())
    gradients = sum(outcome.gradients for outcome in found.values())
    print(f"{len(found)} operators: {dict(counts)}; {samples} samples, {gradients} gradients")
    if options.write:
        write(found)
        return 0
    wrong = judge(found)
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
