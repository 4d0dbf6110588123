"""Procedures of table formats that take tables as arguments: `CALL system.snapshot('a', 'b')`.

Maintenance (rewrite_data_files, expire_snapshots…) leaves the data as it is and is not listed, as
OPTIMIZE and VACUUM are no access either. After Iceberg's reference, "Spark procedures".
"""

from __future__ import annotations

from collections.abc import Mapping

READ, WRITE, TEMPORARY = "read", "write", "temporary"

# The arguments that are tables, in the order in which they stand.
PROCEDURES: Mapping[str, Mapping[str, str]] = {
    "add_files": {"table": WRITE, "source_table": READ},
    "cherrypick_snapshot": {"table": WRITE},
    "create_changelog_view": {"table": READ, "changelog_view": TEMPORARY},
    "fast_forward": {"table": WRITE},
    "migrate": {"table": WRITE},
    "publish_changes": {"table": WRITE},
    "register_table": {"table": WRITE},
    "rollback_to_snapshot": {"table": WRITE},
    "rollback_to_timestamp": {"table": WRITE},
    "set_current_snapshot": {"table": WRITE},
    "snapshot": {"source_table": READ, "table": WRITE},
}

# The others look for their `table` in the catalog that they are called of: `CALL lake.system.…`.
OF_CURRENT_CATALOG = frozenset({"migrate", "snapshot"})
