"""A dbt project in two versions, of which each change is at a node of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from tests.dbt_process import run_dbt

DBT = Path(sys.executable).with_name("dbt")
PROJECT = "name: shop\nprofile: shop\nversion: '1.0'\nvars: {limit: VAR}\n"
PROFILES = (
    "shop: {target: dev, outputs: {dev: {type: duckdb, path: shop.duckdb, schema: SCHEMA}}}\n"
)
# Model -> its configuration in both versions, and the worst verdict.
SETTINGS = {
    "hooked": ("materialized='table'", "materialized='table', post_hook='select 1'", "ROWS"),
    "headed": ("", "sql_header='set threads = 2;'", "ROWS"),
    "stored": ("materialized='view'", "materialized='table'", "COST"),
    "merged": (
        "materialized='incremental', unique_key='id', incremental_strategy='append'",
        "materialized='incremental', unique_key='id', incremental_strategy='delete+insert'",
        "ROWS",
    ),
    "keyed": (
        "materialized='incremental', unique_key='id'",
        "materialized='incremental', unique_key='note'",
        "ROWS",
    ),
    "bounded": (
        "materialized='incremental'",
        "materialized='incremental', incremental_predicates=['id > 1']",
        "ROWS",
    ),
    "batched": (
        "materialized='incremental', incremental_strategy='microbatch', event_time='at', "
        "batch_size='day', begin='2026-01-01', lookback=1",
        "materialized='incremental', incremental_strategy='microbatch', event_time='at', "
        "batch_size='day', begin='2026-02-01', lookback=3",
        "ROWS",
    ),
    "evolving": (
        "materialized='incremental', on_schema_change='ignore'",
        "materialized='incremental', on_schema_change='append_new_columns'",
        "VALUES",
    ),
    "refreshed": (
        "materialized='incremental'",
        "materialized='incremental', full_refresh=false",
        "ROWS",
    ),
    "granted": ("", "grants={'select': ['ada']}", "ACCESS"),
    "opened": ("access='protected'", "access='public'", "ACCESS"),
    "grouped": ("", "group='finance'", "ACCESS"),
    "indexed": (
        "materialized='table'",
        "materialized='table', indexes=[{'columns': ['id']}]",
        "COST",
    ),
    "labelled": ("", "meta={'owner': 'Ada'}", "METADATA"),
    "own": ("", "own_setting='a'", "METADATA"),
    "watched": ("", "watched_setting='a'", "UNKNOWN"),
    "renamed": ("", "alias='other_name'", "BREAKING"),
}
BODY = "select 1 as id, 'a' as note, timestamp '2026-01-01' as at"
YAML = """\
groups: [{name: finance, owner: {email: a@b.c}}]
sources:
  - name: raw
    tables:
      - name: orders
        config:
          loaded_at_field: LOADED
          freshness: {warn_after: {count: FRESH, period: hour}}
models:
  - name: tested
    columns:
      - name: id
        data_tests:
          - unique: {config: {severity: SEVERITY}}
          - not_null: {config: {where: "id > LIMIT"}}
          - accepted_values: {arguments: {values: [VALUES]}}
  - name: contracted
    config: {contract: {enforced: ENFORCED}}
    columns:
      - {name: id, data_type: integer}
      - {name: note, data_type: varchar}
      - {name: at, data_type: timestamp}
  - name: versioned
    latest_version: LATEST
    versions: [{v: 1}, {v: 2}]
unit_tests:
  - name: adds
    model: summed
    given: [{input: ref('tested'), rows: [{id: LIMIT}]}]
    expect: {rows: [{id: LIMIT}]}
exposures:
  - {name: board, type: dashboard, owner: {name: OWNER}, depends_on: [ref('tested')]}
snapshots:
  - name: kept
    relation: ref('tested')
    config: {unique_key: KEY, strategy: check, check_cols: [CHECKED]}
seeds:
  - name: countries
    config: {delimiter: SEPARATOR, column_types: {id: TYPE}}
"""
WORDS = {
    "VAR": ("1", "2"),
    "LOADED": ("at", "loaded_at"),
    "FRESH": ("6", "12"),
    "SEVERITY": ("error", "warn"),
    "LIMIT": ("1", "2"),
    "VALUES": ("1, 2", "1, 3"),
    "ENFORCED": ("false", "true"),
    "LATEST": ("1", "2"),
    "OWNER": ("Ada", "Bob"),
    "KEY": ("id", "note"),
    "CHECKED": ("note", "at"),
    "SEPARATOR": ("','", "';'"),
    "TYPE": ("integer", "bigint"),
    "BODY": ("1", "2"),
    "MACRO": ("+ 1", "+ 2"),
}
FILES = {
    "models/schema.yml": YAML,
    "models/tested.sql": BODY,
    "models/contracted.sql": BODY,
    "models/versioned_v1.sql": BODY,
    "models/versioned_v2.sql": BODY,
    "models/summed.sql": "select sum(id) as id from {{ ref('tested') }}",
    "models/filtered.sql": "select id from {{ ref('tested') }} where id > BODY",
    "models/added.sql": "select {{ more('id') }} as id from {{ ref('tested') }}",
    "models/variable.sql": "select id from {{ ref('tested') }} where id > {{ var('limit') }}",
    "models/read.sql": "select id, amount from {{ source('raw', 'orders') }}",
    "macros/more.sql": "{% macro more(name) %}{{ name }} MACRO{% endmacro %}",
    "macros/watch.sql": "{% macro watch() %}{{ config.get('watched_setting') }}{% endmacro %}",
    "tests/none_is_late.sql": "select id from {{ ref('tested') }} where id > BODY",
    "analyses/look.sql": "select id from {{ ref('tested') }} where id > BODY",
    "seeds/countries.csv": "id,name\n1,a\n",
    "seeds/cities.csv": "id,name\nBODY,a\n",
}


def write_project(
    folder: Path, version: int, schema: str = "main", without: Collection[str] = ()
) -> None:
    """Write the project: version 0 is the base, version 1 has all changes.

    Args:
        without: Models that are left out.
    """
    files = {"dbt_project.yml": PROJECT, "profiles.yml": PROFILES, **FILES}
    for name in SETTINGS.keys() - set(without):
        settings = SETTINGS[name]
        config = f"{{{{ config({settings[version]}) }}}}\n" if settings[version] else ""
        files[f"models/{name}.sql"] = config + BODY
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        for word, values in (WORDS | {"SCHEMA": (schema, schema)}).items():
            text = text.replace(word, values[version])
        (folder / name).write_text(text)


def dbt(program: Path, folder: Path, *arguments: str) -> list[str]:
    """Run dbt in the project; the lines that it prints, of dbt 1 those of `ls`."""
    if program == DBT:
        return run_dbt(folder, *arguments)
    command = [str(program), *arguments, "--profiles-dir", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def listed(program: Path, folder: Path, selector: str, state: Path) -> set[str]:
    """The unique ids that dbt lists for a selector, without tests that only go with their node."""
    form = (
        "--indirect-selection",
        "empty",
        "--output",
        "json",
        "--output-keys",
        "unique_id",
        "--target-path",
        "listed",
    )
    lines = dbt(program, folder, "ls", "--select", selector, "--state", str(state), *form)
    nodes = [json.loads(line) for line in lines if line.startswith("{")]
    return {str(node["unique_id"]) for node in nodes if "unique_id" in node}
