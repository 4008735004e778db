"""Trees of C as Python text, statement by statement, with every value a strong number of its C type.

A variable of C is a Python variable of the same type, each under a name of its own, so that scopes need no counterpart. An expression
has no effects, but for an atomic call that stands alone: the order of evaluation, which C leaves open, plays no part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.cupy._c import functions
from weft.cupy._c.ctypes import ALL, COMPLEX, annotation, cast, common, is_integer, number, promoted, zero
from weft.cupy._c.errors import Place, Text
from weft.cupy._c.syntax import Function, Node

Value = tuple[str, str]
_ATOMICS = {
    "atomicAdd": "add", "atomicSub": "sub", "atomicMin": "min", "atomicMax": "max", "atomicAnd": "and_", "atomicOr": "or_",
    "atomicXor": "xor", "atomicExch": "exch",
}  # fmt: skip
_ESCAPES = {"\\n": 10, "\\t": 9, "\\0": 0, "\\r": 13, "\\\\": 92, "\\'": 39}


@dataclass
class Variable:
    """What a name of C stands for."""

    text: str
    kind: str
    constant: bool = False
    # Elements of an array: of a raw argument, or of a local one.
    is_array: bool = False
    is_raw: bool = False
    shape: str = ""
    used: bool = False
    written: bool = False


@dataclass
class Routine:
    """A device function that has been written: its Python name, the types of its parameters and of its result."""

    text: str
    parameters: list[str]
    result: str


@dataclass
class Loop:
    """What `continue` does before the next turn."""

    before_next: Callable[[], list[str]]


@dataclass
class Scope:
    """Names, and the scope around."""

    names: dict[str, Variable] = field(default_factory=dict)
    around: Scope | None = None

    def find(self, name: str) -> Variable | None:
        """The variable of a name, the innermost."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.around
        return None


Extent = tuple[str, str, int]
"""What a body asks of a shape: "length" or "step" (how many elements lie behind), of a raw argument or of all elements, and the axis."""
ALL_ELEMENTS = "_ind"


