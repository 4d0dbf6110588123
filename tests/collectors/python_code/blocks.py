"""The block of comments at the head of a script: the columns that it carries, as a reader sees it.

The notation is described in `scripts/README.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from dbt_graft.lineage.frozen import frozen

SCRIPTS = Path(__file__).parent / "scripts"
DIRECT = ("identity", "transformation", "aggregation")
INDIRECT = ("conditional", "window", "filter", "join", "group by", "sort")

_EDGE = re.compile(
    r"(?P<target>.+?) (?P<arrow><-|<~) (?P<sources>.+): (?P<kind>[a-z ]+?)"
    r"(?: masked (?P<masked>\w+))?(?: \(unseen: (?P<unseen>.+)\))?"
)
_COPY = re.compile(r"(?P<target>\S+) = (?P<source>\S+): (?P<columns>.+)")
_TABLE = re.compile(r"(?P<name>\S+?)\((?P<columns>.+)\)")
_SOURCE = re.compile(r"(?P<table>[^,()]+)\.(?:\((?P<columns>[^)]+)\)|(?P<column>[^.,()]+))(?:, |$)")


@frozen
class Edge:
    """A column has a part in another; `may`: it may be said, and need not."""

    target: str
    column: str
    source: str
    from_column: str
    kind: str
    may: bool = False
    masked: str = ""
    unseen: str = ""
    without: frozenset[str] = frozenset()

    @property
    def is_direct(self) -> bool:
        """The value goes into the other."""
        return self.kind in DIRECT


@frozen
class Block:
    """The lines of a script's block.

    Attributes:
        columns: Those of targets, by target and name, without `*`.
        gaps: Target and column of each gap; both empty where no target can be told.
        gap_lines: The lines that a gap may name.
        runs_not: The reason for which the script is not run; empty for others.
        exists: The columns of targets that are there before.
        files: The columns of files that it reads.
    """

    edges: tuple[Edge, ...]
    columns: frozenset[tuple[str, str]]
    gaps: frozenset[tuple[str, str]]
    gap_lines: frozenset[int]
    runs_not: str
    exists: dict[str, tuple[str, ...]]
    files: dict[str, tuple[str, ...]]

    @property
    def targets(self) -> frozenset[str]:
        """Tables and files that the script writes."""
        return frozenset(edge.target for edge in self.edges) | {
            target for target, _ in self.columns
        }


def list_scripts(folder: Path = SCRIPTS) -> list[Path]:
    """All scripts with a block below a folder, without those nobody has seen (`unseen/`)."""
    return [
        path
        for path in sorted(folder.rglob("*.py"))
        if path.read_text("utf-8").startswith("# lineage\n")
        and "unseen" not in path.relative_to(folder).parts
    ]


def read_block(path: Path) -> Block:
    """The block of a script.

    Raises:
        ValueError: A line that is none of the notation.
    """
    lines = path.read_text("utf-8").splitlines()
    edges: list[Edge] = []
    columns: set[tuple[str, str]] = set()
    gaps: set[tuple[str, str]] = set()
    runs_not = ""
    tables: dict[str, dict[str, tuple[str, ...]]] = {"exists": {}, "reads": {}}
    for line in lines[1:]:
        if not line.startswith("# "):
            break
        text = line[2:].strip()
        word = text.split(" ", 1)[0]
        if text.startswith("runs not: "):
            runs_not = text.removeprefix("runs not: ")
        elif word in tables and (table := _TABLE.fullmatch(text.removeprefix(word).strip())):
            tables[word][table["name"]] = tuple(table["columns"].split(", "))
        elif text.startswith("? "):
            gaps.add(("", ""))
        elif text.endswith(" <- nothing"):
            columns.add(_split(text.removesuffix(" <- nothing")))
        elif edge := _EDGE.fullmatch(text):
            edges += _edges(edge)
        elif copy := _COPY.fullmatch(text):
            edges += _copies(copy)
        elif " ? " in text:
            gaps.add(_split(text.split(" ? ", 1)[0]))
        else:
            raise ValueError(f"{path.name}: {text}")
    columns |= {(edge.target, edge.column) for edge in edges if not edge.may} | gaps
    return Block(
        tuple(edges),
        frozenset(column for column in columns if column[1] not in ("*", "")),
        frozenset(gaps),
        frozenset(n for n, line in enumerate(lines, 1) if line.endswith("# gap")),
        runs_not,
        tables["exists"],
        tables["reads"],
    )


def _split(text: str) -> tuple[str, str]:
    table, _, column = text.rpartition(".")
    return table, column


def _edges(match: re.Match[str]) -> Iterator[Edge]:
    if match["kind"] not in (*DIRECT, *INDIRECT):
        raise ValueError(match["kind"])
    sources, _, without = match["sources"].partition(" without ")
    target, column = _split(match["target"])
    end = 0
    for source in _SOURCE.finditer(sources):
        if source.start() != end:
            break
        end = source.end()
        for name in (source["columns"] or source["column"]).split(", "):
            yield Edge(
                target,
                column,
                source["table"],
                name,
                match["kind"],
                match["arrow"] == "<~",
                match["masked"] or "",
                match["unseen"] or "",
                frozenset(without.split(", ") if without else ()),
            )
    if end != len(sources):
        raise ValueError(sources)


def _copies(match: re.Match[str]) -> Iterator[Edge]:
    for item in match["columns"].split(", "):
        source, _, name = item.partition(" as ")
        yield Edge(match["target"], name or source, match["source"], source, "identity")
