"""The ufuncs, a row each: everything that is made of one (the function, its methods, its docs and tests) comes from here.

Which types a ufunc takes, and what it computes, the compiler knows: `crates/front/src/builtins/loops.rs` has its rows.
"""

from __future__ import annotations

from math import inf
from typing import Any

# Name, operands, results, what it computes, an example's arguments, and what these give.
ROWS: list[tuple[str, int, int, str, str, str]] = [
    # fmt: off
    ("add", 2, 1, "The sum of two arrays, element by element.", "[1.0, 2.0], 10", "array([11., 12.])"),
    ("subtract", 2, 1, "The first array less the second.", "[1.0, 2.0], 10", "array([-9., -8.])"),
    ("multiply", 2, 1, "The product of two arrays, element by element.", "[1.0, 2.0], [3.0, 4.0]", "array([3., 8.])"),
    ("divide", 2, 1, "The quotient; of integers it is a float64.", "[1, 2], 4", "array([0.25, 0.5 ])"),
    ("floor_divide", 2, 1, "The quotient rounded down.", "[7, -7], 2", "array([ 3, -4])"),
    ("remainder", 2, 1, "What `floor_divide` leaves: it has the divisor's sign.", "[7, -7], 3", "array([1, 2])"),
    ("fmod", 2, 1, "What division rounded towards zero leaves: it has the dividend's sign, as in C.", "[7, -7], 3", "array([ 1, -1])"),
    ("divmod", 2, 2, "`floor_divide` and `remainder` at once.", "[7, -7], 3", "(array([ 2, -3]), array([1, 2]))"),
    ("power", 2, 1, "The first array to the power of the second; integers to a negative one are refused.", "[2, 3], 3", "array([ 8, 27])"),
    ("float_power", 2, 1, "Powers computed in float64 at least.", "[2, 3], -1", "array([0.5       , 0.33333333])"),
    ("negative", 1, 1, "The elements with the other sign.", "[1, -2]", "array([-1,  2])"),
    ("positive", 1, 1, "The elements as they are.", "[1, -2]", "array([ 1, -2])"),
    ("absolute", 1, 1, "The distance from zero: of a complex number, its modulus.", "[-1, 2]", "array([1, 2])"),
    ("fabs", 1, 1, "The distance from zero of floats.", "[-1, 2]", "array([1., 2.])"),
    ("sign", 1, 1, "-1, 0 or 1; of a complex number, the one of modulus one in its direction.", "[-5.0, 0.0, 2.0]", "array([-1.,  0.,  1.])"),
    ("square", 1, 1, "The elements times themselves.", "[2, 3]", "array([4, 9])"),
    ("reciprocal", 1, 1, "One divided by the elements.", "[2.0, 4.0]", "array([0.5 , 0.25])"),
    ("conjugate", 1, 1, "The elements with the other sign of their imaginary part.", "[1 + 2j]", "array([1.-2.j])"),
    ("sqrt", 1, 1, "The square root, that which is not negative.", "[4.0, 9.0]", "array([2., 3.])"),
    ("cbrt", 1, 1, "The cube root.", "[8.0, -27.0]", "array([ 2., -3.])"),
    ("hypot", 2, 1, "The length of the hypotenuse of sides at a right angle, without overflow.", "[3.0], [4.0]", "array([5.])"),
    ("exp", 1, 1, "e to the power of the elements.", "[0.0, 1.0]", "array([1.        , 2.71828183])"),
    ("exp2", 1, 1, "2 to the power of the elements.", "[0.0, 3.0]", "array([1., 8.])"),
    ("expm1", 1, 1, "`exp` less one, exact near zero.", "[0.0, 1e-10]", "array([0.e+00, 1.e-10])"),
    ("log", 1, 1, "The natural logarithm.", "[1.0, 10.0]", "array([0.        , 2.30258509])"),
    ("log2", 1, 1, "The logarithm to base 2.", "[1.0, 8.0]", "array([0., 3.])"),
    ("log10", 1, 1, "The logarithm to base 10.", "[1.0, 1000.0]", "array([0., 3.])"),
    ("log1p", 1, 1, "The natural logarithm of one plus the elements, exact near zero.", "[0.0, 1e-10]", "array([0.e+00, 1.e-10])"),
    ("logaddexp", 2, 1, "The logarithm of the sum of the exponentials of two arrays.", "[0.0], [0.0]", "array([0.69314718])"),
    ("logaddexp2", 2, 1, "The logarithm to base 2 of the sum of two powers of 2.", "[0.0], [0.0]", "array([1.])"),
    ("sin", 1, 1, "The sine of angles in radians.", "[0.0, 1.0]", "array([0.        , 0.84147098])"),
    ("cos", 1, 1, "The cosine of angles in radians.", "[0.0, 1.0]", "array([1.        , 0.54030231])"),
    ("tan", 1, 1, "The tangent of angles in radians.", "[0.0, 1.0]", "array([0.        , 1.55740772])"),
    ("arcsin", 1, 1, "The angle that has this sine, between -pi/2 and pi/2.", "[0.0, 1.0]", "array([0.        , 1.57079633])"),
    ("arccos", 1, 1, "The angle that has this cosine, between 0 and pi.", "[1.0, -1.0]", "array([0.        , 3.14159265])"),
    ("arctan", 1, 1, "The angle that has this tangent, between -pi/2 and pi/2.", "[0.0, 1.0]", "array([0.        , 0.78539816])"),
    ("arctan2", 2, 1, "The angle of the point (second, first), from -pi to pi.", "[0.0, 1.0], [-1.0, 1.0]", "array([3.14159265, 0.78539816])"),
    ("sinh", 1, 1, "The hyperbolic sine.", "[0.0, 1.0]", "array([0.        , 1.17520119])"),
    ("cosh", 1, 1, "The hyperbolic cosine.", "[0.0, 1.0]", "array([1.        , 1.54308063])"),
    ("tanh", 1, 1, "The hyperbolic tangent.", "[0.0, 1.0]", "array([0.        , 0.76159416])"),
    ("arcsinh", 1, 1, "The number that has this hyperbolic sine.", "[0.0, 1.0]", "array([0.        , 0.88137359])"),
    ("arccosh", 1, 1, "The number, not negative, that has this hyperbolic cosine.", "[1.0, 2.0]", "array([0.       , 1.3169579])"),
    ("arctanh", 1, 1, "The number that has this hyperbolic tangent.", "[0.0, 0.5]", "array([0.        , 0.54930614])"),
    ("deg2rad", 1, 1, "Degrees as radians.", "[0.0, 180.0]", "array([0.        , 3.14159265])"),
    ("rad2deg", 1, 1, "Radians as degrees.", "[0.0, 0.5]", "array([ 0.        , 28.64788976])"),
    ("degrees", 1, 1, "Radians as degrees.", "[0.0, 0.5]", "array([ 0.        , 28.64788976])"),
    ("radians", 1, 1, "Degrees as radians.", "[0.0, 180.0]", "array([0.        , 3.14159265])"),
    ("floor", 1, 1, "The largest integer that is no larger; integers as they are.", "[-1.5, 1.5]", "array([-2.,  1.])"),
    ("ceil", 1, 1, "The smallest integer that is no smaller; integers as they are.", "[-1.5, 1.5]", "array([-1.,  2.])"),
    ("trunc", 1, 1, "The nearest integer towards zero; integers as they are.", "[-1.5, 1.5]", "array([-1.,  1.])"),
    ("rint", 1, 1, "The nearest integer, the even one of two.", "[0.5, 1.5]", "array([0., 2.])"),
    ("modf", 1, 2, "The fraction and the integer part.", "[-1.5, 2.25]", "(array([-0.5 ,  0.25]), array([-1.,  2.]))"),
    ("frexp", 1, 2, "Mantissas of at least a half and below one, and exponents of 2.", "[6.0, 0.5]", "(array([0.75, 0.5 ]), array([3, 0], dtype=int32))"),
    ("ldexp", 2, 1, "The first array times 2 to the power of the second.", "[0.75], [3]", "array([6.])"),
    ("spacing", 1, 1, "The distance to the next number.", "[1.0]", "array([2.22044605e-16])"),
    ("nextafter", 2, 1, "The next number towards the second array.", "[1.0], [2.0]", "array([1.])"),
    ("copysign", 2, 1, "The first array with the signs of the second.", "[1.0, 2.0], -1.0", "array([-1., -2.])"),
    ("signbit", 1, 1, "Is the sign set? It is for -0.0, too.", "[-0.0, 1.0]", "array([ True, False])"),
    ("heaviside", 2, 1, "0 below zero, 1 above, the second array at zero.", "[-1.0, 0.0, 1.0], 0.5", "array([0. , 0.5, 1. ])"),
    ("maximum", 2, 1, "The larger of two; NaN where either is.", "[1.0, 5.0], 3.0", "array([3., 5.])"),
    ("minimum", 2, 1, "The smaller of two; NaN where either is.", "[1.0, 5.0], 3.0", "array([1., 3.])"),
    ("fmax", 2, 1, "The larger of two, a number rather than NaN.", "[1.0, 5.0], 3.0", "array([3., 5.])"),
    ("fmin", 2, 1, "The smaller of two, a number rather than NaN.", "[1.0, 5.0], 3.0", "array([1., 3.])"),
    ("gcd", 2, 1, "The greatest common divisor.", "[12, 20], 8", "array([4, 4])"),
    ("lcm", 2, 1, "The least common multiple.", "[4, 6], 10", "array([20, 30])"),
    ("bitwise_and", 2, 1, "The bits that both have.", "[12, 10], 6", "array([4, 2])"),
    ("bitwise_or", 2, 1, "The bits that either has.", "[12, 10], 6", "array([14, 14])"),
    ("bitwise_xor", 2, 1, "The bits that one of both has.", "[12, 10], 6", "array([10, 12])"),
    ("invert", 1, 1, "The other bits; of bools, `logical_not`.", "[0, 5]", "array([-1, -6])"),
    ("left_shift", 2, 1, "Bits moved up.", "[1, 5], 2", "array([ 4, 20])"),
    ("right_shift", 2, 1, "Bits moved down, a sign kept.", "[-8, 5], 2", "array([-2,  1])"),
    ("bitwise_count", 1, 1, "How many bits of the distance from zero are set.", "[7, -8]", "array([3, 1], dtype=uint8)"),
    ("equal", 2, 1, "Are the elements equal? NaN equals nothing.", "[1, 2], 2", "array([False,  True])"),
    ("not_equal", 2, 1, "Do the elements differ?", "[1, 2], 2", "array([ True, False])"),
    ("less", 2, 1, "Are the first elements less?", "[1, 2], 2", "array([ True, False])"),
    ("less_equal", 2, 1, "Are the first elements no greater?", "[1, 2], 2", "array([ True,  True])"),
    ("greater", 2, 1, "Are the first elements greater?", "[1, 3], 2", "array([False,  True])"),
    ("greater_equal", 2, 1, "Are the first elements no less?", "[1, 2], 2", "array([False,  True])"),
    ("logical_and", 2, 1, "Are both true, that is, not zero?", "[True, False], True", "array([ True, False])"),
    ("logical_or", 2, 1, "Is either true?", "[True, False], False", "array([ True, False])"),
    ("logical_xor", 2, 1, "Is one true, and the other not?", "[True, False], True", "array([False,  True])"),
    ("logical_not", 1, 1, "Is it zero?", "[1, 0]", "array([False,  True])"),
    ("isnan", 1, 1, "Is it NaN?", "[1.0, weft.nan]", "array([False,  True])"),
    ("isinf", 1, 1, "Is it infinite, of either sign?", "[1.0, -weft.inf]", "array([False,  True])"),
    ("isfinite", 1, 1, "Is it neither infinite nor NaN?", "[1.0, weft.inf]", "array([ True, False])"),
    # fmt: on
]

# The Array API's names, and NumPy's second ones: the same objects.
SPELLINGS = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_not": "invert",
    "bitwise_right_shift": "right_shift",
    "conj": "conjugate",
    "mod": "remainder",
    "pow": "power",
    "true_divide": "divide",
}

# What an operation leaves its other operand as.
IDENTITIES: dict[str, Any] = {
    "add": 0,
    "bitwise_and": -1,
    "bitwise_or": 0,
    "bitwise_xor": 0,
    "gcd": 0,
    "hypot": 0,
    "logaddexp": -inf,
    "logaddexp2": -inf,
    "logical_and": True,
    "logical_or": False,
    "logical_xor": False,
    "multiply": 1,
}

# Operations whose operands may be taken in any order, so that several axes can be reduced at once.
REORDERABLE = {*IDENTITIES, "maximum", "minimum", "fmax", "fmin"}

# Operations that are folds of the compiler's own.
FOLDS = {
    "add", "multiply", "maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or", "bitwise_and", "bitwise_or", "bitwise_xor",
}  # fmt: skip
