"""Parts of a manifest."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_graft.injector.manifest import owner, projects
from tests.injector.conftest import Project


def test_projects_are_the_root_and_the_packages_with_nodes(empty_project: Project) -> None:
    assert projects(empty_project.manifest) == {"shop"}
    empty_project.model("orders", package_name="finance_package")
    empty_project.source("raw", "orders", package_name="raw_package")
    found = projects(empty_project.manifest)
    assert found == {"shop", "finance_package", "raw_package"}


@pytest.mark.parametrize(
    ("contact", "name"),
    [
        ({"name": "Finance", "email": "fin@shop.example"}, "Finance"),
        ({"name": None, "email": "fin@shop.example"}, "fin@shop.example"),
        ({"email": ["ana@shop.example", "bo@shop.example"]}, "ana@shop.example, bo@shop.example"),
        ({"email": []}, ""),
    ],
)
def test_an_owner_is_that_of_the_group(contact: dict[str, Any], name: str) -> None:
    node = {"package_name": "shop", "group": "finance"}
    assert owner(node, {"groups": {"group.shop.finance": {"owner": contact}}}) == name
