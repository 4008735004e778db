"""NumPy's random floats by its older names, `numpy.random.normal` and its like, from the twister of the thread.

The numbers, and which words of the twister they take, are those of Numba 0.68, which are mostly those of NumPy's RandomState: gamma, beta,
chisquare, f, standard_t, pareto, power, vonmises and dirichlet have methods of their own. Logarithms and the like are the C library's, as in
both. Where one of the two refuses a parameter, so does this.
"""

import numpy as np

from weft.language import Static, libm, refuse, thread_state

from .numpy_random_counts import _poisson
from .twister import _floats, _gauss, _real, _set_words, _unit, _whole

_PI = 3.141592653589793
_E = 2.718281828459045


def seed(seed):
    """Makes the thread's random numbers start anew from a whole number of 32 bits.

    >>> np.random.seed(1)
    >>> np.random.random()
    0.417022004702574
    """
    number = _whole(seed)
    if (number < 0) | (number > 0xFFFFFFFF):
        raise ValueError("Seed must be between 0 and 2**32 - 1")
    _set_words(thread_state("numpy_words"), number)
    thread_state("numpy_normal")[1] = 0.0


def _source():
    return thread_state("numpy_words"), thread_state("numpy_normal")


def _standard_exponential(source):
    return -libm("log", 1.0 - _unit(source))


def random(size=None):
    """Floats from 0 to below 1.

    >>> np.random.seed(1)
    >>> np.random.random(2)
    array([0.417022  , 0.72032449])
    """
    return _floats(size, _unit, _source())


def random_sample(size=None):
    """Floats from 0 to below 1.

    >>> np.random.seed(2)
    >>> np.random.random_sample()
    0.43599490214200376
    """
    return _floats(size, _unit, _source())


def sample(size=None):
    """Floats from 0 to below 1.

    >>> np.random.seed(2)
    >>> np.random.sample()
    0.43599490214200376
    """
    return _floats(size, _unit, _source())


def ranf(size=None):
    """Floats from 0 to below 1.

    >>> np.random.seed(2)
    >>> np.random.ranf()
    0.43599490214200376
    """
    return _floats(size, _unit, _source())


def rand(*shape):
    """Floats from 0 to below 1, of a shape that the arguments give.

    >>> np.random.seed(3)
    >>> np.random.rand(2, 1)
    array([[0.5507979 ],
           [0.70814782]])
    """
    if len(shape) == 0:
        return float(_unit(_source()))
    return _floats(shape, _unit, _source())


def randn(*shape):
    """Normal numbers, of a shape that the arguments give.

    >>> np.random.seed(3)
    >>> np.random.randn()
    1.7886284734303186
    """
    if len(shape) == 0:
        return float(_gauss(_source()))
    return _floats(shape, _gauss, _source())


def standard_normal(size=None):
    """Normal numbers, of mean 0 and deviation 1.

    >>> np.random.seed(3)
    >>> np.random.standard_normal(2)
    array([1.78862847, 0.43650985])
    """
    return _floats(size, _gauss, _source())


def normal(loc=0.0, scale=1.0, size=None):
    """Normal numbers.

    >>> np.random.seed(3)
    >>> np.random.normal(10.0, 2.0)
    13.577256946860636
    """
    return _floats(size, _normal, _source(), _real(loc), _not_negative(scale, "scale < 0"))


def _normal(source, loc, scale):
    return loc + scale * _gauss(source)


def _not_negative(x, message: Static):
    number = _real(x)
    if number < 0.0:
        raise ValueError(message)
    return number


def _positive(x, message: Static):
    number = _real(x)
    if not number > 0.0:
        raise ValueError(message)
    return number


def lognormal(mean=0.0, sigma=1.0, size=None):
    """The exponential of normal numbers.

    >>> np.random.seed(3)
    >>> np.random.lognormal(0.0, 0.5)
    2.445658071756572
    """
    return _floats(size, _lognormal, _source(), _real(mean), _not_negative(sigma, "sigma < 0"))


def _lognormal(source, mean, sigma):
    return libm("exp", _normal(source, mean, sigma))


def uniform(low=0.0, high=1.0, size=None):
    """Floats from `low` to below `high`.

    >>> np.random.seed(4)
    >>> np.random.uniform(-1.0, 1.0)
    0.9340596780273533
    """
    return _floats(size, _uniform, _source(), _real(low), _real(high))


