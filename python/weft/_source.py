"""Finds the source text of a function at the moment it is decorated."""

import ast
import inspect
import linecache
import os
import time
from types import CodeType, FunctionType

from weft.errors import SourceError

# A file changed after this moment may not be the one that was imported.
_started = time.time()


def source_of(function: FunctionType) -> tuple[str, int, str]:
    """The file, the number of the first line and the text of a function, decorators included.

    Raises SourceError if there is no text, or if the file was edited since it was imported.
    """
    code = function.__code__
    name = function.__name__
    if name == "<lambda>":
        raise SourceError(
            f"{code.co_filename}:{code.co_firstlineno}: a lambda is part of a larger expression, so its source cannot be told "
            "apart; write it as a function with def"
        )
    linecache.checkcache(code.co_filename)
    try:
        lines, first = _whole_block(code) or inspect.getsourcelines(code)
    except (OSError, TypeError):
        raise SourceError(
            f"the source of {name} is not available: it was typed into an interactive session or made by exec. "
            "Put the function into a file and import it (IPython and Jupyter cells work as they are)"
        ) from None
    except IndentationError:
        raise _edited(code) from None
    if _changed_since_start(code.co_filename) and not _matches(code):
        raise _edited(code)
    return code.co_filename, first, "".join(lines)


def _whole_block(code: CodeType) -> tuple[list[str], int] | None:
    """The lines of a function and the number of the first, where its last line of code and the indentation tell them.

    `inspect.getsourcelines` answers always, but its first answer takes 10 ms: it looks at every module there is.
    """
    lines = linecache.getlines(code.co_filename)
    first = code.co_firstlineno
    last = max((line for *_, line in code.co_lines() if line), default=first)
    if not lines or last > len(lines):
        return None
    indent = _indent(lines[first - 1])
    while last < len(lines) and (not lines[last].strip() or _indent(lines[last]) > indent):
        last += 1
    while not lines[last - 1].strip():
        last -= 1
    block = lines[first - 1 : last]
    opening = "if True:\n" if indent else ""
    try:
        tree = ast.parse(opening + "".join(block))
    except (SyntaxError, ValueError):
        return None
    body = tree.body[0].body if indent and isinstance(tree.body[0], ast.If) else tree.body
    found = body[0] if len(body) == 1 else None
    return (block, first) if isinstance(found, ast.FunctionDef) and found.name == code.co_name else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _edited(code: CodeType) -> SourceError:
    return SourceError(
        f"{code.co_filename}:{code.co_firstlineno}: the file was edited since {code.co_name} was imported, so its source is no "
        "longer the code that runs; import the module again"
    )


def _changed_since_start(file: str) -> bool:
    try:
        return os.stat(file).st_mtime >= _started
    except OSError:
        return False


def _matches(code: CodeType) -> bool:
    """Whether the file still holds this very code: compiles it and looks the function up."""
    text = "".join(linecache.getlines(code.co_filename))
    try:
        module = compile(text, code.co_filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return any(_same(code, other) for other in _codes(module))


def _codes(code: CodeType) -> list[CodeType]:
    found = [code]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found += _codes(constant)
    return found


def _same(a: CodeType, b: CodeType) -> bool:
    if (a.co_name, a.co_firstlineno, a.co_code) != (b.co_name, b.co_firstlineno, b.co_code):
        return False
    return (a.co_names, a.co_varnames, a.co_freevars) == (b.co_names, b.co_varnames, b.co_freevars) and [
        repr(c) for c in a.co_consts if not isinstance(c, CodeType)
    ] == [repr(c) for c in b.co_consts if not isinstance(c, CodeType)]
