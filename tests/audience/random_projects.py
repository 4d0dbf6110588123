"""Random projects with random labels and flows, and which of their names an audience may read.

The rule is written here once more, slowly and by itself: labels spread over the flows until nothing
changes. Where docs/publishing.md leaves the product a choice, it says neither that a name is hidden
nor that it is visible.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import yaml

from dbt_graft.analysis.privacy.classification import Classification
from tests.audience.canaries import Canaries
from tests.audience.canary_artifacts import empty_artifacts

# What people write for a classification.
_WORDS = {
    Classification.PUBLIC: ("public", "Public"),
    Classification.INTERNAL: ("internal", "INTERNAL"),
    Classification.CONFIDENTIAL: ("confidential", "restricted", "sensitive", "private"),
    Classification.PII: ("pii", "PII", "gdpr", "personal data"),
    Classification.RESTRICTED_PII: ("restricted_pii", "restricted-pii", "PHI", "special category"),
    Classification.SECRET: ("secret", "credential", "password"),
}
_KEYS = ("classification", "sensitivity", "data_classification", "security-classification")
_UPPER = "upper"


@dataclass
class RandomColumn:
    """A column.

    Attributes:
        label: What people say of it; None for nothing.
        origin: The column that it is made of; None where it has no lineage.
        is_copy: It is that column as it is.
    """

    name: str
    label: Classification | None
    origin: RandomColumn | None = None
    is_copy: bool = True


@dataclass
class RandomTable:
    """A table.

    Attributes:
        parents: The tables that it is made of.
        is_model: It is a dbt model with SQL; otherwise a task writes it in an unknown way.
    """

    name: str
    label: Classification | None
    columns: list[RandomColumn]
    parents: list[RandomTable]
    is_model: bool = True

    @property
    def id(self) -> str:
        """dbt's unique_id."""
        return f"model.shop.{self.name}" if self.is_model else f"source.shop.db.{self.name}"


