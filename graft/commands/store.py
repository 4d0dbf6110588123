"""The command `graft store`: look after the lineage store."""

from __future__ import annotations

import click

from dbt_graft.graft.commands.lazy import LazyGroup

# Purpose -> command -> the module that has it, and its line in `graft store --help`.
STORE = {
    "Look": {
        "info": ("store_info", "Show the contents of the store: batches, files, rows, logs."),
    },
    "Make smaller": {
        "compact": ("store_compact", "Merge small batches into few."),
        "purge": ("store_purge", "Fold runs for good that are older than `keep` says."),
    },
    "Take out": {
        "clean": ("store_clean", "Take out passwords and keys that earlier versions stored."),
        "forget": ("store_forget", "Remove everything that came from SOURCE."),
    },
    "Copy": {
        "backup": ("store_backup", "Copy the store to PATH."),
    },
}


@click.group(
    cls=LazyGroup,
    lazy=STORE,
    epilog="\b\nExample: graft store info && graft store backup /backup/store",
)
def store() -> None:
    """Look after the lineage store: info, clean, compact, purge, forget, backup."""
