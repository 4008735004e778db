"""Random statements: assignments, branches, loops with `else`, tuples, writes to elements, early ends."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from fuzz import arrays
from fuzz import expressions as ex
from fuzz.kinds import COMPLEX, STRONG, WEAK, result
from fuzz.scope import MOST, Callee, Scope

_STEP = "    "


@dataclass
class Body:
    """The body of a function as it is written."""

    scope: Scope
    depth: int = 3
    gives: tuple[str, ...] = ()
    """What `return` gives in the middle, if it may stand there."""
    lines: list[str] = field(default_factory=list)
    indent: int = 1
    loops: int = 0
    turns: int = 1
    """How often what is written now runs at most."""

    @property
    def rng(self) -> random.Random:
        """The source of all choices."""
        return self.scope.rng

    def say(self, line: str) -> None:
        """Writes one line."""
        self.lines.append(_STEP * self.indent + line)

    def statements(self, count: int) -> None:
        """Some statements."""
        for _ in range(count):
            self.statement()

    def statement(self) -> None:
        """One statement of any sort."""
        nested = self.indent > 1
        makers = [self.assign] * 5 + [self.augment] * 3 + [self.store] * 3 + [self.branch] * (3 if self.indent < 4 else 0)
        makers += [self.loop] * (3 if self.indent < 4 and self.turns < 60 else 0) + [self.pack, self.unpack, self.together]
        if not self.scope.kernel:
            makers += [self.whole_array] * 9
        if self.scope.raises and self.rng.random() < 0.06:
            makers += [self.perhaps_unset]
        if self.indent < 4 and self.rng.random() < 0.15:
            makers += [self.local_function] * 4
        if nested and self.loops:
            makers += [self.jump]
        if nested and self.gives and self.rng.random() < 0.3:
            makers += [self.early_return]
        if self.scope.raises and self.rng.random() < 0.1:
            makers += [self.throw]
        self.rng.choice(makers)()

    def expr(self, kind: str | None = None) -> ex.Expr:
        """An expression as deep as the body has them."""
        depth = self.rng.randrange(self.depth + 1)
        return ex.tame(ex.of_kind(self.scope, kind, depth) if kind else ex.value(self.scope, depth))

    def assign(self) -> None:
        """A new variable, or one assigned again. Where no block and no loop is around it, that one may change its kind."""
        free = [name for name in self.scope.numbers if name not in self.scope.fixed]
        if free and self.rng.random() < 0.5:
            name = self.rng.choice(free)
            same = self.indent > 1 or name in self.scope.held or self.rng.random() < 0.7
            made = self.expr(self.scope.numbers[name] if same else None)
        else:
            name, made = self.scope.fresh("v"), self.expr()
        self.say(f"{name} = {made.text}")
        self.scope.numbers[name] = made.kind

    def whole_array(self) -> None:
        """A statement about arrays as a whole."""
        if not arrays.statement(self):
            self.assign()

    def together(self) -> None:
        """Two variables assigned at once: exchanged, or both given the same."""
        free = [name for name in self.scope.numbers if name not in self.scope.fixed]
        a, b = self.rng.choice(free or [""]), self.rng.choice(free or [""])
        if a and a != b and self.scope.numbers[a] == self.scope.numbers[b]:
            return self.say(f"{a}, {b} = {b}, {a}")
        made, names = self.expr(), [self.scope.fresh("v"), self.scope.fresh("v")]
        self.say(f"{names[0]} = {names[1]} = {made.text}")
        self.scope.numbers |= dict.fromkeys(names, made.kind)

    def perhaps_unset(self) -> None:
        """A variable that one path leaves without a value, read behind it; or that of a loop that may have no turns."""
        name, made = self.scope.fresh("v"), self.expr()
        if self.rng.random() < 0.5:
            self.say(f"if {ex.condition(self.scope, 1)}:")
            self.say(f"{_STEP}{name} = {made.text}")
            kind = made.kind
        else:
            self.say(f"for {name} in range({ex.small(self.expr('int'), 3).text}):")
            self.say(f"{_STEP}pass")
            kind = "int"
        self.scope.numbers[name] = kind
        self.scope.unset.add(name)

    def local_function(self) -> None:
        """A function inside this one, which reads its variables as they are at each call, and writes to its arrays."""
        rng, scope = self.rng, self.scope
        name, params = scope.fresh("g"), [(scope.fresh("p"), rng.choice(STRONG + WEAK)) for _ in range(rng.randrange(3))]
        seen = {n: kind for n, kind in scope.numbers.items() if n not in scope.unset}
        scope.held |= set(seen)
        header, defaults = [n for n, _ in params], 0
        if params and rng.random() < 0.3 and params[-1][1] in WEAK:
            header[-1] += f"={ex.literal(rng, params[-1][1]).text}"
            defaults = 1
        gives = tuple(rng.choice(STRONG + WEAK) for _ in range(1 if rng.random() < 0.8 else 2))
        inner = scope.inner(numbers=seen | dict(params), fixed=set(seen), held=set(), unset=set())
        if rng.random() < 0.3 and len(gives) == 1:
            self.say(f"{name} = lambda {', '.join(header)}: {ex.tame(ex.of_kind(inner, gives[0], 2)).text}")
        else:
            body = Body(inner, depth=2, gives=gives, indent=self.indent + 1)
            body.statements(rng.randint(0, 3))
            self.say(f"def {name}({', '.join(header)}):")
            self.lines += body.lines
            self.say(f"{_STEP}return {body.results()}")
        scope.callees.append(Callee(name, tuple(params), defaults, gives))

    def augment(self) -> None:
        """`v op= x`, where that leaves the variable's kind as it is."""
        free = [(name, kind) for name, kind in self.scope.numbers.items() if name not in self.scope.fixed]
        if not free:
            return self.assign()
        name, kind = self.rng.choice(free)
        variable = ex.Expr(name, kind)
        _, other = ex.meeting(variable, self.expr())
        op = self.rng.choice(["+", "-", "*", "+", "-", "&", "|", "^"])
        if result(f"{{0}} {op} {{1}}", kind, other.kind) != kind:
            return self.assign()
        if kind == "int":
            return self.say(f"{name} = ({name} {op} {other.text}) % {MOST}")
        self.say(f"{name} {op}= {other.text}")

    def store(self) -> None:
        """An element set or changed."""
        targets = [a for a in self.scope.arrays.values() if a.writable and 0 not in a.shape]
        if not targets:
            return self.assign()
        target = self.rng.choice(targets)
        place = f"{target.name}[{ex.subscript(self.scope, target)}]"
        if self.rng.random() < 0.3 and target.kind not in ("bool_", *COMPLEX):
            _, other = ex.meeting(ex.Expr("", target.kind), self.expr())
            if result("{0} + {1}", target.kind, other.kind) == target.kind:
                return self.say(f"{place} {self.rng.choice(['+=', '-=', '*='])} {other.text}")
        self.say(f"{place} = {self.expr(target.kind).text}")

    def branch(self) -> None:
        """`if`, with `elif` and `else` now and then."""
        self.say(f"if {ex.condition(self.scope, 2)}:")
        self.block(self.rng.randint(1, 3))
        while self.rng.random() < 0.2:
            self.say(f"elif {ex.condition(self.scope, 2)}:")
            self.block(self.rng.randint(1, 2))
        if self.rng.random() < 0.5:
            self.say("else:")
            self.block(self.rng.randint(1, 3))

    def block(self, count: int, turns: int = 1, loop: bool = False, **inner: object) -> None:
        """An indented block in a scope of its own."""
        kept = self.scope, self.indent, self.loops, self.turns
        self.scope = self.scope.inner(**inner)
        self.indent += 1
        self.loops += loop
        self.turns *= turns
        before = len(self.lines)
        self.statements(count)
        if len(self.lines) == before:
            self.say("pass")
        self.scope, self.indent, self.loops, self.turns = kept

    def loop(self) -> None:
        """A loop of a few turns, with `else` now and then."""
        maker = self.rng.choice([self.for_range, self.for_range, self.for_array, self.for_points, self.while_loop])
        maker()
        if self.rng.random() < 0.25:
            self.say("else:")
            self.block(self.rng.randint(1, 2))

    def for_range(self) -> None:
        """`for` over a range, up or down, that may be empty."""
        rng = self.rng
        name = self.scope.fresh("i")
        what = rng.choice(["{0}", "{0}", "{1}, {0}", "{0}, {1}, -1", "{1}, {0} + 3, 2", "-{0}, {1}, 3"])
        ints = [n for n, kind in self.scope.numbers.items() if kind == "int"]
        ends = [f"{rng.choice(ints)} % {rng.randint(2, 6)}" if ints and rng.random() < 0.4 else str(rng.randrange(7)) for _ in "ab"]
        self.say(f"for {name} in range({what.format(*ends)}):")
        self.block(rng.randint(1, 3), 7, True, numbers={**self.scope.numbers, name: "int"}, fixed={*self.scope.fixed, name})

    def for_array(self) -> None:
        """`for` over the elements of an array, with their numbers now and then."""
        rows = [a for a in self.scope.arrays.values() if len(a.shape) == 1 and not a.open]
        if not rows:
            return self.for_range()
        row = self.rng.choice(rows)
        name, number = self.scope.fresh("x"), self.scope.fresh("i")
        numbers = {**self.scope.numbers, name: row.kind}
        if self.rng.random() < 0.4:
            self.say(f"for {number}, {name} in enumerate({row.name}):")
            numbers[number] = "int"
        else:
            self.say(f"for {name} in {row.name}:")
        # What is iterated over may be written to meanwhile; both see it, as NumPy does.
        self.block(self.rng.randint(1, 3), 6, True, numbers=numbers, fixed={*self.scope.fixed, name, number})

    def for_points(self) -> None:
        """`for` over two arrays side by side, or over all points of one."""
        rows = [a for a in self.scope.arrays.values() if not a.open and 0 < len(a.shape) and not self.scope.kernel]
        if not rows:
            return self.for_range()
        row = self.rng.choice(rows)
        others = [a for a in rows if len(a.shape) == 1]
        name, other = self.scope.fresh("x"), self.scope.fresh("y")
        numbers, arrays_, tuples = dict(self.scope.numbers), dict(self.scope.arrays), dict(self.scope.tuples)
        if len(row.shape) == 1 and others and self.rng.random() < 0.6:
            second = self.rng.choice(others)
            self.say(f"for {name}, {other} in zip({row.name}, {second.name}):")
            numbers |= {name: row.kind, other: second.kind}
        elif self.rng.random() < 0.5:
            self.say(f"for {other}, {name} in np.ndenumerate({row.name}):")
            numbers[name] = row.kind
            tuples[other] = ("int",) * len(row.shape)
        else:
            self.say(f"for {other} in np.ndindex({row.name}.shape):")
            tuples[other] = ("int",) * len(row.shape)
        size = 1
        for length in row.shape:
            size *= length
        inner = {"numbers": numbers, "arrays": arrays_, "tuples": tuples, "fixed": {*self.scope.fixed, name, other}}
        self.block(self.rng.randint(1, 2), max(size, 1), True, **inner)

    def while_loop(self) -> None:
        """`while`, ended by a counter at the latest."""
        name = self.scope.fresh("n")
        self.say(f"{name} = {self.rng.randrange(6)}")
        scope = self.scope
        self.say(f"while {name} > 0 and {ex.condition(scope, 1)}:" if self.rng.random() < 0.5 else f"while {name}:")
        self.indent += 1
        self.say(f"{name} -= 1")
        self.indent -= 1
        self.block(self.rng.randint(1, 3), 6, True, numbers={**scope.numbers, name: "int"}, fixed={*scope.fixed, name})

    def jump(self) -> None:
        """`break` or `continue` under a condition."""
        self.say(f"if {ex.condition(self.scope, 1)}:")
        self.say(f"{_STEP}{self.rng.choice(['break', 'continue'])}")

    def early_return(self) -> None:
        """`return` under a condition."""
        self.say(f"if {ex.condition(self.scope, 1)}:")
        self.say(f"{_STEP}return {self.results()}")

    def results(self) -> str:
        """What `return` gives."""
        return ", ".join(self.expr(kind).text for kind in self.gives)

    def throw(self) -> None:
        """An exception under a condition."""
        if self.rng.random() < 0.5:
            return self.say(f"assert {ex.condition(self.scope, 1)} or {self.rng.choice(['True', 'False'])}")
        self.say(f"if {ex.condition(self.scope, 1)}:")
        self.say(f"{_STEP}raise {self.rng.choice(['ValueError', 'IndexError', 'RuntimeError', 'KeyError'])}('no')")

    def pack(self) -> None:
        """A tuple of some values, a named one now and then."""
        if self.scope.records and self.rng.random() < 0.5:
            return self._record(*self.rng.choice(list(self.scope.records.items())))
        made = [self.expr() for _ in range(self.rng.randint(1, 3))]
        name = self.scope.fresh("t")
        self.say(f"{name} = ({', '.join(m.text for m in made)},)")
        self.scope.tuples[name] = tuple(m.kind for m in made)
        self.scope.fields.pop(name, None)

    def _record(self, kind: str, fields: tuple[str, ...]) -> None:
        made = [self.expr() for _ in fields]
        name, by_name = self.scope.fresh("t"), self.rng.random() < 0.3
        self.say(f"{name} = {kind}({', '.join(f'{f}={m.text}' if by_name else m.text for f, m in zip(fields, made))})")
        self.scope.tuples[name] = tuple(m.kind for m in made)
        self.scope.fields[name] = fields

    def unpack(self) -> None:
        """Several variables from a tuple, or from a function that gives one; an item at an index known at run time only."""
        several = [callee for callee in self.scope.callees if len(callee.gives) > 1]
        if several and self.rng.random() < 0.5:
            return self._unpack_call(self.rng.choice(several))
        alike = [(name, kinds) for name, kinds in self.scope.tuples.items() if len(set(kinds)) == 1]
        if alike and self.rng.random() < 0.4:
            name, kinds = self.rng.choice(alike)
            variable = self.scope.fresh("v")
            beyond = len(kinds) + (1 if self.scope.raises and self.rng.random() < 0.2 else 0)
            self.say(f"{variable} = {name}[{ex.index(self.scope, beyond)}]")
            self.scope.numbers[variable] = kinds[0]
            return
        if not self.scope.tuples:
            return self.pack()
        name, kinds = self.rng.choice(list(self.scope.tuples.items()))
        self._take(kinds, name)

    def _unpack_call(self, callee: Callee) -> None:
        text = ex.call(self.scope, callee, 1)
        if text is not None:
            self._take(callee.gives, text)

    def _take(self, kinds: tuple[str, ...], text: str) -> None:
        names = [self.scope.fresh("v") for _ in kinds]
        self.say(f"{', '.join(names)}{',' if len(names) == 1 else ''} = {text}")
        self.scope.numbers.update(zip(names, kinds))
