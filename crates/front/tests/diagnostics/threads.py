# What threads do together: outside of kernels, and with operands that do not fit.


def shuffle_on_host(x: float):
    return cuda.shfl_sync(0xFFFFFFFF, x, 0)


def grid_on_host(x: float):
    cuda.cg.this_grid().sync()


def mask_on_host(x: float):
    return cuda.activemask()


@cuda.jit
def shuffled_array(x: float32[:]):
    x[0] = cuda.shfl_down_sync(0xFFFFFFFF, x, 1)


@cuda.jit
def float_mask(x: float32[:]):
    x[0] = cuda.shfl_down_sync(1.0, x[0], 1)


@cuda.jit
def float_lane(x: float32[:]):
    x[0] = cuda.shfl_sync(0xFFFFFFFF, x[0], x[1])


@cuda.jit
def no_lane(x: float32[:]):
    x[0] = cuda.shfl_xor_sync(0xFFFFFFFF, x[0])


@cuda.jit
def complex_match(x: complex64[:]):
    lanes = cuda.match_any_sync(0xFFFFFFFF, x[0])


@cuda.jit
def array_vote(x: float32[:]):
    yes = cuda.any_sync(0xFFFFFFFF, x)


@cuda.jit
def tuple_count(x: float32[:]):
    n = cuda.syncthreads_count((1, 2))


@cuda.jit
def float_bits(x: float32[:]):
    x[0] = cuda.brev(x[0])


@cuda.jit
def signed_inc(x: int32[:]):
    cuda.atomic.inc(x, 0, 5)


@cuda.jit
def unknown_of_grid(x: int32[:]):
    cuda.cg.this_grid().wait()


@cuda.jit
def flat_dynamic(x: int32[:]):
    box = cuda.shared.array((0, 4), np.int32)
    box[0] = 1