class RandomProject:
    """A project that follows from a number.

    Attributes:
        sees: The highest classification that the audience may see.
        shows_unlabelled: It sees what nobody labelled.
        tests: The name of a test -> its table and column.
        readers: The name of an exposure or a task -> the tables of its data.
    """

    def __init__(self, number: int) -> None:
        self._random = Random(number)  # noqa: S311
        self._canaries = Canaries(f"project {number}")
        self._rules: dict[str, list[dict[str, str]]] = {"tables": [], "columns": []}
        self.sees = self._random.choice([*Classification][:-1])
        self.unlabelled = self._random.choice(["show", "hide", None])
        self.tables: list[RandomTable] = []
        for _ in range(self._random.randint(4, 9)):
            self.tables.append(self._table())
        self.tests = {self._name(): (table, self._column(table)) for table in self._picked_tables()}
        self.exposures = {self._name(): self._picked_tables() for _ in range(2)}
        self.tasks = {self._name(): table for table in self.tables if not table.is_model}

    @property
    def shows_unlabelled(self) -> bool:
        """Whether the audience sees what nobody labelled."""
        labels = [table.label for table in self.tables]
        labels += [column.label for table in self.tables for column in table.columns]
        is_labelled = any(label is not None for label in labels)
        return self.unlabelled == "show" or (self.unlabelled is None and not is_labelled)

    def _name(self) -> str:
        return self._canaries.name(str(len(self._canaries.fields)))

    def _label(self) -> Classification | None:
        return self._random.choice([None, None, *Classification])

    def _column(self, table: RandomTable) -> RandomColumn:
        return self._random.choice(table.columns)

    def _picked_tables(self) -> list[RandomTable]:
        return self._random.sample(self.tables, self._random.randint(1, 2))

    def _table(self) -> RandomTable:
        number = min(len(self.tables), self._random.choice([0, 1, 1, 2]))
        parents = self._random.sample(self.tables, number)
        is_model = bool(parents) and self._random.random() < 0.75
        columns = [RandomColumn(self._name(), self._label()) for _ in range(2)]
        if is_model:
            for column in columns:
                column.origin = self._column(self._random.choice(parents))
                column.is_copy = self._random.random() < 0.5
        return RandomTable(self._name(), self._label(), columns, parents, is_model)

    def write(self, folder: Path) -> None:
        """Write the project, with its site for its audience in `public`."""
        artifacts = empty_artifacts()
        for table in self.tables:
            node = self._node(table)
            part = "nodes" if table.is_model else "sources"
            artifacts.manifest[part][table.id] = node
            artifacts.catalog[part][table.id] = _entry(table)
        for name, (table, column) in self.tests.items():
            artifacts.manifest["nodes"][f"test.shop.{name}"] = _test(name, table, column)
        for name, tables in self.exposures.items():
            artifacts.manifest["exposures"][f"exposure.shop.{name}"] = _exposure(name, tables)
        for part in ("nodes", "exposures", "sources"):
            for key, node in artifacts.manifest[part].items():
                parents = node["depends_on"]["nodes"]
                artifacts.manifest["parent_map"][key] = parents
                artifacts.manifest["child_map"].setdefault(key, [])
                for parent in parents:
                    artifacts.manifest["child_map"].setdefault(parent, []).append(key)
        (folder / "target").mkdir(parents=True)
        (folder / "target/manifest.json").write_text(json.dumps(artifacts.manifest))
        (folder / "target/catalog.json").write_text(json.dumps(artifacts.catalog))
        (folder / "lineage.yml").write_text(yaml.safe_dump(self._declared()))
        self.write_site(folder)

    def write_site(self, folder: Path, site: Mapping[str, Any] | None = None) -> None:
        """Write graft.yml, with another section `site` if there is one."""
        own = {"audience": "readers", "sees": self.sees.text, "out": "public", "data": True}
        if self.unlabelled:
            own["unlabelled"] = self.unlabelled
        config = {
            "collect": [{"declared": {"path": "lineage.yml"}}],
            "privacy": self._rules,
            "site": own if site is None else dict(site),
        }
        (folder / "graft.yml").write_text(yaml.safe_dump(config))

    def _declared(self) -> dict[str, Any]:
        tasks = {
            name: {
                "flows": [
                    {
                        "from": [f"spark/db.{parent.name}" for parent in table.parents],
                        "to": [f"spark/db.{table.name}"],
                    }
                ]
            }
            for name, table in self.tasks.items()
        }
        return {"version": 1, "tasks": tasks}

    def _node(self, table: RandomTable) -> dict[str, Any]:
        node: dict[str, Any] = {
            "resource_type": "model" if table.is_model else "source",
            "unique_id": table.id,
            "name": table.name,
            "source_name": "db",
            "schema": "db",
            "alias": table.name,
            "identifier": table.name,
            "database": None,
            "relation_name": f"db.{table.name}",
            "package_name": "shop",
            "description": f"Not {self._random.choice(self.tables).name}.",
            "meta": {},
            "tags": [],
            "config": {"materialized": "table", "meta": {}},
            "depends_on": {"nodes": [parent.id for parent in table.parents], "macros": []},
            "columns": {column.name: self._described(table, column) for column in table.columns},
        }
        if table.is_model:
            node["compiled_code"] = node["raw_code"] = _sql(table)
        else:
            node["depends_on"]["nodes"] = []
        if table.label is not None:
            word = self._random.choice(_WORDS[table.label])
            match self._random.randrange(4):
                case 0:
                    rule = {"tables": f"db.{table.name}", "is": table.label.text}
                    self._rules["tables"].append(rule)
                case 1:
                    node["tags"] = [word]
                case 2:
                    node["config"]["meta"] = {self._random.choice(_KEYS): word}
                case _:
                    node["meta"] = {self._random.choice(_KEYS): word}
        return node

    def _described(self, table: RandomTable, column: RandomColumn) -> dict[str, Any]:
        other = self._column(self._random.choice(self.tables))
        facts: dict[str, Any] = {"name": column.name, "description": f"Unlike {other.name}."}
        if column.label is not None:
            word = self._random.choice(_WORDS[column.label])
            match self._random.randrange(4):
                case 0:
                    rule = {"columns": f"db.{table.name}.{column.name}", "is": column.label.text}
                    self._rules["columns"].append(rule)
                case 1:
                    facts["tags"] = [word]
                case 2:
                    facts["config"] = {"meta": {self._random.choice(_KEYS): word}}
                case _:
                    facts["meta"] = {self._random.choice(_KEYS): word}
        return facts


def _sql(table: RandomTable) -> str:
    names = {id(column): parent.name for parent in table.parents for column in parent.columns}
    shown = []
    for column in table.columns:
        assert column.origin
        value = f"{names[id(column.origin)]}.{column.origin.name}"
        shown.append(f"{value if column.is_copy else f'{_UPPER}({value})'} as {column.name}")
    sources = " cross join ".join(f"db.{parent.name}" for parent in table.parents)
    return f"select {', '.join(shown)} from {sources}"


def _entry(table: RandomTable) -> dict[str, Any]:
    return {
        "unique_id": table.id,
        "metadata": {"type": "table", "schema": "db", "name": table.name},
        "columns": {
            column.name: {"name": column.name, "type": "string", "index": place, "comment": None}
            for place, column in enumerate(table.columns, 1)
        },
        "stats": {},
    }


