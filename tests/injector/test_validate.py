"""A validation finds what a graft did wrong and ignores what was wrong before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dbt_graft.injector import validate
from dbt_graft.injector.report import Grafted

RAW_ORDERS = "model.python_tasks.raw_orders"
Json = dict[str, Any]


def _faults(project: Any, grafted: Grafted) -> list[str]:
    return validate.faults(project.artifacts(), grafted)


def test_a_graft_is_sound(project: Any, grafted: Grafted) -> None:
    assert _faults(project, grafted) == []


def _without_config(manifest: Json) -> None:
    del manifest["nodes"][RAW_ORDERS]["config"]


def _own_key(manifest: Json) -> None:
    manifest["nodes"][RAW_ORDERS]["graft"] = {}


def _not_loaded(manifest: Json) -> None:
    del manifest["nodes"][RAW_ORDERS]["checksum"]


@pytest.mark.parametrize(
    ("spoil", "reported"),
    [
        (_without_config, "`config` is missing: all sidebar trees are empty"),
        (_own_key, f"{RAW_ORDERS} does not match the JSON schema of the manifest"),
        (_not_loaded, "dbt does not load"),
    ],
)
def test_a_defect_that_the_graft_makes_is_reported(
    project: Any, grafted: Grafted, spoil: Callable[[Json], None], reported: str
) -> None:
    spoil(grafted.manifest)

    assert reported in "\n".join(_faults(project, grafted))


def test_what_was_wrong_before_is_not_ours(
    project: Any, log: Any, run: Callable[..., Grafted]
) -> None:
    stg = project.manifest["nodes"]["model.shop.stg_orders"]
    stg |= {"unknown_key": 1, "fqn": None, "tags": [7]}

    assert _faults(project, run(project, log)) == []
