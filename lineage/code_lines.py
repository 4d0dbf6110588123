"""Lines of tasks' code, as people read them, with their addresses in the repository's host."""

from __future__ import annotations

import posixpath
from urllib.parse import quote, urlsplit

from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Lineage


@frozen
class CodeLine:
    """A line of code.

    Attributes:
        text: `load_orders.py, line 41`
        url: Its page in the repository; empty where the task names none.
    """

    text: str
    url: str = ""


def place_text(place: str) -> str:
    """The place of a column edge in words: `load_orders.py, line 41`."""
    file, _, line = place.rpartition(":")
    return f"{posixpath.basename(file)}, line {line}"


def code_line(lineage: Lineage, task: str, place: str) -> CodeLine | None:
    """The line at the place of a column edge; None without one.

    Args:
        place: `tasks/load_orders.py:41`
    """
    file, _, line = place.rpartition(":")
    if not file:
        return None
    text = place_text(place)
    info = lineage.tasks[task].info if task in lineage.tasks else None
    if info is None or not info.repo:
        return CodeLine(text)
    match = lineage.codes.get(task)
    if match and info.path:
        # Other files of a script lie beside it in the repository, too.
        beside = posixpath.relpath(file, posixpath.dirname(match.code.file) or ".")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(info.path), beside))
    return CodeLine(text, _address(info.repo, file, line))


def code_gaps(lineage: Lineage, task: str) -> list[tuple[CodeLine, str]]:
    """The lines of a task's code that could not be followed, with the reasons, each once."""
    match = lineage.codes.get(task)
    gaps = {(str(gap.place), gap.reason): None for gap in match.code.gaps} if match else {}
    return [(line, reason) for place, reason in gaps if (line := code_line(lineage, task, place))]


def _address(repo: str, file: str, line: str) -> str:
    """The page of a line at a host of repositories.

    GitHub, GitLab and what is made like them have `/blob/<ref>/<path>#L<line>`.
    """
    base, host = repo.rstrip("/").removesuffix(".git"), urlsplit(repo).hostname or ""
    path = quote(file)
    if host.endswith("bitbucket.org"):
        return f"{base}/src/HEAD/{path}#lines-{line}"
    if host.endswith(("dev.azure.com", "visualstudio.com")):
        return f"{base}?path=/{path}&line={line}&lineEnd={line}&lineStartColumn=1&lineEndColumn=999"
    return f"{base}/blob/HEAD/{path}#L{line}"
