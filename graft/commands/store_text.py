"""The answers of `graft store`, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dbt_graft.analysis.render.json import iso
from dbt_graft.analysis.render.phrases import ago, count
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.collectors.store.contents import StoreContents, is_earlier
from dbt_graft.collectors.store.tables import FORMAT
from dbt_graft.graft.commands.store_origins import OTHERS

if TYPE_CHECKING:
    from dbt_graft.collectors.store.compaction import Compaction
    from dbt_graft.collectors.store.forget import ForgottenLogs
    from dbt_graft.collectors.store.retention import Purged

_SHOWN = 10
_UNITS = ("bytes", "KB", "MB", "GB", "TB")

Logs = Mapping[str, Sequence[str]]


def size(number: int) -> str:
    """A number of bytes: `812 bytes`, `4.2 MB`."""
    shown, unit = float(number), 0
    while shown >= 1000 and unit < len(_UNITS) - 1:
        shown, unit = shown / 1000, unit + 1
    return f"{shown:,.1f} {_UNITS[unit]}" if unit else f"{number:,} bytes"


def contents_lines(contents: StoreContents, logs: Logs) -> Iterator[str]:
    """The contents of a store as text."""
    rows = [("store", one_line(contents.place))]
    if not contents.batches:
        yield from _columns([*rows, ("batches", "none: nothing was collected yet")])
        return
    merged = f", {contents.merged:,} of them merged" if contents.merged else ""
    rows += [
        ("format", f"{contents.format}{_earlier_text(contents)}"),
        ("batches", f"{contents.batches:,}{merged}{_commit_text(contents)}"),
        ("files", f"{contents.files:,} with {size(contents.bytes)}"),
    ]
    if contents.newest:
        rows.append(("newest", f"{iso(contents.newest)}, {ago(contents.newest)}"))
    rows.append(("oldest", iso(contents.oldest) or ""))
    if contents.due:
        rows.append(("due", f"{count(contents.due, 'batch', 'batches')} for `graft store compact`"))
    if contents.superseded:
        waiting = count(contents.superseded, "merged batch", "merged batches")
        rows.append(("waiting", f"{waiting}, deleted an hour after the merge"))
    if contents.uncommitted:
        left = count(contents.uncommitted, "folder")
        rows.append(("leftovers", f"{left} of collects that ended early; a collect sweeps them"))
    if contents.folds.files:
        folds = contents.folds
        rows.append(("folds", f"{count(folds.files, 'file')} with {size(folds.bytes)}"))
    if contents.purged_before:
        closed = count(contents.closed, "log")
        rows.append(("purged", f"of runs before {iso(contents.purged_before)}, {closed} closed"))
    if contents.copies.files:
        rows.append(
            (
                "copies",
                f"{size(contents.copies.bytes)} from before an upgrade; delete the folder "
                "`copies` when it is not needed",
            )
        )
    yield from _columns(rows)
    yield ""
    tables = [("table", "rows", "files", "size")]
    tables += [
        (name, f"{table.rows:,}", f"{table.files:,}", size(table.bytes))
        for name, table in contents.tables.items()
    ]
    yield from _columns(tables)
    yield ""
    events = {log.origin: log.events for log in contents.logs}
    named = [("source", "logs", "events")]
    named += [
        (
            one_line(name) if name != OTHERS else "in no source of graft.yml",
            f"{len(origins):,}",
            f"{sum(events[origin] for origin in origins):,}",
        )
        for name, origins in logs.items()
    ]
    yield from _columns(named)


def contents_json(contents: StoreContents, logs: Logs) -> dict[str, Any]:
    """The contents of a store as JSON values."""
    logs_by_origin = {log.origin: log for log in contents.logs}
    return {
        "store": contents.place,
        "format": contents.format,
        "formats": {str(version): number for version, number in sorted(contents.formats.items())},
        "batches": contents.batches,
        "merged_batches": contents.merged,
        "last_sequence": contents.last_sequence,
        "oldest": iso(contents.oldest),
        "newest": iso(contents.newest),
        "files": contents.files,
        "bytes": contents.bytes,
        "due_batches": contents.due,
        "superseded_batches": contents.superseded,
        "uncommitted_folders": contents.uncommitted,
        "folds": {"files": contents.folds.files, "bytes": contents.folds.bytes},
        "copies": {"files": contents.copies.files, "bytes": contents.copies.bytes},
        "purged_before": iso(contents.purged_before),
        "closed_logs": contents.closed,
        "tables": {
            name: {"rows": table.rows, "files": table.files, "bytes": table.bytes}
            for name, table in contents.tables.items()
        },
        "sources": [
            {
                "source": name or None,
                "logs": [
                    {
                        "origin": origin,
                        "events": logs_by_origin[origin].events,
                        "read_at": iso(logs_by_origin[origin].read_at),
                    }
                    for origin in origins
                ],
            }
            for name, origins in logs.items()
        ],
    }


def purged_lines(done: Purged, *, dry_run: bool) -> Iterator[str]:
    """The result of a purge as text."""
    would = "would be " if dry_run else ""
    if limit := done.before.get("runs"):
        runs = done.runs
        if runs.logs:
            are = "would be" if dry_run else "are"
            yield (
                f"{count(runs.logs, 'log')} {are} closed: of {count(runs.runs, 'run')} before "
                f"{limit:%d %b %Y} {runs.left:,} stay, {count(runs.rows, 'row')} {are} counts now"
            )
        else:
            yield f"no log holds only runs before {limit:%d %b %Y}"
        if runs.open:
            yield (
                f"{count(runs.open, 'log')} with older runs stay as they are: they hold newer ones "
                "too, or runs of events, of dbt, or of tables that were renamed"
            )
    if limit := done.before.get("statements"):
        yield (
            f"{count(done.statements, 'statement')} not used since {limit:%d %b %Y}: "
            f"{would or 'are '}kept without text"
        )


def purged_json(done: Purged, *, dry_run: bool) -> dict[str, Any]:
    """The result of a purge as JSON values."""
    return {
        "before": {name: iso(at) for name, at in done.before.items()},
        "closed_logs": done.runs.logs,
        "runs": done.runs.runs,
        "staying_runs": done.runs.left,
        "rows": done.runs.rows,
        "open_logs": done.runs.open,
        "statements": done.statements,
        "done": not dry_run,
    }


def compaction_line(done: Compaction) -> str:
    """The result of a compaction as text."""
    merged = (
        f"{count(done.merged, 'batch', 'batches')} merged into {done.made:,}"
        if done.merged
        else "nothing was due"
    )
    deleted = (
        f"{count(done.deleted, 'merged batch', 'merged batches')} deleted, {done.waiting:,} wait"
    )
    return f"{merged}; {count(done.counting, 'batch', 'batches')} to open; {deleted}"


def compaction_json(done: Compaction) -> dict[str, Any]:
    """The result of a compaction as JSON values."""
    return {
        "merged": done.merged,
        "made": done.made,
        "deleted": done.deleted,
        "waiting": done.waiting,
        "batches": done.counting,
    }


def forgotten_lines(removal: ForgottenLogs) -> Iterator[str]:
    """Logs that are to be removed, and their rows."""
    shown = [one_line(origin) for origin in removal.origins[:_SHOWN]]
    yield from shown
    if len(removal.origins) > _SHOWN:
        yield f"and {len(removal.origins) - _SHOWN:,} more"
    rows = ", ".join(f"{number:,} {table}" for table, number in removal.rows.items())
    yield (
        f"{count(len(removal.origins), 'log')} in {count(removal.batches, 'batch', 'batches')}: "
        f"{rows or 'no rows'}"
    )


def forgotten_json(removal: ForgottenLogs, *, done: bool) -> dict[str, Any]:
    """Logs that were, or are to be, removed, as JSON values."""
    return {
        "removed": done,
        "origins": list(removal.origins),
        "rows": dict(removal.rows),
        "batches": removal.batches,
    }


def _earlier_text(contents: StoreContents) -> str:
    if not is_earlier(contents):
        return ""
    return f"; the next collect brings it to {FORMAT} and keeps a copy"


def _commit_text(contents: StoreContents) -> str:
    if contents.last_sequence <= contents.batches:
        return ""
    return f"; {contents.last_sequence:,} were committed in all"


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = (f"{text:<{width}}" for text, width in zip(row, widths, strict=True))
        yield "  ".join(padded).rstrip()
