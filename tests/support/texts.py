"""Functions of texts that tests make up."""

from __future__ import annotations

import linecache
from collections.abc import Callable


def function_of(text: str, scope: dict[str, object]) -> Callable:
    """The function `f` that a text defines, in its scope, with a source that is found as if it stood in a file."""
    file = f"<text {len(linecache.cache)} {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = dict(scope)
    exec(compile(text, file, "exec"), scope)
    return scope["f"]