def _uniform(source, low, high):
    return low + (high - low) * _unit(source)


def triangular(left, mode, right, size=None):
    """Floats whose density rises up to `mode` and falls from there.

    >>> np.random.seed(4)
    >>> np.random.triangular(0.0, 1.0, 4.0)
    3.370999259272392
    """
    low, peak, high = _real(left), _real(mode), _real(right)
    if low > peak:
        raise ValueError("left > mode")
    if peak > high:
        raise ValueError("mode > right")
    return _floats(size, _triangular, _source(), low, peak, high)


def _triangular(source, left, mode, right):
    if right == left:
        return left
    u = _unit(source)
    c = (mode - left) / (right - left)
    if u > c:
        return right + (left - right) * np.sqrt((1.0 - u) * (1.0 - c))
    return left + (right - left) * np.sqrt(u * c)


def exponential(scale=1.0, size=None):
    """Times between events that happen once in `scale`.

    >>> np.random.seed(5)
    >>> np.random.exponential(2.0)
    0.5020399546453052
    """
    return _floats(size, _exponential, _source(), _not_negative(scale, "scale < 0"))


def _exponential(source, scale):
    return _standard_exponential(source) * scale


def standard_exponential(size=None):
    """Times between events that happen once in 1.

    >>> np.random.seed(5)
    >>> np.random.standard_exponential()
    0.2510199773226526
    """
    return _floats(size, _standard_exponential, _source())


def rayleigh(scale=1.0, size=None):
    """The length of vectors with two normal components.

    >>> np.random.seed(5)
    >>> np.random.rayleigh(2.0)
    1.4170955573218134
    """
    return _floats(size, _rayleigh, _source(), _positive(scale, "scale <= 0"))


def _rayleigh(source, scale):
    return scale * np.sqrt(-2.0 * libm("log", 1.0 - _unit(source)))


def weibull(a, size=None):
    """Powers of exponential numbers: `a` is 1 over the power.

    >>> np.random.seed(5)
    >>> np.random.weibull(2.0)
    0.501018939085792
    """
    return _floats(size, _weibull, _source(), _not_negative(a, "a < 0"))


def _weibull(source, a):
    if a == 0.0:
        return 0.0
    return libm("pow", _standard_exponential(source), 1.0 / a)


def pareto(a, size=None):
    """Pareto's second distribution, which starts at 0.

    >>> np.random.seed(5)
    >>> np.random.pareto(3.0)
    0.08727365150941324
    """
    return _floats(size, _pareto, _source(), _positive(a, "a <= 0"))


def _pareto(source, a):
    return 1.0 / libm("pow", 1.0 - _unit(source), 1.0 / a) - 1.0


def power(a, size=None):
    """Floats from 0 to 1 whose density is a power, `a - 1`.

    >>> np.random.seed(5)
    >>> np.random.power(3.0)
    0.6054986859709502
    """
    return _floats(size, _power, _source(), _positive(a, "a <= 0"))


def _power(source, a):
    return libm("pow", 1.0 - libm("exp", -_standard_exponential(source)), 1.0 / a)


def laplace(loc=0.0, scale=1.0, size=None):
    """Exponential numbers of either sign.

    >>> np.random.seed(6)
    >>> np.random.laplace(0.0, 2.0)
    3.0809462428215006
    """
    return _floats(size, _laplace, _source(), _real(loc), _not_negative(scale, "scale < 0"))


def _laplace(source, loc, scale):
    u = _unit(source)
    if u < 0.5:
        return loc + scale * libm("log", u + u)
    return loc - scale * libm("log", 2.0 - u - u)


def logistic(loc=0.0, scale=1.0, size=None):
    """Numbers of the logistic distribution.

    >>> np.random.seed(6)
    >>> np.random.logistic(0.0, 2.0)
    4.240589972532673
    """
    return _floats(size, _logistic, _source(), _real(loc), _not_negative(scale, "scale < 0"))


def _logistic(source, loc, scale):
    u = _unit(source)
    return loc + scale * libm("log", u / (1.0 - u))


def gumbel(loc=0.0, scale=1.0, size=None):
    """Gumbel's distribution of extremes.

    >>> np.random.seed(6)
    >>> np.random.gumbel(0.0, 2.0)
    -1.6072474457879053
    """
    return _floats(size, _gumbel, _source(), _real(loc), _not_negative(scale, "scale < 0"))


