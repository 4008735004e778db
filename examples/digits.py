"""A small network learns to read digits: `weft.nn`, gradients, and a training step that is captured once.

The pictures are scikit-learn's, 1797 of them of 8 x 8 pixels (Alpaydin and Kaynak, 1998). Four fifths are learnt from, the others are only
read. The network is two linear maps with a rectifier between; `weft.value_and_grad` makes its gradient, which NumPy, beside it, needs
written by hand. The picture shows how the loss fell, of what is learnt and of what is only read, and digits with what they were read as.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from common import Pixels, arguments, beside, check, painted, save, table, timed
from sklearn.datasets import load_digits

import weft
from weft import nn

BATCH = 128
RATE = 1e-2
DECAY = 1e-2
# The colours of the two curves, and of digits that are read right and wrong.
LEARNT, ONLY_READ, RIGHT, WRONG = (32, 107, 203), (220, 90, 30), (25, 25, 25), (200, 20, 40)


def network(params: Any, x: Any) -> Any:
    """Scores of the ten digits for each picture, a row of pixels."""
    return nn.linear(params["out"], nn.relu(nn.linear(params["in"], x)))


def loss(params: Any, x: Any, digits: Any) -> Any:
    """How far the scores are from the digits, on average."""
    return nn.cross_entropy(network(params, x), digits)


def by_hand(params: dict[str, dict[str, np.ndarray]], x: np.ndarray, digits: np.ndarray) -> tuple[Any, dict]:
    """The loss and its gradient in NumPy."""
    before = x @ params["in"]["weight"].T + params["in"]["bias"]
    hidden = np.maximum(before, 0)
    scores = hidden @ params["out"]["weight"].T + params["out"]["bias"]
    scores -= scores.max(axis=1, keepdims=True)
    e = np.exp(scores)
    total = e.sum(axis=1, keepdims=True)
    rows = np.arange(len(x))
    value = (np.log(total[:, 0]) - scores[rows, digits]).mean()
    of_scores = e / total
    of_scores[rows, digits] -= 1
    of_scores /= len(x)
    of_hidden = (of_scores @ params["out"]["weight"]) * (before > 0)
    return value, {
        "in": {"weight": of_hidden.T @ x, "bias": of_hidden.sum(axis=0)},
        "out": {"weight": of_scores.T @ hidden, "bias": of_scores.sum(axis=0)},
    }


def trained(params: Any, x: Any, digits: Any, others: tuple[Any, Any], epochs: int) -> tuple[Any, list[float], list[float]]:
    """Parameters after some turns through all pictures in random order, and the losses of each turn: of these and of the others."""
    rng = weft.random.default_rng(1)
    steps = -(-x.shape[0] // BATCH)
    optimizer = nn.AdamW(nn.cosine_decay(RATE, steps * epochs), weight_decay=DECAY)

    @weft.compile
    def step(params: Any, state: Any, x: Any, digits: Any, rows: Any) -> tuple[Any, Any, Any]:
        value, gradient = weft.value_and_grad(loss)(params, x[rows], digits[rows])
        return *optimizer.update(params, gradient, state), value

    reading = weft.compile(loss)
    state, learnt, read = optimizer.init(params), [], []
    for _ in range(epochs):
        order, values = rng.permutation(x.shape[0]), []
        for start in range(0, x.shape[0], BATCH):
            params, state, value = step(params, state, x, digits, order[start : start + BATCH])
            values.append(value)
        learnt.append(weft.stack(values).mean())
        read.append(reading(params, *others))
        weft.eval(params["out"]["bias"], learnt[-1], read[-1], wait=False)
    return params, [float(value) for value in learnt], [float(value) for value in read]


def curves(*lines: tuple[list[float], tuple[int, int, int]], height: int, width: int) -> Pixels:
    """Lines of numbers above 0, from left to right, each in its colour; a grey line for each power of ten."""
    logs = [np.log10(np.maximum(values, 1e-6)) for values, _ in lines]
    low, high = np.floor(min(each.min() for each in logs)), np.ceil(max(each.max() for each in logs))
    pixels = np.full((height, width, 3), 255, np.uint8)

    def row(value: Any) -> Any:
        return ((height - 5) * (high - value) / max(high - low, 1)).astype(int)

    for power in np.arange(low, high + 1):
        pixels[row(power) : row(power) + 2] = 225
    for each, (_, colour) in zip(logs, lines):
        at = row(np.interp(np.linspace(0, len(each) - 1, width), np.arange(len(each)), each))
        for column, (start, end) in enumerate(zip(at, np.append(at[1:], at[-1]))):
            pixels[min(start, end) : max(start, end) + 3, column] = colour
    return pixels


def mosaic(pictures: np.ndarray, right: np.ndarray, side: int, scale: int) -> Pixels:
    """Pictures in a square, dark on white; those that are not right are red."""
    tiles = []
    for picture, good in zip(pictures.reshape(-1, 8, 8), right):
        tile = painted(picture, ((255, 255, 255), RIGHT if good else WRONG), 0, 1)
        tiles.append(np.pad(tile.repeat(scale, 0).repeat(scale, 1), ((2, 2), (2, 2), (0, 0)), constant_values=255))
    return np.concatenate([np.concatenate(tiles[i : i + side], axis=1) for i in range(0, side * side, side)])


def main(argv: Sequence[str] | None = None) -> int:
    """Learn, compare, read, draw; 1 if too little was learnt."""
    asked = arguments(__doc__, "digits.png", argv, hidden=(96, "numbers between the maps"), epochs=(30, "turns through all pictures", 2))
    pictures, digits = load_digits(return_X_y=True)
    pictures, digits = (pictures / 16).astype(np.float32), digits.astype(np.int32)
    order = np.random.default_rng(0).permutation(len(pictures))
    first, last = order[: len(order) * 4 // 5], order[len(order) * 4 // 5 :]
    with weft.device(asked.device) as device:
        x, truth, others, others_truth = (weft.asarray(each) for each in (pictures[first], digits[first], pictures[last], digits[last]))
        rng = weft.random.default_rng(0)
        params = {"in": nn.init.linear(rng, 64, asked.hidden), "out": nn.init.linear(rng, asked.hidden, 10)}
        host = {layer: {name: weft.asnumpy(each) for name, each in both.items()} for layer, both in params.items()}
        both, some = weft.compile(weft.value_and_grad(loss)), (x[:BATCH].copy(), truth[:BATCH].copy())

        def gradients() -> tuple[Any, ...]:
            value, gradient = both(params, *some)
            return value, gradient["in"]["weight"], gradient["out"]["weight"], gradient["in"]["bias"], gradient["out"]["bias"]

        ours = timed(gradients)
        numpys = timed(lambda: by_hand(host, pictures[first[:BATCH]], digits[first[:BATCH]]))
        table(f"loss and gradient of {BATCH} digits, {asked.hidden} numbers between", device, {"Weft": ours, "NumPy by hand": numpys})

        params, learnt, read = trained(params, x, truth, (others, others_truth), asked.epochs)
        found = weft.asnumpy(network(params, others).argmax(axis=1))
        right = found == digits[last]
        print(f"  loss: {learnt[0]:.3f} in the first turn, {learnt[-1]:.4f} in the last; of digits only read {read[-1]:.3f}")
        print(f"  {right.sum()} of {right.size} digits that were not learnt from are read right\n")
        value, gradient = numpys.result
        off = weft.asnumpy(ours.result[1]) - gradient["in"]["weight"]
        holds = [
            check("loss off from NumPy's", abs(float(ours.result[0]) - float(value)), 1e-5),
            check("gradient off from NumPy's", float(np.abs(off).max() / np.abs(gradient["in"]["weight"]).max()), 1e-5),
            check("part of the digits that is read wrong", 1 - float(right.mean()), 0.06),
        ]
        shown = mosaic(pictures[last][:64], right[:64], 8, 3)
        lines = curves((learnt, LEARNT), (read, ONLY_READ), height=shown.shape[0], width=2 * shown.shape[1])
        save(asked.out, beside(lines, shown))
    return 0 if all(holds) else 1


if __name__ == "__main__":
    raise SystemExit(main())
