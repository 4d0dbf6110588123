"""The folders at the top of the tree as one package: `collectors/` is `dbt_graft.collectors`."""

import warnings

from setuptools import find_namespace_packages, find_packages, setup

ROOMS = ("lineage", "collectors", "injector", "catalog", "exporters", "graft")
# The designer's folder travels along as data, beside the code that renders it.
DESIGN = ["site", *(f"site.{folder}" for folder in find_namespace_packages("site"))]

# Setuptools warns of a folder with the package's name beside it: that folder is the package.
warnings.filterwarnings("ignore", "Editable installation")

packages = find_packages(include=[pattern for room in ROOMS for pattern in (room, f"{room}.*")])
setup(
    packages=["dbt_graft", *(f"dbt_graft.{package}" for package in [*packages, *DESIGN])],
    package_dir={
        "dbt_graft": "dbt_graft",
        **{f"dbt_graft.{folder}": folder for folder in (*ROOMS, "site")},
    },
    package_data={
        "dbt_graft": ["py.typed"],
        "dbt_graft.injector": ["*.css", "*.js"],
        **{f"dbt_graft.{folder}": ["*"] for folder in DESIGN},
    },
)
