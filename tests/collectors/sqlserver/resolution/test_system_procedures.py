"""Names of procedures: SQL Server's own, and those of users who begin theirs with `sp_`."""

from __future__ import annotations

from dbt_graft.collectors.sqlserver.resolution.system_procedures import is_system_procedure
from tests.cases import for_each


@for_each(
    "name, expected",
    [
        ("sp_executesql", True),
        ("sp_Rename", True),
        ("sp_MSforeachdb", True),
        ("sp_OAGetErrorInfo", True),
        ("sp_cdc_enable_table", True),
        ("sp_columns_100", True),
        ("sp_tables_info_90_rowset2", True),
        ("xp_cmdshell", True),
        ("sp_load_orders", False),
        ("sp_generate_merge", False),
        ("sp_help_customers", False),
        ("sp_rename_staging", False),
        ("usp_rename", False),
        ("rename", False),
        ("sp_", False),
    ],
)
def test_a_procedure_is_the_servers_own_by_its_name(name: str, expected: bool) -> None:
    assert is_system_procedure(name) is expected
