"""What the grafted nodes say of themselves: Markdown, and code for the page's Code tab."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from dbt_graft.lineage import urls
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.records import Direction, Shape
from dbt_graft.lineage.usage import Usage

# What Markdown reads inside a line; an underscore within a word is plain text.
_MARKUP = re.compile(r"([\\`*\[\]!|<>~&$]|(?<!\w)_|_(?!\w))")
_WEB = re.compile(r"https?://[^\s<>()\"']+")


def escape(text: str) -> str:
    """Text of a log as Markdown that shows it and does nothing else."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def link(text: str, address: str) -> str:
    """A Markdown link; the text is escaped, the address is taken as it is."""
    return f"[{escape(text)}]({address})"


def moment(at: datetime) -> str:
    """A time to the minute, in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def catalog_link(dataset: DatasetId, site: str) -> str:
    """The link from dbt's docs page to a dataset's page in the catalog."""
    return f"[Catalog page]({site}{urls.dataset_path(dataset)})"


def paragraphs(*parts: str) -> str:
    """The parts that say something, a blank line between them."""
    return "\n\n".join(part.rstrip() for part in parts if part.strip())


def built_by(dataset: DatasetId, tasks: Iterable[Task], site: str) -> str:
    """Who writes a dataset, one paragraph a task."""
    return paragraphs(*(_task(task, write_usage(task, dataset), site) for task in tasks))


def view_of(definition: Task, site: str) -> str:
    """What a view is made of."""
    named = [link(dataset.short, site + urls.dataset_path(dataset)) for dataset in definition.reads]
    return f"A view of {', '.join(named)}." if named else "A view."


def reads(task: Task, site: str) -> str:
    """What a read-only task is."""
    return _task(task, None, site)


def also_written_by(tasks: Iterable[str], site: str) -> str:
    """That tasks write what dbt builds."""
    return f"**Also written by** {_links(tasks, site)}, outside dbt."


def read_by(tasks: Iterable[str], site: str) -> str:
    """Who reads a dataset that nobody is known to write."""
    return f"Read by {_links(tasks, site)}."


def _links(tasks: Iterable[str], site: str) -> str:
    return ", ".join(link(name, site + urls.task_path(name)) for name in tasks)


def write_usage(task: Task, dataset: DatasetId) -> Usage | None:
    """How a task writes a dataset; None where only a flow tells of it."""
    return next(
        (
            usage
            for usage in task.usages
            if usage.direction is Direction.WRITE and usage.dataset == dataset
        ),
        None,
    )


def _task(task: Task, usage: Usage | None, site: str) -> str:
    verb = "Written by" if usage else "Python task"
    sentence = (
        f"{verb} {link(task.name, site + urls.task_path(task.name))} on {escape(task.engine)}"
    )
    if usage and usage.operations:
        sentence += f" ({escape(', '.join(usage.operations))})"
    if usage and usage.procedures:
        noun = "procedure" if len(usage.procedures) == 1 else "procedures"
        sentence += f" in {noun} {escape(', '.join(usage.procedures))}"
    lines = [sentence + "."]
    if task.info.description:
        lines.append(task.info.description)
    if task.runs and task.runs[0].started_at:
        told = f"Last run {moment(task.runs[0].started_at)}: {task.runs[0].status}"
        if usage and usage.rows is not None:
            told += f", {usage.rows:,} rows written"
        lines.append(told + ".")
    if more := _more(task):
        lines.append(more)
    return "\n".join(lines)


def _more(task: Task) -> str:
    info = task.info
    parts = [f"Owner {escape(info.owner)}"] if info.owner else []
    if info.schedule:
        parts.append(f"schedule `{info.schedule.replace('`', '')}`")
    for name, address in (("code", info.repo), ("runbook", info.runbook)):
        if _WEB.fullmatch(address):
            parts.append(link(name, address))
    return " · ".join(parts)


def code(dataset: DatasetId, tasks: Iterable[Task], shapes: Mapping[str, Shape]) -> str:
    """What builds a dataset, as Python that reads well: each task's statements, literals gone."""
    blocks = []
    for task in tasks:
        usage = write_usage(task, dataset)
        told = [f"# {_line(task.name)}: a Python task on {_line(task.engine)}"]
        if task.info.path:
            told.append(f"# {_line(task.info.path)}")
        texts = [shapes[shape].text for shape in (usage.shapes if usage else ()) if shape in shapes]
        if texts:
            told.append("# What the log shows it to send, literals taken out:")
        blocks.append("\n".join([*told, *(f"\n{_quoted(text)}" for text in texts)]))
    return "\n\n".join(blocks) + "\n"


def files(tasks: Iterable[Task], code: Mapping[str, str]) -> str:
    """The Python files of tasks, one behind the other; empty unless all of them are at hand."""
    told = [(task, code.get(task.name, "")) for task in tasks]
    if not all(text.strip() for _, text in told):
        return ""
    if len(told) == 1:
        return told[0][1]
    return "\n\n".join(f"# {_line(task.name)}\n{text.rstrip()}\n" for task, text in told)


def definition(dataset: DatasetId, view: Task, shapes: Mapping[str, Shape]) -> str:
    """The SQL that defines a view, literals gone."""
    usage = write_usage(view, dataset)
    texts = [shapes[shape].text for shape in (usage.shapes if usage else ()) if shape in shapes]
    return "\n".join(text.strip() for text in texts) + "\n"


def _quoted(text: str) -> str:
    body = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""\n{body}\n"""'


def web(address: str) -> str:
    """An address that a page may link to; empty for any other."""
    return address if _WEB.fullmatch(address) else ""


def _line(text: str) -> str:
    return " ".join(text.split())
