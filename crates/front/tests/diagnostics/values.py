# Constants that cannot be, and things that belong to kernels or to the host.


def by_zero(n: int):
    return n // 0


def by_float_zero(x: float):
    return x / 0.0


def outside_tuple(t: (int, int)):
    return t[5]


def zero_step(n: int):
    for i in range(0, n, 0):
        pass


def zero_slice_step(a: float64[:]):
    return a[::0]


def too_large(i: int8):
    return i + 1000


def huge_literal(n: int):
    return n + 123456789012345678901234567890


def not_a_kernel(n: int):
    return cuda.grid(1)


def barrier_on_host(n: int):
    cuda.syncthreads()


@cuda.jit
def kernel_returns(n: int):
    return n


@cuda.jit
def kernel_allocates(a: float64[:]):
    b = np.zeros(3)
    a[0] = b[0]


@cuda.jit
def kernel_temporary(a: float64[:]):
    b = a * 2
    a[0] = b[0]


@cuda.jit
def variable_shape(a: float64[:], n: int):
    s = cuda.shared.array(n, np.float64)
    a[0] = s[0]


def scratch(length, times):
    s = cuda.shared.array((4, length), np.float64)
    return s[0, times]


@cuda.jit
def variable_shape_of_a_call(a: float64[:], n: int):
    a[0] = scratch(8, 0)
    a[1] = scratch(n, 3)


@cuda.jit
def four_axes(a: float64[:]):
    i = cuda.grid(4)


@cuda.jit
def atomic_rank(a: float64[:, :]):
    cuda.atomic.add(a, 0, 1.0)


@cuda.jit
def atomic_type(a: complex128[:]):
    cuda.atomic.add(a, 0, 1.0)
