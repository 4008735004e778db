"""C as CuPy's kernels have it, from text to a tree: expressions, declarations, `if`, loops, device functions.

What the language has besides is refused at its place: `switch`, `goto`, pointers, templates, assignments inside of expressions.
Grammar: ISO/IEC 9899, sections 6.5 (expressions) and 6.8 (statements), and C++'s casts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from weft.cupy._c.errors import Place, Text

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\f\v]+|\\\n|//[^\n]*|/\*.*?\*/)
    |(?P<newline>\n)
    |(?P<number>0[xX][0-9a-fA-F.]+(?:[pP][+-]?\d+)?[uUlLfF]*|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?[uUlLfFhH]*)
    |(?P<name>[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)
    |(?P<char>'(?:\\.|[^'\\])')
    |(?P<string>"(?:\\.|[^"\\])*")
    |(?P<directive>\#)
    |(?P<mark><<=|>>=|\+\+|--|&&|\|\||<<|>>|<=|>=|==|!=|->|[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]])""",
    re.VERBOSE | re.DOTALL,
)

# What C calls the types, with the words of a multi-word name in order.
TYPES = {
    "void": "void", "bool": "bool", "char": "int8", "signed char": "int8", "unsigned char": "uint8", "short": "int16",
    "short int": "int16", "signed short": "int16", "unsigned short": "uint16", "unsigned short int": "uint16", "int": "int32",
    "signed": "int32", "signed int": "int32", "unsigned": "uint32", "unsigned int": "uint32", "long": "int64", "long int": "int64",
    "signed long": "int64", "unsigned long": "uint64", "unsigned long int": "uint64", "long long": "int64", "long long int": "int64",
    "signed long long": "int64", "unsigned long long": "uint64", "unsigned long long int": "uint64", "size_t": "uint64",
    "ssize_t": "int64", "ptrdiff_t": "int64", "int8_t": "int8", "int16_t": "int16", "int32_t": "int32", "int64_t": "int64",
    "uint8_t": "uint8", "uint16_t": "uint16", "uint32_t": "uint32", "uint64_t": "uint64", "float16": "float16", "half": "float16",
    "__half": "float16", "float": "float32", "double": "float64",
}  # fmt: skip
_WORDS = {word for name in TYPES for word in name.split()}
_COMPLEX = {"complex", "thrust::complex"}
_REFUSED = {
    "switch": "`switch` is not taken: write it with if and else",
    "goto": "`goto` is not taken: write a loop",
    "asm": "inline PTX is not taken",
    "__shared__": "shared memory is not taken in these kernels: use cupyx.jit.rawkernel or weft.cuda.jit",
    "__syncthreads": "barriers are not taken in these kernels: use cupyx.jit.rawkernel or weft.cuda.jit",
    "struct": "structures are not taken",
    "class": "classes are not taken",
    "union": "unions are not taken",
    "enum": "enumerations are not taken: write constants",
    "typedef": "`typedef` is not taken: write the type",
    "using": "`using` is not taken: write the type",
    "template": "templates are not taken: write a function for each type",
    "sizeof": "`sizeof` is not taken",
    "printf": "`printf` is not taken",
    "new": "memory is not taken from the heap",
    "delete": "memory is not taken from the heap",
    "reinterpret_cast": "`reinterpret_cast` is not taken",
    "nullptr": "pointers are not taken",
    "static": "`static` is not taken here",
    "throw": "exceptions are not taken",
    "try": "exceptions are not taken",
}
_ASSIGNING = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
# How tightly binary operators bind, loosest first.
_LEVELS = [("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%")]
_BINDS = {mark: level for level, marks in enumerate(_LEVELS) for mark in marks}
# Expressions inside of each other, and as many blocks: deeper ones are refused, and no stack runs out.
_DEEPEST = 60


class Token(NamedTuple):
    """A word, number or mark of a text."""

    kind: str
    text: str
    place: Place


@dataclass
class Node:
    """A part of the tree: its kind, its place, and what it is made of."""

    kind: str
    place: Place
    parts: tuple[Any, ...] = ()


@dataclass
class Function:
    """A device function of a preamble."""

    name: str
    place: Place
    result: str
    parameters: list[tuple[str, str]] = field(default_factory=list)
    body: list[Node] = field(default_factory=list)


Macros = dict[str, list[Token]]