def _gumbel(source, loc, scale):
    return loc - scale * libm("log", -libm("log", 1.0 - _unit(source)))


def standard_cauchy(size=None):
    """The quotient of two normal numbers.

    >>> np.random.seed(6)
    >>> np.random.standard_cauchy()
    -0.4276844930305788
    """
    return _floats(size, _standard_cauchy, _source())


def _standard_cauchy(source):
    above = _gauss(source)
    return above / _gauss(source)


def wald(mean, scale, size=None):
    """The inverse Gaussian distribution (Michael, Schucany and Haas, Amer. Statist. 30, 1976).

    >>> np.random.seed(6)
    >>> np.random.wald(2.0, 3.0)
    2.578054497929034
    """
    return _floats(size, _wald, _source(), _positive(mean, "mean <= 0"), _positive(scale, "scale <= 0"))


def _wald(source, mean, scale):
    half = mean / (2.0 * scale)
    n = _gauss(source)
    y = mean * n * n
    x = mean + half * (y - np.sqrt(4.0 * scale * y + y * y))
    if _unit(source) <= mean / (mean + x):
        return x
    return mean * mean / x


def vonmises(mu, kappa, size=None):
    """Angles around `mu` (Best and Fisher, Appl. Statist. 28, 1979).

    >>> np.random.seed(7)
    >>> np.random.vonmises(0.5, 4.0)
    0.4399138297251382
    """
    return _floats(size, _vonmises, _source(), _real(mu), _not_negative(kappa, "kappa < 0"))


def _vonmises(source, mu, kappa):
    if kappa != kappa:
        return kappa
    if kappa <= 1e-6:
        return 2.0 * _PI * _unit(source)
    s = 0.5 / kappa
    r = s + np.sqrt(1.0 + s * s)
    z = 0.0
    tried = False
    while not tried:
        z = libm("cos", _PI * _unit(source))
        d = z / (r + z)
        u = _unit(source)
        tried = u < 1.0 - d * d
        if not tried:
            tried = u <= (1.0 - d) * libm("exp", d)
    q = 1.0 / r
    turned = libm("acos", (q + z) / (1.0 + q * z))
    if _unit(source) > 0.5:
        return (mu + turned) % (2.0 * _PI)
    return (mu - turned) % (2.0 * _PI)


def gamma(shape, scale=1.0, size=None):
    """Gamma distributed numbers (Cheng, Appl. Statist. 26, 1977; below a shape of 1 by Ahrens and Dieter's GS).

    >>> np.random.seed(8)
    >>> np.random.gamma(2.5, 2.0)
    13.134619423035907
    """
    return _floats(size, _gamma, _source(), _positive(shape, "shape <= 0"), _positive(scale, "scale <= 0"))


def standard_gamma(shape, size=None):
    """Gamma distributed numbers of scale 1.

    >>> np.random.seed(8)
    >>> np.random.standard_gamma(0.5)
    1.1720492952881467
    """
    return _floats(size, _gamma, _source(), _positive(shape, "shape <= 0"), 1.0)


def _gamma(source, shape, scale):
    if shape > 1.0:
        return _cheng(source, shape) * scale
    if shape == 1.0:
        return _standard_exponential(source) * scale
    return _small_gamma(source, shape) * scale


def _cheng(source, alpha):
    a = np.sqrt(2.0 * alpha - 1.0)
    b = alpha - 1.3862943611198906
    c = alpha + a
    # Of shapes so large that twice them is infinite none would ever be accepted: these are the numbers themselves, as in RandomState.
    x = alpha
    tried = not a < np.inf
    while not tried:
        u = _unit(source)
        if (1e-7 < u) & (u < 0.9999999):
            w = 1.0 - _unit(source)
            v = libm("log", u / (1.0 - u)) / a
            x = alpha * libm("exp", v)
            z = u * u * w
            r = b + c * v - x
            tried = r + 2.504077396776274 - 4.5 * z >= 0.0
            if not tried:
                tried = r >= libm("log", z)
    return x


