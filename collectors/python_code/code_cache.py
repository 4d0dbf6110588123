"""The code of tasks of the last build in a file: a script that has not changed is not read again.

An entry is of a script; it holds as long as all files that following it asked for are the same,
those that were not there too.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_graft.collectors.parsed_file import from_entry, read_entries, to_entry, write_entries
from dbt_graft.collectors.python_code.language.notebooks import parse_python
from dbt_graft.lineage.code import UNKNOWN_PART, CodePlace, TaskCode, code_of_task, id_of_task

if TYPE_CHECKING:
    from dbt_graft.collectors.python_code.script import ReadFile

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OPERATOR = re.compile(r"DAG|dag|\w*(?:Operator|Sensor)")
_DEFAULTS = "default_args"
# Those of every operator of Airflow, so that none has them for its own work.
_SETTINGS = frozenset(
    {
        *("retries", "retry_delay", "retry_exponential_backoff", "max_retry_delay"),
        *("email_on_failure", "email_on_retry", "priority_weight", "doc_md"),
    }
)
_DOCUMENTED = (ast.Module, ast.ClassDef, *_FUNCTIONS)


def syntax_digest(files: Mapping[str, bytes | None]) -> str:
    """The digest of files by their paths; what is no valid Python counts byte by byte."""
    return SyntaxDigests(files).digest()


class SyntaxDigests:
    """The digests of files with and without some functions, which are read once for all.

    Args:
        functions: Those that a digest may be without; of these the bodies have digests of their
            own.
    """

    def __init__(
        self, files: Mapping[str, bytes | None], functions: Collection[CodePlace] = ()
    ) -> None:
        self._files: list[tuple[str, bytes]] = []
        self._bodies: dict[CodePlace, bytes] = {}
        for file, content in sorted(files.items()):
            if content is not None:
                lines = {place.line for place in functions if place.file == file}
                self._files.append((file, self._file_digest(file, content, lines)))

    def digest(self, without: Collection[CodePlace] = ()) -> str:
        """The digest of the files without some, or without the bodies of some of the functions."""
        digest, left_out = hashlib.sha256(), {*without}
        for file, of_file in self._files:
            if CodePlace(file, 0) not in left_out:
                digest.update(_encode(f"{file}\n") + of_file)
        for place, of_body in sorted(self._bodies.items()):
            is_left_out = not left_out.isdisjoint((place, CodePlace(place.file, 0)))
            digest.update(b"" if is_left_out else of_body)
        return digest.hexdigest()[:32]

    def _file_digest(self, file: str, content: bytes, lines: Collection[int]) -> bytes:
        if not file.endswith((".py", ".ipynb")):
            return _digest(content)
        try:
            # Those that are inside of others come before them.
            nodes = [*ast.walk(tree := parse_python(content))]
            has_plain_settings = _has_plain_settings(nodes)
            for node in reversed(nodes):
                if has_plain_settings and isinstance(node, ast.Call | ast.Assign):
                    _leave_out_settings(node)
                if not isinstance(node, _DOCUMENTED):
                    continue
                if ast.get_docstring(node, clean=False) is not None:
                    node.body = node.body[1:] or [ast.Pass()]
                if isinstance(node, _FUNCTIONS) and node.lineno in lines:
                    text = f"{node.name} {''.join(map(ast.dump, node.body))}"
                    self._bodies[CodePlace(file, node.lineno)] = _digest(_encode(text))
                    node.body = [ast.Pass()]
            return _digest(_encode(ast.dump(tree)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return _digest(content)


def _has_plain_settings(nodes: Sequence[ast.AST]) -> bool:
    """Whether no code takes settings for values: `load(**default_args)`, `task.retries`."""
    handed_on = {
        id(node.value) for node in nodes if isinstance(node, ast.keyword) and node.arg == _DEFAULTS
    }
    return not any(
        (isinstance(node, ast.Attribute) and node.attr in _SETTINGS)
        or (
            isinstance(node, ast.Name)
            and node.id == _DEFAULTS
            and isinstance(node.ctx, ast.Load)
            and id(node) not in handed_on
        )
        for node in nodes
    )


def _leave_out_settings(node: ast.Call | ast.Assign) -> None:
    """Take out settings of DAGs and operators that say when and by whom, and nothing of data."""
    if isinstance(node, ast.Assign):
        is_default = any(getattr(target, "id", "") == _DEFAULTS for target in node.targets)
        dictionaries = [node.value] if is_default else []
    else:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if not _OPERATOR.fullmatch(name):
            return
        dictionaries = [item.value for item in node.keywords if item.arg == _DEFAULTS]
        node.keywords = [item for item in node.keywords if item.arg not in _SETTINGS]
    for value in dictionaries:
        if isinstance(value, ast.Dict):
            entries = [
                (key, item)
                for key, item in zip(value.keys, value.values, strict=True)
                if not (isinstance(key, ast.Constant) and key.value in _SETTINGS)
            ]
            value.keys = [key for key, _ in entries]
            value.values = [item for _, item in entries]


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _encode(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


_STATEMENTS = "dbt_graft.collectors.statements"
_PARSER = (
    "dbt_graft.lineage",
    *(
        f"dbt_graft.collectors.python_code{part}"
        for part in ("", ".language", ".libraries", ".values")
    ),
    *(f"{_STATEMENTS}{part}" for part in ("", ".columns", ".tables", ".text")),
)
# What this process followed, by the file of the cache and the script: a key of an index asks, and
# then the lineage.
_FOLLOWED: dict[tuple[Path | None, str], Any] = {}


class CodeCache:
    """The code of scripts, followed once for each content."""

    def __init__(self, path: Path | None, read_file: ReadFile) -> None:
        self._path, self._read_file = path, read_file
        self._entries: Mapping[str, Any] = read_entries(path, *_PARSER)
        self._used: dict[str, Any] = {}
        self._codes: dict[str, Mapping[str, TaskCode]] = {}

    def digest(self, file: str) -> str:
        """A digest of a script and of all files that it uses."""
        return str(self._entry(file)["digest"])

    def code(self, file: str, task: str) -> TaskCode:
        """The code of a task: a script, or what is the task's in a file of several."""
        if file not in self._codes:
            self._codes[file] = from_entry(self._entry(file)["codes"])
        return code_of_task(self._codes[file], task)

    def airflow_tasks(self, file: str) -> list[str]:
        """The ids of the tasks of Airflow in a script that write, as far as it tells them."""
        return [*self._entry(file)["tasks"]]

    def all_airflow_tasks(self, file: str) -> list[str]:
        """The ids of the tasks of Airflow in a script; parts of them may not be known."""
        self.code(file, "")
        return sorted(filter(None, self._codes[file]))

    def has_task(self, file: str, task: str) -> bool:
        """Whether a task is in a script, as far as it has tasks of Airflow."""
        ids = self.all_airflow_tasks(file)
        return not ids or bool(id_of_task(ids, task))

    def files(self, code: TaskCode) -> list[str]:
        """The files that a task uses, those too that are not there."""
        left_out = {place.file for place in code.elsewhere if place.line == 0}
        return [file for file in self._entry(code.file)["files"] if file not in left_out]

    def write(self) -> None:
        """Write what was asked for, and nothing else."""
        if self._path and self._used and self._used != self._entries:
            write_entries(self._path, self._used, *_PARSER)

    def _entry(self, file: str) -> Any:
        if file not in self._used:
            entry = _FOLLOWED.get((self._path, file)) or self._entries.get(file)
            if entry is None or self._digest(entry["files"]) != entry["digest"]:
                entry = _FOLLOWED[self._path, file] = self._follow(file)
            self._used[file] = entry
        return self._used[file]

    def _follow(self, file: str) -> Any:
        from dbt_graft.collectors.python_code.task_code import task_codes  # with the SQL parser

        asked: dict[str, None] = {file: None}

        def read_file(path: str) -> bytes | None:
            asked[path] = None
            return self._read_file(path)

        codes = task_codes(file, read_file)
        digest = self._digest(asked)
        contents = {path: self._read_file(path) for path in asked}
        digests = SyntaxDigests(contents, {f for code in codes.values() for f in code.elsewhere})
        for task, code in codes.items():
            codes[task] = replace(code, digest=digest, syntax=digests.digest(code.elsewhere))
        tasks = {write.task for write in codes[""].writes} - {""}
        return {
            "files": list(asked),
            "digest": digest,
            "codes": to_entry(codes),
            "tasks": sorted(task for task in tasks if UNKNOWN_PART not in task),
        }

    def _digest(self, files: Iterable[str]) -> str:
        digest = hashlib.sha256()
        for file in files:
            content = self._read_file(file)
            state = "missing" if content is None else hashlib.sha256(content).hexdigest()
            digest.update(f"{file} {state}\n".encode(errors="surrogateescape"))
        return digest.hexdigest()[:32]
