"""Finds the source text of a function at the moment it is decorated."""

import ast
import inspect
from types import CodeType, FunctionType

from weft import _texts
from weft.errors import SourceError


def source_of(function: FunctionType) -> tuple[str, int, str]:
    """The file, the number of the first line and the text of a function, decorators included.

    Raises SourceError if there is no text, or if the file was edited since it was imported.
    """
    code = function.__code__
    lines = _texts.lines_of(function)
    if lines is None:
        raise _edited(code) if _texts.was_edited(code) else _gone(function)
    if code.co_name == "<lambda>":
        return code.co_filename, code.co_firstlineno, _lambda(code, "".join(lines))
    try:
        block = _whole_block(code, lines) or inspect.getblock(lines[code.co_firstlineno - 1 :])
    except IndentationError:
        raise _edited(code) from None
    return code.co_filename, code.co_firstlineno, "".join(block)


def _gone(function: FunctionType) -> SourceError:
    how = {
        "<stdin>": "it was typed into an interactive session or came through a pipe",
        "<string>": "it was made by exec or eval of a string that is gone",
    }
    return SourceError(
        f"the source of {function.__name__} is not available: {how.get(function.__code__.co_filename, 'there is no file of its name')}. "
        "Put the function into a file and import it, or tell Python's linecache its text: "
        "linecache.cache[name] = len(text), None, text.splitlines(True), name, and exec(compile(text, name, 'exec'))"
    )


def _lambda(code: CodeType, text: str) -> str:
    """The text of a lambda, in parentheses: that of its line which has this code."""
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
    whole = compile(ast.Expression(node), code.co_filename, "eval", dont_inherit=True)
    # Defaults come first, lambdas among them.
    own = [constant for constant in whole.co_consts if isinstance(constant, CodeType)][-1]
    return _names(own) == _names(code) and _texts.constants(own) == _texts.constants(code) and _places(own) == _places(code)


def _places(code: CodeType) -> set[tuple[int | None, ...]]:
    """The parts of the source that instructions stand for, which Python knows from 3.11 on; what opens a function stands for none."""
    if not hasattr(code, "co_positions"):
        return set()
    return {place for place in code.co_positions() if place[2] != place[3]}


def _names(code: CodeType) -> set[str]:
    """Those of functions inside it, too: what these take from around it may be a global one without what is around it."""
    names = {*code.co_names, *code.co_freevars, *code.co_varnames}
    return names.union(*(_names(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _whole_block(code: CodeType, lines: list[str]) -> list[str] | None:
    """The lines of a function, where its last line of code and the indentation tell them.

    `inspect.getblock` answers always, but takes the whole to pieces.
    """
    first = code.co_firstlineno
    last = max((line for *_, line in code.co_lines() if line), default=first)
    if last > len(lines):
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
    return block if isinstance(found, ast.FunctionDef) and found.name == code.co_name else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _edited(code: CodeType) -> SourceError:
    return SourceError(
        f"{code.co_filename}:{code.co_firstlineno}: the file was edited since {code.co_name} was imported, so its source is no "
        "longer the code that runs; import the module again"
    )
