"""The inverse square root: one over the square root, and a step that brings back what both roundings lost."""

import numpy as np
from weft import intrinsics


def rsqrt_each(x):
    """1 / sqrt(x). At most 1 ULP, 2 for subnormal x. Zeros give infinities of their sign."""
    s = intrinsics.sqrt(x)
    y = 1.0 / s
    lost = intrinsics.fma(-y, s, 1.0)
    root = intrinsics.fma(-s, s, x)
    z = intrinsics.fma(y, intrinsics.fma(-0.5 * (root * y), y, lost), y)
    return intrinsics.select((x > 0.0) & (x < np.inf), z, y)
