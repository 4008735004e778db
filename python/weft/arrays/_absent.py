"""Names of NumPy and JAX that `weft` does not have, each with a sentence of what to use instead, which its AttributeError says."""

from __future__ import annotations

_RECORDS = "Weft has no records: an array for each field does"
_DATES = "Weft has no dates: count days or seconds since one in integers, and convert with NumPy"
_TEXTS = "Weft has no texts as elements: NumPy's own does"
_WIDE = "Weft has no floats of more than 64 bits, which no GPU and no SIMD lane has"
_MATRIX = "weft.array and the operator @ do"
_SMALL_INTEGERS = "Weft has no integers below 8 bits: weft.int8 and weft.uint8 hold them, weft.packbits packs bits"
_SMALL_FLOATS = "Weft has no floats below 16 bits: weft.float16 and weft.bfloat16 are the smallest"
_NUMPYS = "it tells of NumPy itself: numpy.{} does"
_WALK = "weft.ndenumerate and x.flat go through elements, weft.ndindex through indices; loops that compute are for weft.njit"
_BUFFERS = "nothing is computed in buffers of NumPy's"

_REASONS: dict[str, str] = {
    **dict.fromkeys(("busday_count", "busday_offset", "busdaycalendar", "is_busday", "datetime64", "timedelta64", "isnat"), _DATES),
    **dict.fromkeys(("datetime_as_string", "datetime_data"), _DATES),
    **dict.fromkeys(("str_", "bytes_", "char", "strings"), _TEXTS),
    **dict.fromkeys(("rec", "recarray", "record", "void"), _RECORDS),
    **dict.fromkeys(("longdouble", "clongdouble", "float128", "complex256"), _WIDE),
    **dict.fromkeys(("matrix", "asmatrix", "bmat"), _MATRIX),
    **dict.fromkeys(("int1", "int2", "int4", "uint1", "uint2", "uint4"), _SMALL_INTEGERS),
    **dict.fromkeys(("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz"), _SMALL_FLOATS),
    **dict.fromkeys(("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"), _SMALL_FLOATS),
    **dict.fromkeys(("nditer", "nested_iters", "flatiter"), _WALK),
    **dict.fromkeys(("setbufsize", "getbufsize"), _BUFFERS),
    "seterrcall": "there is nothing that calls a function: weft.seterr says what becomes of errors of floats",
    "emath": "functions of numbers outside their range give NaN: weft.sqrt(x.astype(complex)) and its like give complex numbers",
    "fromregex": _RECORDS,
    "ma": "Weft has no masked arrays: weft.where with a mask, the argument where=, and the functions nansum, nanmean, … do",
    "memmap": "weft.asarray(numpy.memmap(…)) copies what is mapped",
    "row_stack": "weft.vstack is its name",
    "ScalarType": "weft.isdtype and weft.issubdtype ask what a dtype is",
    "sctypeDict": "weft.dtype(name) finds a dtype",
    "typecodes": "weft.isdtype and weft.issubdtype ask what a dtype is",
    "in1d": "weft.isin is its name",
    "trapz": "weft.trapezoid is its name",
    **{name: _NUMPYS.format(name) for name in ("get_include", "info", "show_config", "show_runtime", "test", "testing", "version")},
    **{name: _NUMPYS.format(name) for name in ("core", "ctypeslib", "f2py", "lib", "typing")},
}


def reason(name: str) -> str:
    """What stands behind an AttributeError's first words: empty for a name that nobody knows."""
    found = _REASONS.get(name)
    return "" if found is None else f": {found}"


def names() -> list[str]:
    """Every name that has a sentence."""
    return sorted(_REASONS)
