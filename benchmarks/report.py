"""The results of a benchmark: printed line by line, then a section of `results.md`."""

from __future__ import annotations

import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).resolve().with_name("results.md")
TITLE = """# What was measured

Each section is written by its own benchmark (`make bench` runs them all). What stands in one table
was measured in one run.
"""


class Report:
    """A section of the page; made before the work, so that it knows how busy the machine was."""

    def __init__(self, heading: str, script: str) -> None:
        self._heading = f"## {heading}"
        load = os.getloadavg()[0]
        self._lines = [
            f"Written by `{script}` on {datetime.now(UTC):%Y-%m-%d}: {os.cpu_count()} cores, "
            f"{platform.machine()}, Python {platform.python_version()}; the load before was "
            f"{load:.1f}{', so other work ran beside it' if load > 0.5 else ''}.",
            "",
        ]

    def say(self, line: str = "") -> None:
        """Show a line of Markdown and keep it."""
        print(line, flush=True)
        self._lines.append(line)

    def row(self, *cells: str) -> None:
        """A row of a table."""
        self.say(f"| {' | '.join(cells)} |")

    def table(self, *headings: str) -> None:
        """The head of a table; what stands in all columns but the first are figures."""
        self.say()
        self.row(*headings)
        self.row("---", *["--:"] * (len(headings) - 1))

    def write(self) -> None:
        """Put the section where it stood before on the page, or at its end."""
        page = PAGE.read_text("utf-8") if PAGE.exists() else TITLE
        PAGE.write_text(with_section(page, self._heading, "\n".join(self._lines)), "utf-8")


def with_section(page: str, heading: str, text: str) -> str:
    """A page in which this text stands under the heading, and all else as it was."""
    sections = [section.rstrip() for section in _sections(page)]
    new = f"{heading}\n\n{text.rstrip()}"
    at = [n for n, section in enumerate(sections) if section.partition("\n")[0] == heading]
    if at:
        sections[at[0]] = new
    else:
        sections.append(new)
    return "\n\n".join(sections) + "\n"


def _sections(page: str) -> list[str]:
    return re.split(r"^(?=## )", page, flags=re.MULTILINE)
