"""The namespace of dbt's relations, from its adapter and profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt_graft.injector.platform import Connection, platform, read_connection
from tests.cases import for_each


@for_each(
    "settings, namespace",
    [
        ({"type": "postgres", "host": "db", "port": 6432}, "postgres://db:6432"),
        ({"type": "postgres", "host": "db"}, "postgres://db:5432"),
        ({"type": "redshift", "host": "rs.example.com", "port": "5439"}, "redshift://rs.example.com:5439"),
        ({"type": "clickhouse", "host": "ch", "port": 8443}, "clickhouse://ch:8443"),
        ({"type": "trino", "host": "trino"}, "trino://trino:8080"),
        ({"type": "sqlserver", "server": "crm"}, "mssql://crm:1433"),
        ({"type": "sqlserver", "server": "tcp:crm,1444"}, "mssql://crm:1444"),
        ({"type": "fabric", "server": "x.fabric.microsoft.com"}, "fabric-warehouse://x.fabric.microsoft.com"),
        ({"type": "snowflake", "account": "org-shop"}, "snowflake://org-shop"),
        ({"type": "snowflake", "account": "xy12345"}, "snowflake://xy12345.us-west-1.aws"),
        ({"type": "snowflake", "account": "xy12345.eu-west-1"}, "snowflake://xy12345.eu-west-1.aws"),
        ({"type": "bigquery", "project": "shop"}, "bigquery"),
        ({"type": "databricks", "host": "adb-1.azuredatabricks.net"}, "databricks://adb-1.azuredatabricks.net"),
        ({"type": "dremio", "software_host": "dremio", "port": 9047}, "dremio://dremio:9047"),
        ({"type": "athena", "region_name": "eu-west-1"}, "awsathena://athena.eu-west-1.amazonaws.com"),
        ({"type": "glue", "region": "eu-west-1", "account_id": 123}, "arn:aws:glue:eu-west-1:123"),
        (
            {"type": "glue", "region": "eu-west-1", "role_arn": "arn:aws:iam::123:role/dbt"},
            "arn:aws:glue:eu-west-1:123",
        ),
        ({"type": "duckdb", "path": "shop.duckdb"}, "duckdb://shop.duckdb"),
        ({"type": "duckdb"}, "duckdb://:memory:"),
        ({"type": "duckdb", "path": "md:shop?motherduck_token=s3cret"}, "duckdb://md:shop"),
        ({"type": "spark", "method": "thrift", "host": "emr"}, "spark://emr:10001"),
        ({"type": "spark", "method": "http", "host": "https://user@emr/sql"}, "spark://emr:443"),
        ({"type": "spark", "method": "session", "host": "none"}, "spark"),
        ({"type": "oracle", "host": "ora"}, "oracle://ora:1521"),
        ({"type": "exotic", "host": "somewhere", "port": 7}, "exotic://somewhere:7"),
    ],
)  # fmt: skip
def test_the_namespace_is_that_of_openlineages_dbt_integration(
    settings: dict[str, Any], namespace: str
) -> None:
    assert platform(settings["type"], Connection(settings)).namespace == namespace


@for_each(
    "adapter, namespace",
    [("duckdb", "duckdb"), ("sqlserver", "mssql"), ("snowflake", "snowflake"), ("spark", "spark"),
     ("exotic", "exotic"), ("", "dbt")],
)  # fmt: skip
@pytest.mark.parametrize("settings", [{}, {"type": "postgres", "host": "elsewhere"}])
def test_without_a_profile_of_the_adapter_the_platform_alone_is_the_namespace(
    adapter: str, namespace: str, settings: dict[str, Any]
) -> None:
    assert platform(adapter, Connection(settings)).namespace == namespace


def test_the_users_own_namespace_wins() -> None:
    connection = Connection({"type": "postgres", "host": "db"})
    assert platform("postgres", connection, "warehouse").namespace == "warehouse"


def test_tables_of_sparks_logs_are_relations_of_adapters_on_spark() -> None:
    assert "spark" in platform("databricks").aliases
    assert "spark" not in platform("duckdb").aliases


@for_each(
    "settings, alias",
    [
        (
            {"type": "redshift", "host": "shop.abc123.eu-west-1.redshift.amazonaws.com"},
            "redshift://shop.eu-west-1:5439",
        ),
        (
            {"type": "redshift", "host": "shop.123.eu-west-1.redshift-serverless.amazonaws.com"},
            "redshift://shop.eu-west-1:5439",
        ),
        ({"type": "databricks", "host": "adb-1.net"}, "unitycatalog://adb-1.net"),
        ({"type": "databricks", "host": "adb-1.net"}, "unity-catalog"),
    ],
)
def test_other_producers_names_of_the_platform_are_its_own(
    settings: dict[str, Any], alias: str
) -> None:
    assert alias in platform(settings["type"], Connection(settings)).aliases


def _profile(folder: Path, **settings: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    outputs = {"dev": {"type": "postgres", **settings}, "prod": {"type": "postgres", "host": "p"}}
    (folder / "profiles.yml").write_text(
        yaml.safe_dump({"shop": {"target": "dev", "outputs": outputs}})
    )


@pytest.fixture
def dbt_project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    return tmp_path / "project"


def _host(project: Path, **environ: str) -> str:
    return read_connection(project, {"HOME": str(project.parent), **environ}).get("host")


def test_the_profile_is_found_where_dbt_finds_it(dbt_project: Path, tmp_path: Path) -> None:
    assert _host(dbt_project) == ""
    _profile(tmp_path / ".dbt", host="home")
    assert _host(dbt_project) == "home"
    _profile(dbt_project, host="project")
    assert _host(dbt_project) == "project"
    _profile(tmp_path / "elsewhere", host="chosen")
    assert _host(dbt_project, DBT_PROFILES_DIR=str(tmp_path / "elsewhere")) == "chosen"
    assert _host(dbt_project, DBT_TARGET="prod") == "p"
    assert _host(dbt_project, DBT_TARGET="none") == ""


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("{{ env_var('DB_HOST') }}", "db"),
        ("{{ env_var('NO_HOST', 'localhost') }}", "localhost"),
        ("{{ env_var('NO_HOST') }}", ""),
        ("{{ var('host') }}", ""),
        ("{{ env_var(", ""),
        # dbt hides what such a variable holds.
        ("{{ env_var('DBT_ENV_SECRET_HOST') }}", ""),
    ],
)
def test_settings_from_the_environment_are_filled_in(
    dbt_project: Path, written: str, host: str
) -> None:
    _profile(dbt_project, host=written)
    assert _host(dbt_project, DB_HOST="db", DBT_ENV_SECRET_HOST="hidden") == host


@pytest.mark.parametrize("text", ["", "[]", "shop: 3", "shop: {outputs: {dev: 1}}", "{", "\x00"])
def test_a_profile_that_dbt_would_refuse_is_none(dbt_project: Path, text: str) -> None:
    (dbt_project / "profiles.yml").write_text(text)
    assert _host(dbt_project) == ""
