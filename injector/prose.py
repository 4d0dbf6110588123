"""Descriptions of grafted nodes as Markdown, and their code for the Code tab of the docs page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from dbt_graft.lineage import urls
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.records import Run, Shape
from dbt_graft.lineage.usage import DECLARED, Usage

# Inline markup of Markdown; an underscore within a word is plain text.
_MARKUP = re.compile(r"([\\`*\[\]!|<>~&$]|(?<!\w)_|_(?!\w))")
_BLANK_LINES = re.compile(r"\n\s*\n")
_DECLARED_TASK = "Declared task"
_WEB = re.compile(r"https?://[^\s<>()\"']+")


def escape(text: str) -> str:
    """Escape text for use in Markdown; white space is collapsed."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def escaped_text(text: str) -> str:
    """Escape a text of a log for use in Markdown; its paragraphs stay."""
    return paragraphs(*map(escape, _BLANK_LINES.split(text)))


def link(text: str, address: str) -> str:
    """Return a Markdown link; the text is escaped, the URL is not."""
    return f"[{escape(text)}]({address})"


def moment(at: datetime) -> str:
    """Format a time to the minute, in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def catalog_link(dataset: DatasetId, site: str) -> str:
    """Return a link to the page of a dataset in the catalog; empty without the site's URL."""
    return f"[Catalog page]({site}{urls.dataset_path(dataset)})" if site else ""


def _page(name: str, site: str, path: str) -> str:
    """A name that links to its page in the catalog, if the site's URL is known."""
    return link(name, site + path) if site else escape(name)


def paragraphs(*parts: str) -> str:
    """Join the parts that are not empty by blank lines."""
    return "\n\n".join(part.rstrip() for part in parts if part.strip())


def built_by(tasks: Iterable[Task], usages: Iterable[Usage], site: str) -> str:
    """Describe the writers of a dataset: task, engine, last run, owner."""
    tasks_by_name = {task.name: task for task in tasks}
    return paragraphs(*(_writer(tasks_by_name[usage.task], usage, site) for usage in usages))


def view_of(definition: Definition, site: str) -> str:
    """Describe a view by the datasets it selects from."""
    links = _dataset_links(definition.reads, site)
    return f"View on {links}." if links else "View."


def reads(task: Task, site: str) -> str:
    """Describe a task that only reads."""
    page = _page(task.name, site, urls.task_path(task.name))
    first = f"{_kind(task.engines)} {page}{_on(map(escape, task.engines))}."
    return _task(first, task, _last_run(task.runs, None))


def _kind(engines: Iterable[str]) -> str:
    """The kind of a task: of one that only YAML names, nobody knows what it runs."""
    return _DECLARED_TASK if {*engines} == {DECLARED} else "Python task"


def _on(engines: Iterable[str]) -> str:
    named = ", ".join(engine for engine in engines if engine != DECLARED)
    return f" on {named}" if named else ""


def also_written_by(tasks: Iterable[str], site: str) -> str:
    """Name the tasks that write a dataset of dbt's."""
    return f"**Also written by** {_links(tasks, site)}, outside dbt."


def read_by(tasks: Iterable[str], views: Iterable[DatasetId], site: str) -> str:
    """Name the tasks and views that read a dataset."""
    readers = [part for part in (_links(tasks, site), _dataset_links(views, site)) if part]
    return f"Read by {', '.join(readers)}." if readers else ""


def _links(tasks: Iterable[str], site: str) -> str:
    return ", ".join(_page(name, site, urls.task_path(name)) for name in tasks)


def _dataset_links(datasets: Iterable[DatasetId], site: str) -> str:
    return ", ".join(_page(dataset.short, site, urls.dataset_path(dataset)) for dataset in datasets)


def _writer(task: Task, usage: Usage, site: str) -> str:
    name = _page(task.name, site, urls.task_path(task.name))
    if usage.engine == DECLARED:
        return _task(f"Written by {name}, as declared.", task, "")
    sentence = f"Written by {name} on {escape(usage.engine)}"
    if usage.operations:
        sentence += f" ({escape(', '.join(usage.operations))})"
    if usage.procedures:
        noun = "procedure" if len(usage.procedures) == 1 else "procedures"
        sentence += f" in {noun} {escape(', '.join(usage.procedures))}"
    return _task(f"{sentence}.", task, _last_run(task.runs_of(usage), usage.rows))


def _task(first: str, task: Task, last_run: str) -> str:
    text = task.info.description
    text = escaped_text(text) if task.described_in_events else text
    return paragraphs(first, text, last_run, _more(task))


def _last_run(runs: Sequence[Run], rows: int | None) -> str:
    if not runs or not runs[0].started_at:
        return ""
    text = f"Last run {moment(runs[0].started_at)}: {runs[0].status}"
    return f"{text}, {rows:,} rows written." if rows is not None else f"{text}."


def _more(task: Task) -> str:
    info = task.info
    parts = [f"Owner {escape(info.owner)}"] if info.owner else []
    if info.schedule:
        parts.append(f"schedule `{info.schedule.replace('`', '')}`")
    for name, address in (("code", info.repo), ("runbook", info.runbook)):
        if _WEB.fullmatch(address):
            parts.append(link(name, address))
    return " · ".join(parts)


def code(tasks: Iterable[Task], usages: Sequence[Usage], shapes: Mapping[str, Shape]) -> str:
    """Return the statements that build a dataset as Python source, without literals.

    Of tasks that are declared there are none, only comments of SQL.
    """
    blocks = []
    mark = "--" if _kind(usage.engine for usage in usages) == _DECLARED_TASK else "#"
    for task in tasks:
        task_usages = [usage for usage in usages if usage.task == task.name]
        engines = [usage.engine for usage in task_usages]
        lines = [f"{mark} {_kind(engines)} {_line(task.name)}{_on(map(_line, engines))}"]
        if task.info.path:
            lines.append(f"{mark} {_line(task.info.path)}")
        texts = _texts((shape for usage in task_usages for shape in usage.shapes), shapes)
        if texts:
            lines.append("# Statements in the log, without literals:")
        blocks.append("\n".join([*lines, *(f"\n{_quoted(text)}" for text in texts)]))
    return "\n\n".join(blocks) + "\n"


def files(tasks: Iterable[Task], code: Mapping[str, str]) -> str:
    """Return the Python files of tasks, concatenated; empty unless all of them are known."""
    task_files = [(task, code.get(task.name, "")) for task in tasks]
    if not all(text.strip() for _, text in task_files):
        return ""
    if len(task_files) == 1:
        return task_files[0][1]
    return "\n\n".join(f"# {_line(task.name)}\n{text.rstrip()}\n" for task, text in task_files)


def definition(view: Definition, shapes: Mapping[str, Shape]) -> str:
    """Return the SQL that defines a view, without literals."""
    return "\n".join(text.strip() for text in _texts(view.shapes, shapes)) + "\n"


def _texts(ids: Iterable[str], shapes: Mapping[str, Shape]) -> list[str]:
    texts = (shapes[shape].text for shape in dict.fromkeys(ids) if shape in shapes)
    return [text for text in texts if text]


def _quoted(text: str) -> str:
    body = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""\n{body}\n"""'


def web(address: str) -> str:
    """Return a web address as it is, anything else as an empty string."""
    return address if _WEB.fullmatch(address) else ""


def _line(text: str) -> str:
    return " ".join(text.split())