def _small_gamma(source, alpha):
    x = 0.0
    tried = False
    while not tried:
        u = _unit(source)
        b = (_E + alpha) / _E
        p = b * u
        if p <= 1.0:
            x = libm("pow", p, 1.0 / alpha)
        else:
            x = -libm("log", (b - p) / alpha)
        w = _unit(source)
        if p > 1.0:
            tried = w <= libm("pow", x, alpha - 1.0)
        else:
            tried = w <= libm("exp", -x)
    return x


def beta(a, b, size=None):
    """Beta distributed numbers, by two gamma distributed ones.

    >>> np.random.seed(8)
    >>> np.random.beta(2.0, 3.0)
    0.46575426256030983
    """
    return _floats(size, _beta, _source(), _positive(a, "a <= 0"), _positive(b, "b <= 0"))


def _beta(source, a, b):
    # In a loop, so that there is one copy of what draws them, and that no call.
    shape = a
    first = 0.0
    last = 0.0
    for turn in range(2):
        first = last
        # The second parameter is looked at only when it is drawn for.
        if not shape > 0.0:
            raise ValueError("gammavariate: alpha and beta must be > 0.0")
        last = _gamma(source, shape, 1.0)
        shape = b
        if (turn == 0) & (last == 0.0):
            return 0.0
    return first / (first + last)


def chisquare(df, size=None):
    """The sum of the squares of `df` normal numbers.

    >>> np.random.seed(8)
    >>> np.random.chisquare(3.0)
    11.75735368109028
    """
    return _floats(size, _chisquare, _source(), _positive(df, "df <= 0"))


def _chisquare(source, df):
    return 2.0 * _gamma(source, df / 2.0, 1.0)


def noncentral_chisquare(df, nonc, size=None):
    """The same of normal numbers whose means are not 0: `nonc` is the sum of their squares.

    >>> np.random.seed(8)
    >>> np.random.noncentral_chisquare(3.0, 1.0)
    4.4520745560805715
    """
    return _floats(size, _noncentral_chisquare, _source(), _positive(df, "df <= 0"), _not_negative(nonc, "nonc < 0"))


def _noncentral_chisquare(source, df, nonc):
    if nonc != nonc:
        return nonc
    if 1.0 < df:
        found = _chisquare(source, df - 1.0)
        n = _gauss(source) + np.sqrt(nonc)
        return found + n * n
    return _chisquare(source, df + 2.0 * np.float64(_poisson(source, nonc / 2.0)))


def f(dfnum, dfden, size=None):
    """The quotient of two mean squares of normal numbers.

    >>> np.random.seed(8)
    >>> np.random.f(3.0, 4.0)
    4.606596292691378
    """
    return _floats(size, _f, _source(), _positive(dfnum, "dfnum <= 0"), _positive(dfden, "dfden <= 0"))


def _f(source, dfnum, dfden):
    above = _chisquare(source, dfnum) * dfden
    return above / (_chisquare(source, dfden) * dfnum)


def standard_t(df, size=None):
    """Student's distribution.

    >>> np.random.seed(8)
    >>> np.random.standard_t(3.0)
    0.10069336108709104
    """
    return _floats(size, _standard_t, _source(), _positive(df, "df <= 0"))


def _standard_t(source, df):
    n = _gauss(source)
    g = _gamma(source, df / 2.0, 1.0)
    return np.sqrt(df / 2.0) * n / np.sqrt(g)


def dirichlet(alpha, size=None):
    """Rows of floats that sum to 1, by gamma distributed numbers.

    >>> np.random.seed(8)
    >>> np.random.dirichlet(np.array([1.0, 2.0]))
    array([0.49039631, 0.50960369])
    """
    shapes = np.asarray(alpha)
    if shapes.ndim != 1:
        refuse("alpha has one axis")
    for i in range(len(shapes)):
        if not shapes[i] > 0:
            raise ValueError("alpha <= 0")
    found = np.empty(_with_row(size, len(shapes)))
    rows = found.reshape((-1, len(shapes))) if len(shapes) > 0 else found.reshape((0, 0))
    for row in range(len(rows)):
        total = 0.0
        for i in range(len(shapes)):
            rows[row, i] = _gamma(_source(), np.float64(shapes[i]), 1.0)
            total = total + rows[row, i]
        for i in range(len(shapes)):
            rows[row, i] = rows[row, i] / total
    return found


def _with_row(size, length):
    """The shape of so many rows."""
    if size is None:
        return (length,)
    if isinstance(size, tuple):
        return size + (length,)
    return (size, length)
