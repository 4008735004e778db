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
    linecache.checkcache(code.co_filename)
    if name == "<lambda>":
        return code.co_filename, code.co_firstlineno, _lambda(code)
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


def _lambda(code: CodeType) -> str:
    """The text of a lambda, in parentheses: that of its line which has this code."""
    text = "".join(linecache.getlines(code.co_filename))
    if not text:
        raise SourceError("the source of a lambda is not available: it was typed into an interactive session or made by exec")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        raise _edited(code) from None
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno]
    found = {ast.get_source_segment(text, node) or "" for node in nodes if _is_code_of(code, node)}
    if not found:
        raise _edited(code)
    if len(found) > 1:
        raise SourceError(
            f"{code.co_filename}:{code.co_firstlineno}: several lambdas stand in this line and cannot be told apart; "
            "write them as functions with def"
        )
    return f"({found.pop()})"


def _is_code_of(code: CodeType, node: ast.Lambda) -> bool:
    """Whether the lambda has this code, as far as can be told without what is around it."""
    own = compile(ast.Expression(node), code.co_filename, "eval", dont_inherit=True).co_consts[0]
    return _names(own) == _names(code) and _constants(own) == _constants(code) and _places(own) == _places(code)


def _places(code: CodeType) -> set[tuple[int | None, ...]]:
    """The parts of the source that instructions stand for, which Python knows from 3.11 on; what opens a function stands for none."""
    if not hasattr(code, "co_positions"):
        return set()
    return {place for place in code.co_positions() if place[2] != place[3]}


def _names(code: CodeType) -> set[str]:
    return {*code.co_names, *code.co_freevars, *code.co_varnames}


def _constants(code: CodeType) -> list[str]:
    return [repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType)]


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
    return (a.co_names, a.co_varnames, a.co_freevars) == (b.co_names, b.co_varnames, b.co_freevars) and _constants(a) == _constants(b)
