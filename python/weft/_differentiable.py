"""What compiled functions, kernels and ufuncs have for gradients; `weft.gradients.compiled` does the work when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.gradients.compiled import Gradient


class Ruled:
    """What may have a rule for its gradients."""

    def defvjp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Takes a rule for gradients in place of what is derived: a decorator.

        ``rule(cotangents, outputs, *args)`` gives a gradient, or None, for each of the arguments. Of a function
        `outputs` is what it returns for the arguments and `cotangents` that result's cotangent. Of a kernel, which
        returns nothing, `cotangents` is the tuple of adjoints, to which the rule adds by itself, and `outputs` is
        None; what it returns is not looked at.

        >>> import weft
        >>> @weft.njit
        ... def clipped(x):
        ...     return min(max(x, 0.0), 1.0)
        >>> @clipped.defvjp
        ... def straight_through(cotangent, output, x):
        ...     return (cotangent,)
        >>> clipped.grad((3.0,), (None,), 2.0)
        (2.0,)
        """
        if not callable(rule):
            raise TypeError(f"a rule is a function of (cotangents, outputs, *args), not a {type(rule).__name__}")
        self.__dict__["_vjp_"] = rule
        return rule

    @property
    def vjp_rule(self) -> Callable[..., Any] | None:
        """The rule that `defvjp` was given, if any."""
        return self.__dict__.get("_vjp_")


class Differentiable(Ruled):
    """What functions and kernels have besides being called: their gradients."""

    @property
    def grad(self) -> Gradient:
        """The function's adjoint.

        Of a function: ``f.grad(args, adjoints, cotangent=None)``. `args` is the tuple of arguments as in a call, as
        they were before it. `adjoints` is a tuple as long: for an array an array of the same shape and dtype, to
        which its gradient is added, or None for what is constant; None for everything else. `cotangent` is that of
        the result: a number or an array for each that is returned (1.0 where a function of numbers is to be
        differentiated, the default). It returns a tuple with the gradient of each argument that is a float, and None
        for others.

        Of a kernel: ``kernel.grad[blocks, threads](args, adjoints)``, with a stream and shared memory as for a
        launch. The adjoint of an array that the kernel writes holds the cotangent of what it leaves there, and is
        zeroed where the kernel overwrites. That of a float is an array of one element.

        The function's arrays are read and never written. What is not known to be differentiated rightly raises
        `weft.errors.UnsupportedError` with the line.

        >>> import numpy as np
        >>> import weft
        >>> @weft.njit
        ... def power(a, x):
        ...     total = 0.0
        ...     for i in range(x.shape[0]):
        ...         total += a * x[i] ** 3
        ...     return total
        >>> x = np.array([1.0, 2.0])
        >>> dx = np.zeros(2)
        >>> power.grad((2.0, x), (None, dx))
        (9.0, None)
        >>> dx
        array([ 6., 24.])
        """
        made = self.__dict__.get("_grad_")
        if made is None:
            from weft.gradients.compiled import Gradient

            made = self.__dict__["_grad_"] = Gradient(self)
        return made
