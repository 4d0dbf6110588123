"""The command `graft store info`: its contents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from dbt_graft.analysis.render.json import iso
from dbt_graft.analysis.render.phrases import ago, count
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.collectors.store.contents import StoreContents, is_earlier, store_contents
from dbt_graft.collectors.store.tables import FORMAT
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.commands.json_option import json_option, print_json
from dbt_graft.graft.commands.store_origins import OTHERS, group_by_source

_UNITS = ("bytes", "KB", "MB", "GB", "TB")

Logs = Mapping[str, Sequence[str]]


@click.command(
    epilog="\b\nExit codes: 0 shown; 1 the store is damaged or cannot be read; 2 invalid command "
    "line or graft.yml.\n\n"
    "\b\nExamples:\n"
    "  graft store info\n"
    "  graft store info --json | jq '.data.tables'"
)
@config_option
@json_option
def info(config_path: Path | None, *, as_json: bool) -> None:
    """Show the contents of the store: batches, files, rows, logs. Nothing is written."""
    config = load_config(config_path)
    contents = store_contents(config.path(config.store))
    logs = group_by_source(config, [log.origin for log in contents.logs])
    if as_json:
        print_json(_contents_json(contents, logs))
    else:
        for line in _contents_lines(contents, logs):
            click.echo(line)


def size(number: int) -> str:
    """A number of bytes: `812 bytes`, `4.2 MB`."""
    shown, unit = float(number), 0
    while shown >= 1000 and unit < len(_UNITS) - 1:
        shown, unit = shown / 1000, unit + 1
    return f"{shown:,.1f} {_UNITS[unit]}" if unit else f"{number:,} bytes"


def _contents_lines(contents: StoreContents, logs: Logs) -> Iterator[str]:
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


def _contents_json(contents: StoreContents, logs: Logs) -> dict[str, Any]:
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
