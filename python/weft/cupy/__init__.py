from weft.cupy._elementwise import ElementwiseKernel
from weft.cupy._reduction import ReductionKernel