class Writer:
    """Writes the statements of one function. `kinds` says what placeholders stand for, `leave` how a whole body is left early.

    `extents` gathers what is asked of shapes, and the names under which it is there; `ranks` how many axes arrays must have.
    """

    def __init__(
        self,
        text: Text,
        kinds: dict[str, str],
        names: dict[str, Variable],
        *,
        routines: dict[str, Routine] | None = None,
        leave: Sequence[str] = (),
        result: str | None = None,
        members: dict[str, Value] | None = None,
        has_axes: bool = False,
    ) -> None:
        self.text = text
        self.kinds = kinds
        self.scope = Scope(names)
        self.routines = routines or {}
        self.leave = list(leave)
        self.result = result
        self.members = members or {}
        self.has_axes = has_axes
        self.extents: dict[Extent, str] = {}
        self.ranks: dict[str, int] = {}
        self.loops: list[Loop] = []
        self.count = 0
        self.uses_local_arrays = False
        self.uses_atomics = False

    def refuse(self, node: Node, why: str) -> Any:
        """Raises the error of a place."""
        self.text.refuse(node.place, why)

    def kind(self, name: str, place: Place) -> str:
        """The type that a type's name stands for."""
        if name.startswith("complex<"):
            inside = self.kind(name[8:-1], place)
            found = {"float32": "complex64", "float64": "complex128"}.get(inside, "")
        else:
            found = self.kinds.get(name, name)
        if found not in ALL:
            self.text.refuse(place, f"values of type {name!r} are not taken")
        return found

    # Statements.

    def block(self, nodes: Sequence[Node]) -> list[str]:
        """Statements with a scope of their own."""
        self.scope = Scope(around=self.scope)
        lines = [line for node in nodes for line in self.statement(node)]
        assert self.scope.around is not None
        self.scope = self.scope.around
        return lines

    def statement(self, node: Node) -> list[str]:
        """The lines of a statement."""
        return getattr(self, f"_{node.kind}")(node, *node.parts)

    def _block(self, _node: Node, inside: list[Node]) -> list[str]:
        return self.block(inside)

    def _declare(self, node: Node, name: str, constant: bool, declared: list[Any]) -> list[str]:
        lines = []
        for token, length, value in declared:
            at = Node("name", token.place)
            if token.text in self.scope.names and self.scope.around is not None:
                self.refuse(at, f"{token.text!r} is declared twice")
            if length is not None:
                lines += self._local_array(at, token.text, self.kind(name, node.place), length, value)
                continue
            if isinstance(value, list):
                self.refuse(at, "a number has no braces here")
            if name == "auto":
                if value is None:
                    self.refuse(at, "`auto` needs a value")
                text, kind = self.value(value)
            else:
                kind = self.kind(name, node.place)
                text = zero(kind) if value is None else self._as(value, kind)
            made = self._new(token.text, kind, constant)
            lines.append(f"{made.text} = {text}")
        return lines

    def _new(self, name: str, kind: str, constant: bool = False, is_array: bool = False) -> Variable:
        self.count += 1
        made = Variable(f"v{self.count}_{name}", kind, constant, is_array)
        self.scope.names[name] = made
        return made

    def _local_array(self, at: Node, name: str, kind: str, length: Node, values: Any) -> list[str]:
        counted = number(length.parts[0]) if length.kind == "number" else None
        if counted is None or not is_integer(counted[1]):
            self.refuse(length, "the length of a local array is an integer that is written out")
        assert counted is not None
        size = int(counted[0].split("(")[1][:-1])
        if values is not None and (not isinstance(values, list) or len(values) > size):
            self.refuse(at, f"values in braces, at most {size}, are expected")
        texts = [self._as(each, kind) for each in values or []]
        made = self._new(name, kind, is_array=True)
        made.shape = f"np.int64({size})"
        self.uses_local_arrays = True
        lines = [f"{made.text} = cuda.local.array({size}, {annotation(kind)})"]
        # What braces leave out is zero.
        rest = [zero(kind)] * (size - len(texts)) if values is not None else []
        return lines + [f"{made.text}[{i}] = {text}" for i, text in enumerate([*texts, *rest])]

    def _assign(self, node: Node, operator: str, targets: list[Node], value: Node) -> list[str]:
        if operator:
            value = Node("binary", node.place, (operator, targets[0], value))
        first, *others = reversed(targets)
        lines = [f"{self._target(first)} = {self._as(value, self.value(first)[1])}"]
        last = first
        for target in others:
            lines.append(f"{self._target(target)} = {self._as(last, self.value(target)[1])}")
            last = target
        return lines

    def _step(self, node: Node, operator: str, target: Node) -> list[str]:
        return self._assign(node, operator, [target], Node("number", node.place, ("1",)))

    def _target(self, node: Node) -> str:
        """The text of what is assigned to."""
        if node.kind == "index":
            variable, index = self._element(node)
            if variable.constant:
                self.refuse(node, "this argument is an input, and not written to")
            variable.written = True
            return f"{variable.text}[{index}]"
        if node.kind != "name":
            self.refuse(node, "this cannot be assigned to")
        variable = self._variable(node)
        if variable.is_array:
            self.refuse(node, f"{node.parts[0]!r} is an array: assign to an element")
        if variable.constant:
            self.refuse(node, f"{node.parts[0]!r} is an input or a constant, and not assigned to")
        variable.written = True
        return variable.text

    def _evaluate(self, node: Node, expression: Node) -> list[str]:
        if expression.kind == "call" and expression.parts[0] in _ATOMICS:
            return [self._atomic(expression)]
        self.value(expression)
        self.refuse(node, "this statement does nothing that is taken here")
        return []

    def _atomic(self, node: Node) -> str:
        name, arguments, _ = node.parts
        if len(arguments) != 2 or arguments[0].kind != "address" or arguments[0].parts[0].kind != "index":
            self.refuse(node, f"{name} takes the address of an element, as in {name}(&x[0], 1)")
        variable, index = self._element(arguments[0].parts[0])
        if variable.constant:
            self.refuse(node, "this argument is an input, and not written to")
        variable.written = True
        self.uses_atomics = True
        return f"cuda.atomic.{_ATOMICS[name]}({variable.text}, {index}, {self._as(arguments[1], variable.kind)})"

    def _if(self, _node: Node, condition: Node, then: Node, otherwise: Node | None) -> list[str]:
        lines = [f"if {self._as(condition, 'bool')}:", *_indented(self.block([then]))]
        if otherwise is not None:
            lines += ["else:", *_indented(self.block([otherwise]))]
        return lines

    def _while(self, _node: Node, condition: Node, body: Node) -> list[str]:
        return self._loop([f"while {self._as(condition, 'bool')}:"], body, list)

    def _do(self, _node: Node, condition: Node, body: Node) -> list[str]:
        again = lambda: [f"if not {self._as(condition, 'bool')}:", "    break"]  # noqa: E731
        return self._loop(["while True:"], body, again)

    def _for(self, _node: Node, first: list[Node], condition: Node | None, each: list[Node], body: Node) -> list[str]:
        self.scope = Scope(around=self.scope)
        lines = [line for node in first for line in self.statement(node)]
        heading = f"while {'True' if condition is None else self._as(condition, 'bool')}:"
        around = self.scope

        def step() -> list[str]:
            # What the heading names is what it names outside of the body.
            inside, self.scope = self.scope, around
            found = [line for node in each for line in self.statement(node)]
            self.scope = inside
            return found

        lines += self._loop([heading], body, step)
        assert self.scope.around is not None
        self.scope = self.scope.around
        return lines

    def _loop(self, heading: list[str], body: Node, before_next: Callable[[], list[str]]) -> list[str]:
        self.loops.append(Loop(before_next))
        inside = self.block([body]) + before_next()
        self.loops.pop()
        return [*heading, *_indented(inside)]

    def _break(self, node: Node) -> list[str]:
        if not self.loops:
            self.refuse(node, "`break` stands outside of loops")
        return ["break"]

    def _continue(self, node: Node) -> list[str]:
        if self.loops:
            return [*self.loops[-1].before_next(), "continue"]
        if self.result is not None:
            self.refuse(node, "`continue` stands outside of loops")
        # CuPy's body stands in a loop over the elements.
        return self.leave

    def _return(self, node: Node, value: Node | None) -> list[str]:
        if self.result is None:
            self.refuse(node, "`return` ends a CUDA thread, which does other elements, too: write `continue`")
        if (value is None) != (self.result == "void"):
            self.refuse(node, "the function returns a value" if value is None else "the function returns nothing")
        return ["return"] if value is None else [f"return {self._as(value, str(self.result))}"]

    # Expressions.

    def value(self, node: Node) -> Value:
        """The text and the type of an expression."""
        return getattr(self, f"_value_of_{node.kind}")(node, *node.parts)

    def _as(self, node: Node, kind: str) -> str:
        """The text of an expression as a value of a type."""
        text, own = self.value(node)
        if own in COMPLEX and kind not in COMPLEX:
            self.refuse(node, f"a complex number does not become {kind}: take its real() or imag()")
        return cast(text, own, kind)

    def _variable(self, node: Node) -> Variable:
        name = node.parts[0]
        found = self.scope.find(name)
        if found is None:
            self.refuse(node, f"{name!r} is not declared")
        assert found is not None
        found.used = True
        return found

    def _value_of_name(self, node: Node, name: str) -> Value:
        if self.scope.find(name) is None and name in functions.CONSTANTS:
            return functions.CONSTANTS[name]
        variable = self._variable(node)
        if variable.is_array:
            self.refuse(node, f"{name!r} is an array: take an element, as in {name}[i]")
        return variable.text, variable.kind

    def _value_of_number(self, node: Node, text: str) -> Value:
        found = number(text)
        if found is None:
            self.refuse(node, f"{text!r} is no number that a type holds")
        assert found is not None
        return found

    def _value_of_char(self, node: Node, text: str) -> Value:
        code = _ESCAPES.get(text, ord(text) if len(text) == 1 else -1)
        if not 0 <= code < 128:
            self.refuse(node, "this character is not taken")
        return f"np.int8({code})", "int8"

    def _value_of_address(self, node: Node, _inside: Node) -> Value:
        return self.refuse(node, "pointers are not taken, but for an element's address in a call of atomicAdd and its like")

    def _value_of_unary(self, node: Node, operator: str, inside: Node) -> Value:
        if operator == "!":
            return f"(not {self._as(inside, 'bool')})", "bool"
        text, own = self.value(inside)
        kind = promoted(own)
        if operator == "~" and not is_integer(kind):
            self.refuse(node, "`~` is of integers")
        # Unsigned numbers have no sign for NumPy, but C's wrap.
        if operator == "-" and kind[0] == "u":
            return f"({zero(kind)} - {cast(text, own, kind)})", kind
        return (f"({operator}{cast(text, own, kind)})" if operator != "+" else cast(text, own, kind)), kind

    def _value_of_binary(self, node: Node, operator: str, left: Node, right: Node) -> Value:
        if operator in ("&&", "||"):
            word = "and" if operator == "&&" else "or"
            return f"({self._as(left, 'bool')} {word} {self._as(right, 'bool')})", "bool"
        (a, first), (b, second) = self.value(left), self.value(right)
        if operator in ("<<", ">>"):
            if not (is_integer(first) and is_integer(second)):
                self.refuse(node, f"`{operator}` is of integers")
            kind = promoted(first)
            return f"({cast(a, first, kind)} {operator} {cast(b, second, kind)})", kind
        kind = common(first, second)
        a, b = cast(a, first, kind), cast(b, second, kind)
        if operator in ("==", "!=", "<", ">", "<=", ">="):
            if kind in COMPLEX and operator not in ("==", "!="):
                self.refuse(node, "complex numbers have no order")
            return f"({a} {operator} {b})", "bool"
        if operator in ("%", "&", "|", "^") and not is_integer(kind):
            self.refuse(node, f"`{operator}` is of integers" + (": for floats there is fmod" if operator == "%" else ""))
        if operator == "/" and is_integer(kind):
            return f"cr.quotient({a}, {b})" if kind[0] == "i" else f"({a} // {b})", kind
        return (f"np.fmod({a}, {b})" if operator == "%" else f"({a} {operator} {b})"), kind

    def _value_of_choose(self, node: Node, condition: Node, then: Node, otherwise: Node) -> Value:
        (a, first), (b, second) = self.value(then), self.value(otherwise)
        # Two operands of one type keep it, whatever arithmetic would make of them.
        kind = first if first == second else common(first, second)
        return f"({cast(a, first, kind)} if {self._as(condition, 'bool')} else {cast(b, second, kind)})", kind

    def _value_of_cast(self, node: Node, name: str, inside: Node) -> Value:
        kind = self.kind(name, node.place)
        return self._as(inside, kind), kind

    def _value_of_make(self, node: Node, name: str, arguments: list[Node]) -> Value:
        kind = self.kind(name, node.place)
        if kind in COMPLEX and len(arguments) == 2:
            part = "float32" if kind == "complex64" else "float64"
            parts = [self._as(each, part) for each in arguments]
            return f"np.{kind}(complex({parts[0]}, {parts[1]}))", kind
        if len(arguments) > 1:
            self.refuse(node, "a number is made of one value")
        return (self._as(arguments[0], kind) if arguments else zero(kind)), kind

    def _value_of_index(self, node: Node, *parts: Any) -> Value:
        array, index = parts
        if array.kind == "member" and array.parts[0].kind == "name" and array.parts[2] == []:
            found = self._of_shape(array.parts[0].parts[0], array.parts[1], index)
            if found is not None:
                return found
        variable, index = self._element(node)
        return f"{variable.text}[{index}]", variable.kind

    def _of_shape(self, name: str, member: str, index: Node) -> Value | None:
        """`x.shape()[0]` of a raw argument, and `_ind.get()[0]`: the index of the body's element along an axis."""
        variable = self.scope.find(name)
        is_index = name == ALL_ELEMENTS and member == "get" and "_ind.size" in self.members
        if is_index and not self.has_axes:
            why = "`_ind.get()` is taken in an ElementwiseKernel with reduce_dims=False: else CuPy joins axes, as arrays lie"
            return self.refuse(index, why)
        if not is_index and not (variable is not None and variable.is_raw and member == "shape"):
            return None
        counted = number(index.parts[0]) if index.kind == "number" else None
        if counted is None or not is_integer(counted[1]):
            return self.refuse(index, "the number of an axis is an integer that is written out")
        axis = int(counted[0].split("(")[1][:-1])
        length = self._extent("length", name, axis)
        if not is_index:
            assert variable is not None
            variable.used = True
            return length, "int64"
        place = self.scope.find("i")
        assert place is not None
        place.used = True
        return f"({place.text} // {self._extent('step', name, axis)} % {length})", "int64"

    def _extent(self, what: str, name: str, axis: int) -> str:
        return self.extents.setdefault((what, name, axis), f"{what}{axis}_{name}")

    def _place(self, variable: Variable, name: str, index: Node) -> str | None:
        """Where an element of a raw argument lies in C's order, of which a local array of integers has the index along each axis."""
        indices = self.scope.find(index.parts[0]) if index.kind == "name" else None
        if indices is None or not indices.is_array or indices.is_raw or not variable.is_raw or not is_integer(indices.kind):
            return None
        axes = int(indices.shape.split("(")[1][:-1])
        if self.ranks.setdefault(name, axes) != axes:
            self.refuse(index, f"{name!r} has {self.ranks[name]} axes, as another index of it says, and not {axes}")
        text = cast(f"{indices.text}[0]", indices.kind, "int64")
        for axis in range(1, axes):
            text = f"({text} * {self._extent('length', name, axis)} + {cast(f'{indices.text}[{axis}]', indices.kind, 'int64')})"
        return text

    def _element(self, node: Node) -> tuple[Variable, str]:
        """The array and the Python text of the index of an element."""
        array, index = node.parts
        variable = self._variable(array) if array.kind == "name" else None
        if variable is None or not variable.is_array:
            self.refuse(node, "only raw arguments and local arrays have elements")
        assert variable is not None
        place = self._place(variable, array.parts[0], index)
        if place is not None:
            return variable, place
        text, kind = self.value(index)
        if not is_integer(kind):
            self.refuse(index, "an index is an integer, or a local array of integers, one for each axis of a raw argument")
        return variable, cast(text, kind, "int64")

    def _value_of_member(self, node: Node, of: Node, name: str, arguments: list[Node] | None) -> Value:
        if of.kind == "name" and arguments == []:
            found = self.members.get(f"{of.parts[0]}.{name}")
            if found is not None:
                return found
            variable = self.scope.find(of.parts[0])
            if variable is not None and variable.is_array and name == "size":
                variable.used = True
                return variable.shape, "int64"
        if name in ("real", "imag") and arguments == [] and (of.kind != "name" or self.scope.find(of.parts[0]) is not None):
            text, kind = self.value(of)
            if kind in COMPLEX:
                return f"({text}).{name}", "float32" if kind == "complex64" else "float64"
        return self.refuse(node, f"`.{name}` is not taken here")

    def _value_of_call(self, node: Node, name: str, arguments: list[Node], wanted: str | None) -> Value:
        if name in _ATOMICS:
            return self.refuse(node, f"what {name} gives is not taken: let it stand alone")
        values = [self.value(each) for each in arguments]
        routine = self.routines.get(name)
        if routine is not None:
            return self._call_of(node, name, routine, arguments)
        if wanted is not None:
            kind = self.kind(wanted, node.place)
            values = [(self._as(each, kind), kind) for each in arguments]
        found = functions.call(name, values)
        if found is None:
            approximate = name.startswith("__") and name.endswith("f")
            why = "approximate functions are not taken: write the exact one" if approximate else f"there is no function {name!r}"
            return self.refuse(node, why)
        if isinstance(found, str):
            return self.refuse(node, found)
        text, kind = found
        # min and max of a named type give that type.
        return (cast(text, kind, self.kind(wanted, node.place)), self.kind(wanted, node.place)) if wanted else (text, kind)

    def _call_of(self, node: Node, name: str, routine: Routine, arguments: list[Node]) -> Value:
        if len(arguments) != len(routine.parameters):
            self.refuse(node, f"{name} takes {len(routine.parameters)} arguments, not {len(arguments)}")
        if routine.result == "void":
            self.refuse(node, f"{name} gives no value")
        texts = [self._as(each, kind) for each, kind in zip(arguments, routine.parameters)]
        return f"{routine.text}({', '.join(texts)})", routine.result


def device_functions(text: Text, kinds: dict[str, str], found: list[Function]) -> tuple[list[str], dict[str, Routine]]:
    """The lines and the names of a preamble's functions, each of which may call those before it and itself."""
    lines: list[str] = []
    routines: dict[str, Routine] = {}
    for function in found:
        plain = Writer(text, kinds, {})
        result = "void" if function.result == "void" else plain.kind(function.result, function.place)
        parameters = [(plain.kind(kind, function.place), name) for kind, name in function.parameters]
        routines[function.name] = Routine(f"f_{function.name}", [kind for kind, _ in parameters], result)
        names = {name: Variable(f"p_{name}", kind) for kind, name in parameters}
        writer = Writer(text, kinds, names, routines=routines, result=result)
        body = writer.block(function.body)
        if writer.uses_local_arrays:
            text.refuse(function.place, "local arrays are taken in kernels, not in device functions")
        heading = f"def f_{function.name}({', '.join(each.text for each in names.values())}):"
        lines += [heading, *_indented(body), ""]
    return lines, routines


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines] or ["    pass"]