def tokens_of(text: Text, macros: Macros) -> list[Token]:
    """The tokens, with what object-like macros stand for in place of their names; those that the text defines are put to the others."""
    source = "\n".join(text.lines)
    found: list[Token] = []
    at, line, start = 0, 1, 0
    while at < len(source):
        place = Place(line, at - start + 1)
        match = _TOKEN.match(source, at)
        if match is None:
            text.refuse(place, f"{source[at]!r} is not C")
        kind, word = str(match.lastgroup), match.group()
        end = match.end()
        if kind == "directive":
            end = source.find("\n", at) if "\n" in source[at:] else len(source)
            _define(text, place, source[at:end], macros)
        elif kind == "name" and word in macros:
            found += [Token(each.kind, each.text, place) for each in macros[word]]
        elif kind not in ("space", "newline"):
            found.append(Token(kind, word, place))
        broken = source.count("\n", at, end)
        if broken:
            line, start = line + broken, source.rfind("\n", at, end) + 1
        at = end
    return found


def _define(text: Text, place: Place, line: str, macros: Macros) -> None:
    """`#define name tokens`; other directives are refused."""
    match = re.fullmatch(r"#\s*define\s+([A-Za-z_]\w*)(\(?)(.*)", line)
    if match is None or line.endswith("\\"):
        text.refuse(place, "of directives, only `#define` of a name in one line is taken")
    if match[2]:
        text.refuse(place, "macros with parameters are not taken: write a __device__ function")
    macros[match[1]] = tokens_of(Text(text.name, match[3]), macros)


