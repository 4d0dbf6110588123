"""Contracts of the Data Contract Specification are read like those of the standard."""

from __future__ import annotations

from pathlib import Path

from dbt_graft.analysis.checks.contracts import DataContract, WrittenPromise
from dbt_graft.collectors.contracts.odcs import read_contract

CONTRACT = """\
dataContractSpecification: 1.2.0
id: visits-1
info: {title: Visits, version: 2.1.0, status: active, owner: Web team, description: Each visit.}
servers:
  staging: {type: postgres, host: db2, database: web, schema: public}
  production: {type: s3, location: "s3://lake/v2/{model}/*.json", format: json}
models:
  visits:
    type: table
    fields:
      visit_id: {$ref: "#/definitions/visit_id", required: true, unique: true}
      mail: {type: text, pii: true, classification: restricted, minLength: 3}
      page: {type: object, fields: {url: {type: text, classification: internal}}}
    quality: [{type: sql, query: select 1}]
definitions:
  visit_id: {type: text, format: uuid, classification: confidential}
servicelevels:
  freshness: {threshold: 25h, timestampField: visits.visit_id}
  retention: {period: P1Y}
  frequency: {type: batch, interval: daily}
"""


def read(folder: Path) -> DataContract:
    file = folder / "visits.yaml"
    file.write_text(CONTRACT)
    contract = read_contract(file)
    assert contract
    return contract


def test_the_contract_and_its_columns(tmp_path: Path) -> None:
    contract = read(tmp_path)
    assert (contract.name, contract.version, contract.owner, contract.status) == (
        *("Visits", "2.1.0", "Web team", "active"),
    )
    [table] = contract.tables
    labels = {column.name: column.labels for column in table.columns}
    assert labels == {
        "visit_id": ("confidential",),
        "mail": ("restricted", "pii"),
        "page": (),
        "page.url": ("internal",),
    }
    [first, *_] = table.columns
    assert (first.promise.type, first.promise.required) == ("text", True)


def test_its_servers_and_service_levels(tmp_path: Path) -> None:
    [table] = read(tmp_path).tables
    assert [(server.type, server.host, server.location) for server in table.servers] == [
        ("s3", "", "s3://lake/v2/visits/*.json"),
        ("postgres", "db2", ""),
    ]
    assert table.servers[1].names == ("web.public.visits", "public.visits", "visits")
    assert table.freshness_slo == "25h"
    assert set(table.promises) == {
        WrittenPromise("bounds", "2"),
        WrittenPromise("quality rules", "1"),
        WrittenPromise("retention", "P1Y"),
        WrittenPromise("frequency", "1d"),
    }
