"""The columns of a thousand Python scripts of 300 lines, in the processor's seconds.

Each script is some of the corpus' (`tests/collectors/python_code/scripts`) behind each other, with
names of its own for tables and columns; so no two are alike. Between them stands what public
scripts have as many lines of, and what reads and writes nothing: comments, logging, waiting,
notices. The second run has the cache of the first, by the hash of the files.
"""

from __future__ import annotations

import random
import re
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report  # noqa: E402
from dbt_graft.collectors.python_code import code_cache  # noqa: E402
from dbt_graft.collectors.python_code.code_cache import CodeCache  # noqa: E402
from tests.collectors.python_code.blocks import SCRIPTS, list_scripts  # noqa: E402

FILES, LINES, LIMIT = 1_000, 300, 20.0
# Names of tables and columns of the corpus' world, which each file has in its own way.
_NAMES = re.compile(
    r"\b(?:dbo|dw|mart|stage|crm|erp)\.\w+|\b\w+_(?:id|at|on|price|name|limit|g|pct|key)\b"
)

# Lines without data, of which a script has about as many as with them.
_AROUND = '''
# ---------------------------------------------------------------------------
# Part {part}: see the wiki for who wants this table and until when.
# ---------------------------------------------------------------------------
def notify{mark}(subject, message, recipients=("data@example.org",), retries=3):
    """Tell people that a part has ended; never fails.

    Args:
        subject: A line.
        message: The text, without figures.
    """
    for attempt in range(retries):
        try:
            logger.info("%s: %s to %s", subject, message, ", ".join(recipients))
            break
        except ConnectionError:
            logger.warning("attempt %d of %d failed", attempt + 1, retries)
            time.sleep(2 ** attempt)


started{mark} = time.time()
logger.info("part {part} begins")
'''
_HEAD = """import logging
import time

logger = logging.getLogger("tasks")
"""


def scripts() -> list[str]:
    """The scripts of one file each that need nothing beside them, without their heads."""
    texts = []
    for path in list_scripts():
        if path.parent == SCRIPTS:
            lines = path.read_text("utf-8").splitlines()
            body = [line for line in lines if not line.startswith("# ")]
            texts.append("\n".join(body))
    return texts


def long_script(pick: random.Random, texts: list[str], number: int) -> str:
    """A script of 300 lines."""
    parts = [_HEAD]
    while sum(part.count("\n") + 1 for part in parts) < LINES:
        mark = f"_{number}_{len(parts)}"
        text = pick.choice(texts)
        parts.append(_AROUND.format(part=len(parts), mark=mark))
        parts.append(_NAMES.sub(lambda match, mark=mark: f"{match[0]}{mark}", text))
    return "\n".join("\n".join(parts).splitlines()[:LINES]) + "\n"


def complete_script(pick: random.Random, texts: list[str], number: int) -> str:
    """A script of about 300 lines that does not end within one of its parts."""
    while True:
        text = long_script(pick, texts, number)
        try:
            compile(text, "script", "exec")
        except SyntaxError:
            continue
        return text


def cpu_seconds(work: Callable[[], None]) -> float:
    """The processor's seconds that some work takes, the system's included."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> int:
    """Report the figures; return 1 if the limit is exceeded."""
    report = Report("Columns of Python scripts", "benchmarks/python_code/bench_python_code.py")
    pick = random.Random(34)
    texts = scripts()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [f"task_{number:04}.py" for number in range(FILES)]
        for number, file in enumerate(files):
            (folder / file).write_text(complete_script(pick, texts, number), "utf-8")
        counts = [0, 0, 0, 0]

        def read_all() -> None:
            cache = CodeCache(folder / "cache", _reader(folder))
            counts[:] = [0, 0, 0, 0]
            for file in files:
                code = cache.code(file)
                counts[0] += len({(edge.to_table, edge.to_column) for edge in code.edges})
                counts[1] += len(code.edges)
                counts[2] += len(code.gaps)
                counts[3] += len(code.reads) + len(code.writes)
            cache.write()

        first = cpu_seconds(read_all)
        columns, edges, gaps, statements = counts
        code_cache._FOLLOWED.clear()  # what a new process does not have
        again = cpu_seconds(read_all)
        same = counts == [columns, edges, gaps, statements]
    report.say(
        f"{FILES:,} scripts of {LINES} lines, made of those of the tests: pandas, cursors, "
        f"SQLAlchemy, Polars, PySpark; {statements / FILES:.0f} reads and writes in each. "
        f"{edges:,} edges to {columns:,} columns, {gaps:,} gaps."
    )
    report.table("", f"CPU s (limit {LIMIT:g})", "files a second")
    for label, seconds in (("at first", first), ("again, nothing has changed", again)):
        report.row(label, f"{seconds:.1f}", f"{FILES / seconds:,.0f}")
    report.write()
    return int(first > LIMIT or not same)


def _reader(folder: Path) -> Callable[[str], bytes | None]:
    def read_file(file: str) -> bytes | None:
        path = folder / file
        return path.read_bytes() if path.is_file() else None

    return read_file


if __name__ == "__main__":
    sys.exit(main())
