"""Parts of a manifest."""

from __future__ import annotations

from dbt_graft.injector.manifest import projects
from tests.injector.conftest import Project


def test_projects_are_the_root_and_the_packages_with_nodes(empty_project: Project) -> None:
    assert projects(empty_project.manifest) == {"shop"}
    empty_project.model("orders", package_name="finance_package")
    empty_project.source("raw", "orders", package_name="raw_package")
    found = projects(empty_project.manifest)
    assert found == {"shop", "finance_package", "raw_package"}