def _test(name: str, table: RandomTable, column: RandomColumn) -> dict[str, Any]:
    return {
        "resource_type": "test",
        "unique_id": f"test.shop.{name}",
        "name": name,
        "package_name": "shop",
        "attached_node": table.id,
        "column_name": column.name,
        "test_metadata": {"name": name, "kwargs": {"column_name": column.name}},
        "depends_on": {"nodes": [table.id], "macros": []},
        "columns": {},
        "config": {},
    }


def _exposure(name: str, tables: list[RandomTable]) -> dict[str, Any]:
    return {
        "resource_type": "exposure",
        "unique_id": f"exposure.shop.{name}",
        "name": name,
        "type": "dashboard",
        "package_name": "shop",
        "owner": {"name": "CFO"},
        "depends_on": {"nodes": [table.id for table in tables], "macros": []},
    }


@dataclass
class Readable:
    """The part of a project that an audience may read.

    Attributes:
        hidden: Names that no published file may have.
        visible: Names that the site must have.
    """

    hidden: set[str] = field(default_factory=set)
    visible: set[str] = field(default_factory=set)


def readable(project: RandomProject) -> Readable:
    """The rule, slowly."""
    least, most = _levels(project, upwards=False), _levels(project, upwards=True)
    result = Readable()
    hidden_tables = set()
    behind_least = _behind(project, least, loosely=False)
    behind_most = _behind(project, most, loosely=True)
    for table in project.tables:
        hidden, visible = set(), set()
        unlabelled = table.label is None and not project.shows_unlabelled
        for column in table.columns:
            is_closed = column.label is None and (unlabelled or id(table) in behind_least)
            if least[id(column)] > project.sees or is_closed:
                hidden.add(column.name)
            may_be_closed = column.label is None and unlabelled
            if id(table) in behind_most:
                may_be_closed |= not _has_own_label(table, column)
            if most[id(column)] <= project.sees and not may_be_closed:
                visible.add(column.name)
        is_hidden = _above(project, table.label) or (
            unlabelled and len(hidden) == len(table.columns)
        )
        if is_hidden:
            hidden_tables.add(id(table))
            result.hidden |= {table.name, *(column.name for column in table.columns)}
        else:
            result.hidden |= hidden
            result.visible |= visible
            if table.label is not None or visible:
                result.visible.add(table.name)
    result.hidden |= {*_dependent(project, hidden_tables, result.hidden)}
    return result


def _above(project: RandomProject, label: Classification | None) -> bool:
    return label is not None and label > project.sees


def _has_own_label(table: RandomTable, column: RandomColumn) -> bool:
    """Whether a column's own label counts, which one below its table's does not."""
    label = column.label
    return label is not None and (table.label is None or label >= table.label)


def _levels(project: RandomProject, *, upwards: bool) -> dict[int, Classification]:
    """The classification of each column, those without any public.

    Args:
        upwards: A column that is copied into one with a higher label has it too.
    """
    levels = {
        id(column): max(column.label or Classification.PUBLIC, table.label or Classification.PUBLIC)
        for table in project.tables
        for column in table.columns
    }
    while True:
        before = dict(levels)
        for table in project.tables:
            for column in table.columns:
                if column.origin is None:
                    continue
                ends = (id(column.origin), id(column))
                levels[ends[1]] = max(levels[end] for end in ends)
                if upwards and column.is_copy:
                    levels[ends[0]] = levels[ends[1]]
        if levels == before:
            return levels


def _behind(
    project: RandomProject, levels: dict[int, Classification], *, loosely: bool
) -> set[int]:
    """The tables that hidden values may be in, as a task writes them in an unknown way.

    Args:
        loosely: So does a model that joins a table and takes no column of it.
    """
    holding = {
        id(table)
        for table in project.tables
        if _above(project, table.label)
        or any(levels[id(column)] > project.sees for column in table.columns)
    }
    behind: set[int] = set()
    while True:
        size = len(behind)
        for table in project.tables:
            sources = {id(parent) for parent in table.parents}
            unmapped = set() if table.is_model else sources
            if loosely:
                unmapped = {id(parent) for parent in table.parents if not _is_mapped(parent, table)}
            if sources & behind or unmapped & holding:
                behind.add(id(table))
        if len(behind) == size:
            return behind


def _is_mapped(parent: RandomTable, table: RandomTable) -> bool:
    """Whether a column of a table is known to come from its parent."""
    names = {column.name for column in parent.columns}
    return any(column.origin and column.origin.name in names for column in table.columns)


def _dependent(project: RandomProject, tables: set[int], columns: set[str]) -> Iterator[str]:
    """Names of what belongs to hidden data only."""
    for name, (table, column) in project.tests.items():
        if id(table) in tables or column.name in columns:
            yield name
    for name, read in project.exposures.items():
        if all(id(table) in tables for table in read):
            yield name
    for name, written in project.tasks.items():
        if all(id(table) in tables for table in (written, *written.parents)):
            yield name
