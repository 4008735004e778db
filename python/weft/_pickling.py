"""How compiled objects are pickled: by name where the name leads back to them, else by the function they were made of."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pickle import PicklingError
from typing import Any


class Picklable:
    """Pickled like a function: as a reference to a module's global. The other process imports the module and compiles anew."""

    # What makes the object again from its function: a function of a module, and its arguments.
    _remake_: tuple[Callable[..., Any], tuple[Any, ...]]

    def __reduce__(self) -> str | tuple[Any, ...]:
        module, name = self.__module__, self.__qualname__
        found = _find(module, name)
        if found is self:
            return name
        if found is self.py_func:
            return self._remake_
        raise PicklingError(
            f"{name} of {module} cannot be pickled: only compiled functions that are globals of a module can, by their name. "
            "Define it at the top level of a module"
        )

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, _memo: Any) -> Any:
        return self


def _find(module: str, name: str) -> Any:
    """What a name means in a module; None if it leads nowhere, as from inside a function."""
    try:
        return functools.reduce(getattr, name.split("."), sys.modules[module])
    except (AttributeError, KeyError):
        return None