class Parser:
    """Reads the tokens of one text. `types` are names of types besides C's: the placeholders of a kernel."""

    def __init__(self, text: Text, types: set[str], macros: Macros) -> None:
        self.text = text
        self.types = types
        self.tokens = tokens_of(text, macros)
        self.at = 0
        self.depth = 0
        last = len(text.lines)
        self.end = Token("end", "the end", Place(last, len(text.lines[-1]) + 1))

    # What the entries are called with.

    def body(self) -> list[Node]:
        """Statements up to the end."""
        found = []
        while self.peek().kind != "end":
            found.append(self.statement())
        return found

    def only_expression(self) -> Node:
        """One expression and nothing else."""
        node = self.expression()
        if self.peek().kind != "end":
            self.refuse(self.peek(), f"{self.peek().text!r} is not expected behind an expression")
        return node

    def functions(self) -> list[Function]:
        """The device functions of a preamble."""
        found = []
        while self.peek().kind != "end":
            found.append(self._function())
        return found

    # Tokens.

    def peek(self, ahead: int = 0) -> Token:
        """A token that is not taken yet."""
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else self.end

    def take(self, text: str | None = None) -> Token:
        """The next token, which has to be a certain one."""
        token = self.peek()
        if (text is not None and token.text != text) or token.kind == "end":
            self.refuse(token, f"{text!r} is expected before {token.text!r}" if text else "the text ends too early")
        self.at += 1
        return token

    def has(self, text: str) -> bool:
        """Takes a mark or a word if it is the next one."""
        found = self.peek().text == text and self.peek().kind in ("mark", "name")
        self.at += found
        return found

    def refuse(self, token: Token | Node, why: str) -> Any:
        """Raises the error of a place."""
        self.text.refuse(token.place, why)

    # Types.

    def starts_type(self, ahead: int = 0) -> bool:
        """Whether a type begins here."""
        token = self.peek(ahead)
        return token.kind == "name" and (token.text in _WORDS | self.types | _COMPLEX | {"const", "auto", "volatile"})

    def type(self) -> str:
        """A type: a dtype's name, "auto", or the name of a placeholder."""
        while self.has("const"):
            pass
        token = self.take()
        name = token.text
        if name in _COMPLEX:
            self.take("<")
            inside = self.type()
            self.take(">")
            found = {"float32": "complex64", "float64": "complex128"}.get(inside, f"complex<{inside}>")
        elif name in self.types or name == "auto":
            found = name
        elif name in _WORDS:
            words = [name]
            while self.peek().text in _WORDS and " ".join([*words, self.peek().text]) in TYPES:
                words.append(self.take().text)
            if " ".join(words) not in TYPES:
                self.refuse(token, f"there is no type {' '.join(words)!r}")
            found = TYPES[" ".join(words)]
        else:
            self.refuse(token, f"{name!r} is no type that is known here")
        while self.has("const"):
            pass
        if self.peek().text in ("*", "&", "&&"):
            self.refuse(self.peek(), "pointers and references are not taken: use raw arguments")
        return found

    # Statements.

    def statement(self) -> Node:
        """A statement."""
        self._deeper()
        token = self.peek()
        reason = _REFUSED.get(token.text)
        if reason:
            self.refuse(token, reason)
        kind = {"{": self._block, "if": self._if, "for": self._for, "while": self._while, "do": self._do}.get(token.text)
        if kind is not None:
            node = kind()
        elif token.text in ("break", "continue"):
            self.take()
            self.take(";")
            node = Node(token.text, token.place)
        elif token.text == "return":
            self.take()
            value = None if self.peek().text == ";" else self.expression()
            self.take(";")
            node = Node("return", token.place, (value,))
        elif self.has(";"):
            node = Node("block", token.place, ([],))
        elif token.kind == "end":
            node = self.refuse(token, "a statement is expected")
        else:
            node = self._simple()
            # The last statement may go without: CuPy puts one behind a body.
            if self.peek().kind != "end":
                self.take(";")
        self.depth -= 1
        return node

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            self.refuse(self.peek(), f"this is nested more than {_DEEPEST} deep")

    def _simple(self) -> Node:
        """A declaration, an assignment, a step, or a call: also what a `for` starts with and does in each turn."""
        if self.starts_type() and self.peek(1).text not in ("(", "{"):
            return self._declaration()
        return self._acting()

    def _declaration(self) -> Node:
        place = self.peek().place
        constant = self.peek().text == "const"
        kind = self.type()
        declared = []
        while True:
            name = self.take()
            if name.kind != "name":
                self.refuse(name, "a name is expected")
            length, value = None, None
            counted = self.peek(1).text == "]"
            if self.has("["):
                length = None if counted else self.expression()
                self.take("]")
                if self.peek().text == "[":
                    self.refuse(self.peek(), "local arrays have one axis here")
            if self.has("="):
                value = self._braces() if self.peek().text == "{" else self.expression()
            elif self.has("("):
                value = self.expression()
                self.take(")")
            if counted:
                if not isinstance(value, list) or not value:
                    self.refuse(name, "an array without a length has values in braces")
                assert isinstance(value, list)
                length = Node("number", name.place, (str(len(value)),))
            declared.append((name, length, value))
            if not self.has(","):
                return Node("declare", place, (kind, constant, declared))

    def _braces(self) -> list[Node]:
        self.take("{")
        items = []
        while not self.has("}"):
            items.append(self.expression())
            if self.peek().text != "}":
                self.take(",")
        return items

    def _acting(self) -> Node:
        token = self.peek()
        if token.text in ("++", "--"):
            self.take()
            return Node("step", token.place, (token.text[0], self._unary()))
        target = self.expression()
        mark = self.peek()
        if mark.text in ("++", "--"):
            self.take()
            return Node("step", mark.place, (mark.text[0], target))
        if mark.text in _ASSIGNING:
            self.take()
            targets = [target]
            value = self.expression()
            while mark.text == "=" and self.peek().text == "=":
                self.take()
                targets.append(value)
                value = self.expression()
            return Node("assign", mark.place, (mark.text[:-1], targets, value))
        return Node("evaluate", token.place, (target,))

    def _block(self) -> Node:
        place = self.take("{").place
        inside = []
        while not self.has("}"):
            inside.append(self.statement())
        return Node("block", place, (inside,))

    def _condition(self) -> Node:
        self.take("(")
        node = self.expression()
        self.take(")")
        return node

    def _if(self) -> Node:
        place = self.take("if").place
        condition, then = self._condition(), self.statement()
        return Node("if", place, (condition, then, self.statement() if self.has("else") else None))

    def _while(self) -> Node:
        place = self.take("while").place
        return Node("while", place, (self._condition(), self.statement()))

    def _do(self) -> Node:
        place = self.take("do").place
        body = self.statement()
        self.take("while")
        condition = self._condition()
        self.take(";")
        return Node("do", place, (condition, body))

    def _for(self) -> Node:
        place = self.take("for").place
        self.take("(")
        first = [] if self.peek().text == ";" else self._several()
        self.take(";")
        condition = None if self.peek().text == ";" else self.expression()
        self.take(";")
        each = [] if self.peek().text == ")" else self._several()
        self.take(")")
        return Node("for", place, (first, condition, each, self.statement()))

    def _several(self) -> list[Node]:
        found = [self._simple()]
        while self.has(","):
            found.append(self._acting())
        return found

    def _function(self) -> Function:
        words = {"__device__", "inline", "__forceinline__", "__inline__", "static", "constexpr", "__host__", "extern"}
        start = self.peek()
        marked = False
        while self.peek().text in words:
            marked |= self.take().text == "__device__"
        if not marked or not self.starts_type():
            self.refuse(start, _REFUSED.get(start.text, "of a preamble, `__device__` functions and `#define` are taken"))
        result, name = self.type(), self.take()
        self.take("(")
        made = Function(name.text, name.place, result)
        while not self.has(")"):
            kind = self.type()
            made.parameters.append((kind, self.take().text))
            if self.peek().text != ")":
                self.take(",")
        made.body = self._block().parts[0]
        return made

    # Expressions.

    def expression(self) -> Node:
        """An expression without assignments."""
        self._deeper()
        token = self.peek()
        node = self._binary(0)
        if self.has("?"):
            then = self.expression()
            self.take(":")
            node = Node("choose", token.place, (node, then, self.expression()))
        self.depth -= 1
        return node

    def _binary(self, loosest: int) -> Node:
        """Operands and the operators between them that bind at least so tightly."""
        left = self._unary()
        while self.peek().kind == "mark" and _BINDS.get(self.peek().text, -1) >= loosest:
            mark = self.take()
            left = Node("binary", mark.place, (mark.text, left, self._binary(_BINDS[mark.text] + 1)))
        return left

    def _unary(self) -> Node:
        token = self.peek()
        if token.text in ("-", "+", "!", "~"):
            self._deeper()
            self.take()
            node = Node("unary", token.place, (token.text, self._unary()))
            self.depth -= 1
            return node
        if token.text in ("++", "--"):
            self.refuse(token, f"`{token.text}` inside of an expression is not taken: give it a line of its own")
        if token.text == "*":
            self.refuse(token, "pointers are not taken: use raw arguments")
        if token.text == "&":
            return Node("address", self.take().place, (self._unary(),))
        if token.text == "(" and self.starts_type(1):
            self.take()
            kind = self.type()
            self.take(")")
            return Node("cast", token.place, (kind, self._unary()))
        return self._behind(self._primary())

    def _behind(self, node: Node) -> Node:
        """Subscripts and members behind an operand."""
        while True:
            token = self.peek()
            if self.has("["):
                index = self.expression()
                self.take("]")
                node = Node("index", token.place, (node, index))
            elif self.has("."):
                name = self.take()
                node = Node("member", name.place, (node, name.text, self._arguments() if self.peek().text == "(" else None))
            elif token.text == "->":
                self.refuse(token, "pointers are not taken")
            elif token.text in ("++", "--") and self.peek(1).text not in (";", ")", ",") and self.peek(1).kind != "end":
                self.refuse(token, f"`{token.text}` inside of an expression is not taken: give it a line of its own")
            else:
                return node

    def _arguments(self) -> list[Node]:
        self.take("(")
        found = []
        while not self.has(")"):
            found.append(self.expression())
            if self.peek().text != ")":
                self.take(",")
        return found

    def _primary(self) -> Node:
        token = self.take()
        if token.kind == "number":
            return Node("number", token.place, (token.text,))
        if token.kind == "char":
            return Node("char", token.place, (token.text[1:-1],))
        if token.text == "(":
            node = self.expression()
            if self.peek().text in _ASSIGNING | {","}:
                self.refuse(self.peek(), f"`{self.peek().text}` inside of an expression is not taken: give it a line of its own")
            self.take(")")
            return node
        if token.kind != "name":
            self.refuse(token, "strings are not taken" if token.kind == "string" else f"{token.text!r} is not expected here")
        if token.text == "static_cast":
            self.take("<")
            kind = self.type()
            self.take(">")
            return Node("cast", token.place, (kind, self._condition()))
        if token.text in _REFUSED:
            self.refuse(token, _REFUSED[token.text])
        self.at -= 1
        if self.starts_type():
            return self._made()
        self.at += 1
        name = token.text.removeprefix("std::").removeprefix("thrust::")
        wanted = self._template() if self.peek().text == "<" and name in ("min", "max") else None
        if self.peek().text == "(":
            return Node("call", token.place, (name, self._arguments(), wanted))
        return Node("name", token.place, (name,))

    def _made(self) -> Node:
        """`T(x)`, or `complex<float>(re, im)`."""
        token = self.peek()
        kind = self.type()
        if self.peek().text not in ("(", "{"):
            self.refuse(self.peek(), "a value in parentheses is expected behind a type")
        arguments = self._braces() if self.peek().text == "{" else self._arguments()
        return Node("make", token.place, (kind, arguments))

    def _template(self) -> str | None:
        """`<T>` behind `min` or `max`, if it is that."""
        if not self.starts_type(1):
            return None
        self.take("<")
        kind = self.type()
        self.take(">")
        return kind
