"""The exceptions Weft raises.

Each is also the builtin exception that fits, so that code which does not know Weft can catch it. Errors about a
function's source show the line with a caret under the expression.
"""


class WeftError(Exception):
    """What all of Weft's own exceptions are."""


class UnsupportedError(WeftError, NotImplementedError):
    """Python that Weft does not compile, or a feature that a device does not have."""


class NameError_(WeftError, NameError):
    """A name in a compiled function that is defined nowhere."""


class TypingError(WeftError, TypeError):
    """Types that do not fit: in the function, or of its arguments."""


class ArgumentError(WeftError, TypeError):
    """A call with the wrong number or names of arguments."""


class ConstantError(WeftError, ValueError):
    """A constant that cannot be, such as a shared array larger than any device's shared memory."""


class IndexError_(ConstantError, IndexError):
    """An index, written out, outside a tuple."""


class ZeroDivisionError_(ConstantError, ZeroDivisionError):
    """A division, by a zero written out, that would raise whenever it is come to."""


class LaunchError(WeftError, ValueError):
    """A launch that no device can do, such as a block of more than 1024 threads."""


class SyncError(WeftError, RuntimeError):
    """Elements of an array are needed in a block of `weft.syncs("error")`."""


class CaptureError(WeftError, RuntimeError):
    """What `weft.compile` cannot capture: a function that asks for elements, or for something else than arrays."""


class GradientError(WeftError, RuntimeError):
    """What has no gradient, or has none that Weft knows: a rule of one's own gives it one."""


class GradcheckError(GradientError, AssertionError):
    """A gradient that is not what central differences say."""


class SourceError(WeftError, RuntimeError):
    """The source of a function is not available, or is not what was imported."""


class PrecisionWarning(UserWarning):
    """A kernel computes in float32 what it computes in float64 on other devices, since its device has no float64."""


class LibraryError(WeftError, RuntimeError):
    """A call of one of NVIDIA's libraries failed, or what `WEFT_NVIDIA_LIBRARIES` says cannot be."""


class InternalError(WeftError, RuntimeError):
    """A defect of Weft."""
