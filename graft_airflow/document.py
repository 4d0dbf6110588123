"""The file that `graft export airflow-lineage` writes: JSON with one task, or dataset, a line.

An event needs one task of thousands, and is made by a process of its own. So a task is looked for
by its line, and only that is parsed. A file in another layout (from `jq`, say) is parsed as any
JSON, which takes longer and gives the same.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from graft_airflow.content import content_of, version_of
from graft_airflow.errors import LineageFileError
from graft_airflow.settings import Settings

VERSION = 1
_REMEDY = "write it again with `graft export airflow-lineage --out FILE`"
_NEWER = "install the graft_airflow that belongs to the dbt-graft that wrote it, or a later one"
_SECTIONS = ("jobs", "models", "tasks", "datasets")
_NAME = re.compile(rb'("(?:[^"\\]|\\.)*"):')
_cache: tuple[tuple[object, ...], LineageDocument] | None = None


def read_document(settings: Settings) -> LineageDocument:
    """The lineage file; the one in memory if it has not changed.

    Raises:
        LineageFileError: It is missing, damaged or of a later version.
    """
    global _cache
    version = version_of(settings)
    if _cache and _cache[0] == version:
        return _cache[1]
    document = LineageDocument(content_of(settings))
    _cache = (version, document)
    return document


class LineageDocument:
    """A lineage file, of which as little is parsed as is asked for.

    Attributes:
        as_of: When the lineage was collected, in ISO 8601; empty where nothing was.

    Raises:
        LineageFileError: It is no such file, or of a later version.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._lines = _sections(content)
        self._parsed: dict[str, Any] | None = None
        head = _head(content) if self._lines else self._read_all()
        version = head.get("version")
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise LineageFileError("the file of collected lineage names no version", _REMEDY)
        if version > VERSION:
            raise LineageFileError(
                f"the file of collected lineage has version {version}, and this package reads "
                f"up to {VERSION}",
                _NEWER,
            )
        self.as_of = text_of(head.get("as_of"))

    def task(self, name: str) -> dict[str, Any] | None:
        """The inputs and outputs of a task of ours, or of a dbt node; None if there is none."""
        entry = self._entry("tasks", name)
        return entry if isinstance(entry, dict) else None

    def task_of_job(self, job: str) -> str | None:
        """The task of ours that ran as `<dag>.<task>` of Airflow, by its logs."""
        return text_of(self._entry("jobs", job)) or None

    def model(self, name: str) -> str | None:
        """The unique_id of a dbt model, by its name."""
        return text_of(self._entry("models", name)) or None

    def datasets(self) -> dict[str, Any]:
        """`<namespace>/<name>` -> its last write, of every dataset."""
        datasets = self._read_all().get("datasets")
        return datasets if isinstance(datasets, dict) else {}

    def _entry(self, section: str, key: str) -> Any:
        if not self._lines:
            entries = self._read_all().get(section)
            return entries.get(key) if isinstance(entries, dict) else None
        line = _line(self._content, json.dumps(key).encode(), *self._lines[section])
        return None if line is None else _parse_json(line.rstrip(b",\r"))

    def _read_all(self) -> dict[str, Any]:
        if self._parsed is None:
            document = _parse_json(self._content)
            if not isinstance(document, dict):
                raise LineageFileError("the file of collected lineage is no JSON object", _REMEDY)
            self._parsed = document
        return self._parsed


@dataclass(frozen=True)
class MatchedTask:
    """A task of ours that an Airflow task runs.

    Attributes:
        rule: How it was found: `params`, `job`, `task_id`, `task_id without group`, `dbt model`.
        content: Its inputs and outputs.
    """

    name: str
    rule: str
    content: dict[str, Any]


def match(document: LineageDocument, dag_id: str, task_id: str, named: str) -> MatchedTask | None:
    """The task of ours that an Airflow task runs, by the first of these rules that has one.

    What the DAG names (`params={"graft_task": …}`; nothing else counts then); the job that logs or
    events show; the task_id; the task_id without its groups; a dbt model of that name. By a
    task_id alone no task is found that is known to run as other Airflow tasks.

    Args:
        named: The parameter `graft_task`; empty if there is none.
    """
    if named:
        content = document.task(named)
        return MatchedTask(named, "params", content) if content else None
    job = f"{dag_id}.{task_id}"
    if (task := document.task_of_job(job)) and (content := document.task(task)):
        return MatchedTask(task, "job", content)
    last = task_id.rpartition(".")[2]
    rules = {task_id: "task_id", last: "task_id" if last == task_id else "task_id without group"}
    for name, rule in rules.items():
        content = document.task(name)
        if content and not content.get("jobs"):
            return MatchedTask(name, rule, content)
    if (node := document.model(last)) and (content := document.task(node)):
        return MatchedTask(node, "dbt model", content)
    return None


def text_of(value: Any) -> str:
    """A value that should be a text; empty where it is none."""
    return value if isinstance(value, str) else ""


def objects_of(value: Any) -> list[dict[str, Any]]:
    """The objects in a value that should be a list of them."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _sections(content: bytes) -> dict[str, tuple[int, int]]:
    """The begin and end of each section's lines; empty where the file has another layout."""
    tail = content[-8:].rstrip()
    if not content.startswith(b"{\n") or not tail.endswith(b"}\n}"):
        return {}
    starts, ends, at = [], [], 0
    for name in _SECTIONS:
        mark = b'\n"%s":{\n' % name.encode()
        # The last one is looked for from the end: most of the file lies before it.
        at = content.rfind(mark, at) if name == _SECTIONS[-1] else content.find(mark, at)
        if at < 0:
            return {}
        ends.append(at - len("},"))
        at += len(mark) - 1  # the line end, with which the next mark may begin
        starts.append(at + 1)
    ends.append(len(content) - len(content[-8:]) + len(tail) - len("}\n}"))
    return dict(zip(_SECTIONS, zip(starts, ends[1:])))


def _line(content: bytes, name: bytes, start: int, end: int) -> bytes | None:
    """The text behind a name in a section, whose lines are sorted by the bytes of names."""
    while start < end:
        middle = (start + end) // 2
        begin = content.rfind(b"\n", start, middle) + 1 or start
        line_end = content.find(b"\n", begin, end)
        line_end = end if line_end < 0 else line_end
        key = _NAME.match(content, begin, line_end)
        if key is None:
            raise LineageFileError("the file of collected lineage is no valid JSON", _REMEDY)
        if key[1] == name:
            return content[key.end() : line_end]
        if key[1] < name:
            start = line_end + 1
        else:
            end = begin
    return None


def _head(content: bytes) -> dict[str, Any]:
    """The keys before the first section."""
    end = content.find(b'\n"jobs":{\n')
    fields = _parse_json(content[:end].rstrip(b",\r") + b"}")
    return fields if isinstance(fields, dict) else {}


def _parse_json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise LineageFileError("the file of collected lineage is no valid JSON", _REMEDY) from None
