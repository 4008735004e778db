"""An operation that doubles a number, in TensorFlow, with its right gradient: 2, whatever is doubled.

TensorFlow calls Python for each use of it, which is slow beside an operation of its own, but it needs no compiler, no headers and no
registration, and works in graphs and under gradient tapes. Needs `pip install tensorflow`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import tensorflow as tf
from common import check, table, timed

import weft


@weft.vectorize
def double(x):
    return 2 * x


op = weft.tf_op(double)


def main(argv: Sequence[str] | None = None) -> int:
    """Check values and gradients, time the operation beside TensorFlow's own; 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=10_000_000, metavar="N", help="how many numbers are doubled (10000000)")
    asked = parser.parse_args(argv)

    x = tf.random.normal([asked.elements])
    ways = {"Weft": timed(lambda: op(x)), "a copy": timed(lambda: tf.raw_ops.DeepCopy(x=x)), "TensorFlow": timed(lambda: 2 * x)}
    table(f"{asked.elements:,} float32 doubled", "cpu", ways)

    def gradient(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.sin(op(x)))
        return tape.gradient(loss, x)

    small = tf.constant(np.random.default_rng(0).standard_normal((4, 5)))
    right = 2 * np.cos(2 * small.numpy())
    verdicts = [
        check("off from TensorFlow", float(tf.reduce_max(tf.abs(ways["Weft"].result - ways["TensorFlow"].result))), 0),
        check("gradient off from 2 cos(2 x)", float(np.abs(gradient(small).numpy() - right).max()), 1e-12),
        check("the same in a graph", float(np.abs(tf.function(gradient)(small).numpy() - right).max()), 1e-12),
    ]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    raise SystemExit(main())
