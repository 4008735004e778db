"""ONNX's operators that move, take and put elements, by weft arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import weft
from weft import nn

from .graphs import Node, Uncovered, dtype_of, operator


def ints(x: Any) -> list[int]:
    """The numbers of a small array."""
    return [int(n) for n in np.atleast_1d(weft.asnumpy(x))]


@operator("Constant")
def _constant(node: Node) -> Any:
    for name, dtype in (("value_float", "float32"), ("value_floats", "float32"), ("value_int", "int64"), ("value_ints", "int64")):
        if name in node.attributes:
            return weft.asarray(node[name], dtype=dtype)
    if "value" not in node.attributes:
        raise Uncovered("texts, sequences and optional values")
    return node["value"]


@operator("ConstantOfShape")
def _constant_of_shape(node: Node, shape: Any) -> Any:
    value = node.get("value", weft.zeros(1, dtype="float32"))
    return weft.broadcast_to(value.reshape(()), tuple(ints(shape)) if shape.size else ()).copy()


@operator("Shape")
def _shape(node: Node, x: Any) -> Any:
    return weft.asarray(x.shape[node.get("start", 0) : node.get("end", x.ndim)], dtype="int64")


@operator("Size")
def _size(node: Node, x: Any) -> Any:
    return weft.asarray(x.size)


@operator("Reshape")
def _reshape(node: Node, x: Any, shape: Any) -> Any:
    sizes = ints(shape) if shape.size else []
    if not node.get("allowzero", 0):
        sizes = [x.shape[i] if n == 0 else n for i, n in enumerate(sizes)]
    return x.reshape(tuple(sizes))


@operator("Flatten")
def _flatten(node: Node, x: Any) -> Any:
    axis = node.get("axis", 1)
    axis += x.ndim if axis < 0 else 0
    return x.reshape((math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@operator("Transpose")
def _transpose(node: Node, x: Any) -> Any:
    return weft.transpose(x, node.get("perm"))


@operator("Squeeze")
def _squeeze(node: Node, x: Any, axes: Any = None) -> Any:
    given = node.get("axes", None if axes is None else ints(axes))
    return weft.squeeze(x, None if given is None else tuple(given))


@operator("Unsqueeze")
def _unsqueeze(node: Node, x: Any, axes: Any = None) -> Any:
    return weft.expand_dims(x, tuple(node.get("axes") or ints(axes)))


@operator("Expand")
def _expand(node: Node, x: Any, shape: Any) -> Any:
    return weft.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(ints(shape))))


@operator("Tile")
def _tile(node: Node, x: Any, repeats: Any) -> Any:
    return weft.tile(x, ints(repeats))


@operator("Concat")
def _concat(node: Node, *inputs: Any) -> Any:
    return weft.concatenate(inputs, axis=node["axis"])


@operator("Split")
def _split(node: Node, x: Any, sizes: Any = None) -> Any:
    axis = node.get("axis", 0)
    if sizes is None and "split" not in node.attributes:
        count = node.get("num_outputs", node.outputs)
        each = -(-x.shape[axis] // count)
        ends = [min((i + 1) * each, x.shape[axis]) for i in range(count - 1)]
    else:
        ends = np.cumsum(node.get("split") or ints(sizes))[:-1].tolist()
    return weft.split(x, ends, axis=axis)


@operator("Slice")
def _slice(node: Node, x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Any:
    firsts, lasts = ints(starts), ints(ends)
    where = list(range(len(firsts))) if axes is None else ints(axes)
    cut = [slice(None)] * x.ndim
    for i, (axis, start, end) in enumerate(zip(where, firsts, lasts)):
        step = 1 if steps is None else ints(steps)[i]
        n = x.shape[axis]
        # An end in front of all is none for slices that go backwards.
        end = None if step < 0 and end < -n else end
        cut[axis] = slice(start, end, step)
    return x[tuple(cut)]


@operator("Pad")
def _pad(node: Node, x: Any, pads: Any, value: Any = None, axes: Any = None) -> Any:
    mode = node.get("mode", "constant")
    widths, where = ints(pads), list(range(x.ndim)) if axes is None else [n % x.ndim for n in ints(axes)]
    each = [(0, 0)] * x.ndim
    for i, axis in enumerate(where):
        each[axis] = (widths[i], widths[i + len(where)])
    cut = tuple(slice(max(-low, 0), n - max(-high, 0)) for (low, high), n in zip(each, x.shape))
    widths = [(max(low, 0), max(high, 0)) for low, high in each]
    if mode == "constant":
        return weft.pad(x[cut], widths, constant_values=0 if value is None else value)
    return weft.pad(x[cut], widths, mode)


@operator("Gather")
def _gather(node: Node, x: Any, indices: Any) -> Any:
    return weft.take(x, indices, axis=node.get("axis", 0))


@operator("GatherElements")
def _gather_elements(node: Node, x: Any, indices: Any) -> Any:
    return weft.take_along_axis(_as_far(x, indices, node.get("axis", 0)), indices, node.get("axis", 0))


def _as_far(x: Any, indices: Any, axis: int) -> Any:
    """What indices along an axis reach: other axes may be longer than theirs."""
    axis %= x.ndim
    return x[tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(indices.shape))]


@operator("GatherND")
def _gather_nd(node: Node, x: Any, indices: Any) -> Any:
    front, last = node.get("batch_dims", 0), indices.shape[-1]
    grids = [weft.arange(n).reshape((n,) + (1,) * (indices.ndim - 2 - i)) for i, n in enumerate(indices.shape[:front])]
    return x[(*grids, *(indices[..., i] for i in range(last)))]


@operator("ScatterND")
def _scatter_nd(node: Node, x: Any, indices: Any, updates: Any) -> Any:
    return _put(node.get("reduction", "none"), x.copy(), tuple(indices[..., i] for i in range(indices.shape[-1])), updates)


@operator("ScatterElements", "Scatter")
def _scatter_elements(node: Node, x: Any, indices: Any, updates: Any) -> Any:
    axis = node.get("axis", 0) % x.ndim
    grids = [weft.arange(n).reshape((n,) + (1,) * (x.ndim - 1 - i)) for i, n in enumerate(indices.shape)]
    grids[axis] = indices
    return _put(node.get("reduction", "none"), x.copy(), tuple(grids), updates)


def _put(reduction: str, x: Any, places: tuple, updates: Any) -> Any:
    ufunc = {"add": weft.add, "mul": weft.multiply, "max": weft.maximum, "min": weft.minimum}
    if reduction == "none":
        x[places] = updates
    else:
        ufunc[reduction].at(x, places, updates)
    return x


@operator("TensorScatter")
def _tensor_scatter(node: Node, cache: Any, update: Any, first: Any = None) -> Any:
    axis = node.get("axis", -2) % cache.ndim
    found, count, length = cache.copy(), cache.shape[axis], update.shape[axis]
    for n in range(cache.shape[0]):
        start = 0 if first is None else ints(first)[n]
        places = [(start + i) % count if node.get("mode", "linear") == "circular" else start + i for i in range(length)]
        front = (n, *(slice(None),) * (axis - 1))
        for i, place in enumerate(places):
            found[(*front, place)] = update[(*front, i)]
    return found


@operator("Compress")
def _compress(node: Node, x: Any, condition: Any) -> Any:
    return weft.compress(condition, x, axis=node.get("axis"))


@operator("NonZero")
def _nonzero(node: Node, x: Any) -> Any:
    return weft.stack(weft.nonzero(x))


@operator("OneHot")
def _one_hot(node: Node, indices: Any, depth: Any, values: Any) -> Any:
    count = int(weft.asnumpy(depth).reshape(-1)[0])
    whole = indices.astype("int64")
    found = nn.one_hot(weft.where(whole < 0, whole + count, whole), count, "bool", node.get("axis", -1))
    return weft.where(found, values[1], values[0])


@operator("Trilu")
def _trilu(node: Node, x: Any, k: Any = None) -> Any:
    return (weft.triu if node.get("upper", 1) else weft.tril)(x, 0 if k is None else int(k.item()))


@operator("EyeLike")
def _eye_like(node: Node, x: Any) -> Any:
    return weft.eye(*x.shape, k=node.get("k", 0), dtype=dtype_of(node["dtype"]) if "dtype" in node.attributes else x.dtype)


@operator("Range")
def _range(node: Node, start: Any, limit: Any, delta: Any) -> Any:
    count = max(math.ceil((limit.item() - start.item()) / delta.item()), 0)
    return (start + weft.arange(count) * delta).astype(start.dtype)


@operator("TopK")
def _top_k(node: Node, x: Any, k: Any) -> Any:
    axis, count = node.get("axis", -1), int(k.item())
    largest = bool(node.get("largest", 1))
    order = weft.argsort(x, axis=axis, descending=largest, stable=True)
    order = order[(slice(None),) * (axis % x.ndim) + (slice(count),)]
    return weft.take_along_axis(x, order, axis), order


@operator("Unique")
def _unique(node: Node, x: Any) -> Any:
    axis = node.get("axis")
    found, first, inverse, counts = weft.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    if not node.get("sorted", 1):
        order = weft.argsort(first)
        back = weft.argsort(order)
        found = weft.take(found, order, axis=axis)
        first, counts, inverse = first[order], counts[order], back[inverse]
    return (found, first, inverse.reshape(-1), counts)[: node.outputs]


@operator("ReverseSequence")
def _reverse_sequence(node: Node, x: Any, lengths: Any) -> Any:
    time, batch = node.get("time_axis", 0), node.get("batch_axis", 1)
    moved = weft.moveaxis(x, (batch, time), (0, 1)).copy()
    for n, length in enumerate(ints(lengths)):
        moved[n, :length] = moved[n, :length][::-1].copy()
    return weft.moveaxis(moved, (0, 1), (batch, time))


@operator("DepthToSpace")
def _depth_to_space(node: Node, x: Any) -> Any:
    n, c, h, w = x.shape
    b = node["blocksize"]
    if node.get("mode", "DCR") == "DCR":
        return x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // (b * b), h * b, w * b)
    return x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c // (b * b), h * b, w * b)


@operator("SpaceToDepth")
def _space_to_depth(node: Node, x: Any) -> Any:
    n, c, h, w = x.shape
    b = node["blocksize"]
    if node.get("mode", "DCR") == "DCR":
        return x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)
    return x.reshape(n, c, h // b, b, w // b, b).transpose(0, 1, 3, 5, 2, 4).reshape(n, c * b * b, h // b, w // b)


@operator("CenterCropPad")
def _center(node: Node, x: Any, shape: Any) -> Any:
    for axis, n in zip(node.get("axes", range(x.ndim)), ints(shape)):
        had = x.shape[axis]
        front = (slice(None),) * (axis % x.ndim)
        if n <= had:
            start = (had - n) // 2
            x = x[(*front, slice(start, start + n))]
        else:
            widths = [(0, 0)] * x.ndim
            widths[axis] = ((n - had) // 2, n - had - (n - had) // 2)
            x = weft.pad(x, widths)
    return x


@operator("Col2Im")
def _col_to_image(node: Node, x: Any, image: Any, block: Any) -> Any:
    from weft.nn._windows import Windows, added_back, taps

    sizes, extents = tuple(ints(block)), tuple(ints(image))
    rank = len(sizes)
    pads = node.get("pads", [0] * 2 * rank)
    windows = Windows(
        sizes, tuple(node.get("strides", [1] * rank)), tuple(node.get("dilations", [1] * rank)), tuple(pads[:rank]), tuple(pads[rank:])
    )
    counts = windows.counts(extents, "Col2Im")
    laid = x.reshape((x.shape[0], -1, math.prod(sizes), *counts))
    parts = ((place, laid[:, :, i]) for i, place in enumerate(taps(windows)))
    return added_back(parts, windows, laid.shape[:2], extents, x)


@operator("If")
def _if(node: Node, condition: Any) -> Any:
    return node.run(node["then_branch"] if bool(condition) else node["else_branch"], [])


@operator("BlackmanWindow", "HannWindow", "HammingWindow")
def _window(node: Node, size: Any) -> Any:
    n = int(size.item())
    make = {"BlackmanWindow": weft.blackman, "HannWindow": weft.hanning, "HammingWindow": weft.hamming}[node.type]
    # A periodic window is a symmetric one of one more without its last element; ONNX's Hamming starts at 25/46.
    if node.type == "HammingWindow":
        angle = weft.arange(n) * (2 * np.pi / (n if node.get("periodic", 1) else n - 1))
        found = 25 / 46 - 21 / 46 * weft.cos(angle)
    else:
        found = make(n + 1)[:-1] if node.get("periodic", 1) else make(n)
    return found.astype(dtype_of(node.get("output_datatype", 1)))


@operator("DFT")
def _dft(node: Node, x: Any, length: Any = None, axis: Any = None) -> Any:
    if node.version < 20 and "axis" not in node.attributes:
        at = 1
    else:
        at = node.get("axis", -2) if axis is None else int(axis.item())
    at %= x.ndim
    values = x[..., 0] if x.shape[-1] == 1 else x[..., 0] + 1j * x[..., 1]
    n = None if length is None else int(length.item())
    inverse = node.get("inverse", 0)
    if node.get("onesided", 0):
        if inverse:
            found = weft.fft.irfft(values, n, axis=at)[..., None]
            return found.astype(x.dtype)
        found = weft.fft.rfft(values, n, axis=at)
    else:
        found = (weft.fft.ifft if inverse else weft.fft.fft)(values, n, axis=at)
    return weft.stack([found.real, found.imag], axis=-1).astype(x.dtype)


@operator("AffineGrid")
def _affine_grid(node: Node, theta: Any, size: Any) -> Any:
    sizes = ints(size)[2:]
    lines = []
    for n in sizes:
        if node.get("align_corners", 0):
            lines.append(weft.linspace(-1, 1, n))
        else:
            lines.append((weft.arange(n) * 2 + 1) / n - 1)
    mesh = weft.meshgrid(*lines, indexing="ij")
    points = weft.stack([*reversed(mesh), weft.ones_like(mesh[0])], axis=-1).reshape(-1, len(sizes) + 1).astype(theta.dtype)
    return (points @ theta.swapaxes(1, 2)).reshape((theta.shape[0], *sizes, len(sizes)))
