"""Random functions of floats and arrays of floats: loops, branches, jumps, calls, elements that are read after they were written.

Numbers stay small, and what is computed is smooth but where a branch depends on it.
"""

from __future__ import annotations

import random

SMOOTH = ("math.sin({0})", "math.cos({0})", "math.tanh({0})", "{0} * {1}", "{0} + {1}", "{0} - {1}", "0.5 * {0}", "{0} / (1.5 + {1} * {1})")
SMOOTH += (
    "math.exp(0.3 * math.sin({0}))",
    "math.sqrt(1.0 + {0} * {0})",
    "max({0}, {1})",
    "min({0}, {1})",
    "abs({0})",
    "math.atan2({0}, 2.0 + {1} * {1})",
)


class Maker:
    """Writes one function."""

    def __init__(self, seed: int, kernel: bool = False, parallel: bool = False) -> None:
        self.rng = random.Random(f"{seed} {kernel} {parallel}")
        self.kernel, self.parallel = kernel, parallel
        self.lines: list[str] = []
        self.floats = ["a", "b"]
        self.ints: list[str] = []
        self.own = ""
        self.loops = 0
        self.count = 0

    def place(self, array: str, write: bool = False) -> str:
        if self.own and (write or self.rng.random() < 0.6):
            return f"{array}[{self.own}]"
        if self.own and array not in ("x",):
            return f"{array}[{self.own}]"
        if self.ints and self.rng.random() < 0.7:
            index = self.rng.choice(self.ints)
            return f"{array}[({index} + {self.rng.randrange(5)}) % 5]"
        return f"{array}[{self.rng.randrange(5)}]"

    def atom(self) -> str:
        kind = self.rng.random()
        if kind < 0.45:
            return self.rng.choice(self.floats)
        if kind < 0.9:
            return self.place(self.rng.choice("xyz"))
        return f"{self.rng.uniform(-1, 1):.3f}"

    def expression(self, depth: int = 2) -> str:
        if depth == 0 or self.rng.random() < 0.25:
            return self.atom()
        shape = self.rng.choice(SMOOTH)
        return "(" + shape.format(self.expression(depth - 1), self.expression(depth - 1)) + ")"

    def condition(self) -> str:
        if self.ints and self.rng.random() < 0.5:
            return f"{self.rng.choice(self.ints)} % 3 == {self.rng.randrange(3)}"
        return f"{self.atom()} > {self.rng.uniform(-1, 1):.3f}"

    def say(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def statement(self, depth: int) -> None:
        kind = self.rng.random()
        if depth > 4:
            kind *= 0.6
        if kind < 0.22:
            name = f"t{self.count}"
            self.count += 1
            self.say(depth, f"{name} = {self.expression()}")
            self.floats.append(name)
        elif kind < 0.38:
            name = self.rng.choice(self.floats)
            self.say(
                depth,
                f"{name} = math.tanh({name} * {self.expression()})" if self.rng.random() < 0.5 else f"{name} += 0.3 * {self.expression()}",
            )
        elif kind < 0.6:
            place = self.place(self.rng.choice("yz"), write=True)
            how = self.rng.choice(["=", "=", "+=", "-=", "*="])
            self.say(depth, f"{place} {how} math.sin({self.expression()})")
        elif kind < 0.75:
            self.say(depth, f"if {self.condition()}:")
            self.block(depth + 1, jumps=True)
            if self.rng.random() < 0.5:
                self.say(depth, "else:")
                self.block(depth + 1, jumps=True)
        elif kind < 0.92:
            name = f"i{self.count}"
            self.count += 1
            ranges = [f"range({self.rng.randrange(5)})", "range(4, -1, -1)", f"range(1, 5, {self.rng.randint(1, 2)})", "range(n)"]
            self.say(depth, f"for {name} in {self.rng.choice(ranges)}:")
            self.loop(depth, name)
        else:
            name = f"w{self.count}"
            self.count += 1
            self.say(depth, f"{name} = 0")
            self.say(depth, f"while {name} < {self.rng.randrange(5)} and {self.atom()} < 2.0:")
            self.say(depth + 1, f"{name} += 1")
            self.loop(depth, name)

    def loop(self, depth: int, index: str) -> None:
        self.ints.append(index)
        self.loops += 1
        self.block(depth + 1, jumps=True)
        self.loops -= 1
        self.ints.pop()

    def block(self, depth: int, jumps: bool = False) -> None:
        known = len(self.floats)
        for _ in range(self.rng.randint(1, 3)):
            self.statement(depth)
        if jumps and self.loops and self.rng.random() < 0.2:
            self.say(depth, self.rng.choice(["break", "continue"]))
        elif jumps and not self.kernel and not self.own and self.rng.random() < 0.07:
            self.say(depth, f"return {self.expression(1)}")
        del self.floats[known:]

    def function(self) -> str:
        self.say(0, "def main(a, b, x, y, z, n):")
        depth = 1
        if self.kernel:
            self.say(1, "k = cuda.grid(1)")
            self.say(1, "if k < x.shape[0]:")
            self.own, depth = "k", 2
        for _ in range(self.rng.randint(1, 3)):
            self.statement(depth)
        if self.parallel:
            self.say(1, "for p in prange(5):")
            kept, self.floats, self.own = self.floats, ["a", "b"], "p"
            before = len(self.lines)
            for _ in range(self.rng.randint(1, 3)):
                name = f"t{self.count}"
                self.count += 1
                self.say(2, f"{name} = {self.expression()}")
                self.floats.append(name)
            self.say(2, f"y[p] = {self.expression()}")
            self.floats, self.own = kept, ""
            assert len(self.lines) > before
        for _ in range(self.rng.randint(1, 2)):
            self.statement(depth)
        if not self.kernel:
            self.say(1, f"return {self.expression()}")
        return "\n".join(self.lines) + "\n"


def function(seed: int, kernel: bool = False, parallel: bool = False) -> str:
    """The text of the function of this number."""
    return Maker(seed, kernel, parallel).function()
