"""Fourier transforms of arrays: `numpy.fft` by its names, and the FFT extension of the array API standard.

All transforms are computed at once, where the array is: by the CPU, or by kernels of `weft.kernels`. Single and half precision are computed
in single precision, all else in double precision.
"""

from weft.fft.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from weft.fft.transforms import fft, fft2, fftn, hfft, ifft, ifft2, ifftn, ihfft, irfft, irfft2, irfftn, rfft, rfft2, rfftn

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
