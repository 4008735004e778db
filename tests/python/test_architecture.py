"""The pages on Weft's architecture are true of the crates, files and names that they mention, and their lines are short."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FIRST = ROOT / "docs" / "architecture.md"
FOLDER = ROOT / "docs" / "architecture"
PAGES = [FIRST, *sorted(FOLDER.glob("*.md"))]
CRATES = {path.parent.name: path for path in sorted((ROOT / "crates").glob("*/Cargo.toml"))}
# Pages that are no crate's.
ACROSS = {"adjoint", "dependencies", "gradients", "tests"}
WIDEST = 120
# Crates of others whose names the pages mention.
FOREIGN = {"naga"}

NAME = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^()\s]+)\)")
ROW = re.compile(r"^\| \[`([\w-]+)`\]\(architecture/([\w-]+)\.md\) \|.*\| ([\w, -]+) \|$", re.MULTILINE)
# From the repository's root; or a file's name with its kind.
PATH = re.compile(
    r"(?:crates|tests|python|docs|benchmarks|scripts)/[\w./*{},-]*"
    r"|[\w*{][\w./*{},-]*\.(?:rs|pyi?|cpp|c|h|md|toml|txt|weft|sh|json)"
)


def ident(path: Path) -> str:
    return str(path.relative_to(ROOT))


def shown(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def rows() -> dict[str, list[str]]:
    """The crates of the table of layers, in its order, and what it says that each uses."""
    found = {}
    for crate, page, uses in ROW.findall(FIRST.read_text()):
        assert crate == page
        found[crate] = [] if uses == "nothing" else uses.split(", ")
    return found


def dependencies(manifest: Path) -> list[str]:
    """Weft's crates among a crate's own dependencies: not those that only its tests or its build have."""
    found = []
    for section in re.split(r"^(?=\[)", manifest.read_text(), flags=re.MULTILINE):
        if re.match(r"\[(?:target\..*\.)?dependencies\]", section):
            found += re.findall(r"^weft-([\w-]+)\b", section, flags=re.MULTILINE)
    return sorted(found)


def expanded(pattern: str) -> list[str]:
    """`a/{b,c}.rs` as `a/b.rs` and `a/c.rs`."""
    braces = re.search(r"\{([^{}]*)\}", pattern)
    if braces is None:
        return [pattern]
    before, after = pattern[: braces.start()], pattern[braces.end() :]
    return [path for choice in braces[1].split(",") for path in expanded(before + choice + after)]


def bases(page: Path) -> list[Path]:
    """Where the paths on a page start: the repository; on a crate's page also the crate, its sources and, with `python`, the package."""
    # The page on adjoints is one of the crate of passes.
    name = {"adjoint": "passes"}.get(page.stem, page.stem)
    if name not in CRATES:
        return [ROOT]
    crate = CRATES[name].parent
    return [ROOT, crate, crate / "src"] + [ROOT / "python" / "weft"] * (page.stem == "python")


@functools.cache
def sources() -> dict[tuple[str, ...], str]:
    """The crates' sources by the modules that they are: `("cpu", "emit", "loops")`."""
    found = {}
    for crate, manifest in CRATES.items():
        source = manifest.parent / "src"
        for path in source.rglob("*.rs"):
            inner = path.relative_to(source).with_suffix("").parts
            modules = inner[:-1] if inner[-1] in ("lib", "mod") else inner
            found[(crate.replace("-", "_"), *modules)] = path.read_text()
    return found


@functools.cache
def is_defined(name: str) -> bool:
    """Of `a::b::C::d`: is `d` defined in a module whose path has `a` and `b` in it, in this order, and whose text mentions `C`?"""
    *path, last = name.split("::")
    outer = [part.removeprefix("weft_") for part in path if part.islower()]
    kinds = [part for part in path if not part.islower()]
    definition = re.compile(
        rf"\b(?:fn|struct|enum|trait|mod|const|static|type) {last}\b|^ *(?:pub(?:\(\w+\))? )?{last}(?:[:,({{<]| [={{\"-]|$)", re.MULTILINE
    )

    def is_there(modules: tuple[str, ...], text: str) -> bool:
        parts = iter(modules)
        if not all(part in parts for part in outer):
            return False
        if last in parts:
            return True
        mentions = last in text and all(kind in text for kind in kinds)
        return mentions and definition.search(text) is not None

    return any(is_there(modules, text) for modules, text in sources().items())


def anchors(page: Path) -> set[str]:
    """What a link may name on a page: its headings, as GitHub writes them."""
    headings = re.findall(r"^#+ (.+)$", shown(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=ident)
def test_lines_are_short(page: Path) -> None:
    lines = enumerate(page.read_text().splitlines(), 1)
    # The row of a table is one line.
    long = [number for number, line in lines if len(line) > WIDEST and not line.startswith("|")]
    assert not long, f"lines of more than {WIDEST} characters: {long}"


def test_every_crate_has_a_page_and_a_row() -> None:
    assert {page.stem for page in FOLDER.glob("*.md")} - ACROSS == set(CRATES)
    assert set(rows()) == set(CRATES)


@pytest.mark.parametrize("crate", CRATES)
def test_crates_use_what_the_table_says(crate: str) -> None:
    """And nothing that stands above them in it."""
    table = rows()
    uses = dependencies(CRATES[crate])
    assert sorted(table[crate]) == uses
    order = list(table)
    assert [used for used in uses if order.index(used) <= order.index(crate)] == []


@pytest.mark.parametrize("page", PAGES, ids=ident)
def test_paths_exist(page: Path) -> None:
    """Globs and braces stand for what they do in a shell. Every choice must exist."""
    named = [name for name in NAME.findall(shown(page)) if PATH.fullmatch(name)]
    paths = sorted({path.rstrip("/") for name in named for path in expanded(name)})
    assert [path for path in paths if not any(any(base.glob(path)) for base in bases(page))] == []
    assert paths


@pytest.mark.parametrize("page", PAGES, ids=ident)
def test_names_exist(page: Path) -> None:
    """Names of Weft's, written `a::b`."""
    names = {name for name in NAME.findall(shown(page)) if re.fullmatch(r"\w+(::\w+)+", name)}
    own = {name for name in names if name.split("::")[0] not in FOREIGN}
    assert sorted(name for name in own if not is_defined(name)) == []


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *PAGES[1:]], ids=ident)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(NAME.sub("", shown(page))):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []
