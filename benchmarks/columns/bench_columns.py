"""Columns of queries: accuracy and speed beside the peers, and whole projects, in one run.

The cases are those of our tests, 13 dialects of them. Models are those of the docs page's
benchmark, and of 200 lines with 12 CTEs, 3,000 each with 15 columns. Bars for a whole project: 12 s
at first, 2 s when nothing has changed. sqlglot.lineage runs on our sqlglot, the other peers in an
environment of their own from PyPI. Writes sections of `benchmarks/results.md`.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from dbt_graft.lineage.frozen import frozen

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE), str(HERE.parent / "docs")]

from project import artifacts  # noqa: E402
from real_models import real_model  # noqa: E402

from benchmarks.report import Report  # noqa: E402
from dbt_graft.collectors.dbt.column_cache import ColumnCache  # noqa: E402
from dbt_graft.collectors.dbt.columns import dbt_columns  # noqa: E402
from dbt_graft.collectors.statements.columns.query_columns import query_columns  # noqa: E402
from dbt_graft.injector.relations import relations  # noqa: E402
from tests.collectors.statements.columns import query_cases  # noqa: E402

ENVIRONMENT = ROOT / "build/bench/columns/venv"
CASES = ROOT / "tests/collectors/statements/columns"
MODELS, FIRST, AGAIN = 3_000, 12.0, 2.0
# Peers take their time: each gets so many of the models, and stops after 10 seconds.
ASKED = 400
# The dialect of the cases that are alike in all.
COMMON = "postgres"
Inputs = dict[str, set[str]]
Model = tuple[str, str, dict[str, list[str]]]


@frozen
class ColumnCase:
    """A query with what goes into each column of its result, and what else decides on it."""

    dialect: str
    sql: str
    line: str
    direct: Inputs
    deciding: Inputs


def cases() -> list[ColumnCase]:
    """The cases of our tests whose columns are all known."""
    found = []
    for file in sorted(CASES.glob("test_query_*.py")):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        dialect = file.stem.removeprefix("test_query_")
        for line in getattr(module, "CASES", ()):
            columns, _, gaps = query_cases.expected(line)
            names = [name for name, _ in columns]
            if gaps or not all(names) or any("*" in name for name in names):
                continue
            direct, deciding = _inputs(columns)
            found.append(
                ColumnCase(
                    COMMON if dialect == "common" else dialect,
                    line.split(" | ")[0],
                    line,
                    direct,
                    deciding,
                )
            )
    return found


def _inputs(columns: Iterable[tuple[str, set[str]]]) -> tuple[Inputs, Inputs]:
    """The inputs of each column, and what decides on it: `filter:t.a`."""
    direct: Inputs = defaultdict(set)
    deciding: Inputs = defaultdict(set)
    for name, inputs in columns:
        direct[name] |= {one.lstrip("~+!") for one in inputs if ":" not in one}
        deciding[name] |= {one.partition(":")[2] for one in inputs if ":" in one}
    return direct, deciding


def ours(case: ColumnCase) -> Inputs:
    """Our answer to a case."""
    return _inputs(query_cases.found(case.line, case.dialect)[0])[0]


def right_columns(case: ColumnCase, answer: Any) -> int:
    """The columns with all that goes into them, and nothing that has no part in them."""
    if answer is None:
        return 0
    given = {
        _written(name): {_written(one).strip('"`[]') for one in inputs}
        for name, inputs in answer.items()
    }
    return sum(
        direct <= given.get(name, set()) <= direct | case.deciding.get(name, set())
        and (name in given or not direct)
        for name, direct in case.direct.items()
    )


def _written(name: str) -> str:
    return name.casefold().replace(" ", "_").replace('"', "").replace("`", "")


def peers(names: list[str], python: Path, work: dict[str, Any]) -> dict[str, Any]:
    """The answers of peers, from the environment that has them."""
    done = subprocess.run(
        [str(python), HERE / "peers.py"],
        input=json.dumps({**work, "peers": names}),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def environment() -> Path:
    """The Python of the peers' environment, which is made if need be."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
        quiet = ["--quiet", "--disable-pip-version-check"]
        install = [str(python), "-m", "pip", "install", *quiet, "-r", HERE / "requirements.txt"]
        subprocess.run(install, check=True)
    return python


def projects() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The title, manifest and catalog of each project."""
    manifest, catalog = artifacts(MODELS)
    yield "short models", manifest, catalog
    nodes = dict(manifest["nodes"])
    for number, (key, node) in enumerate(manifest["nodes"].items()):
        if node["resource_type"] == "model":
            read = [_relation(parent) for parent in node["depends_on"]["nodes"]]
            nodes[key] = {**node, "compiled_code": real_model(number, read[0], read[-1])}
    yield "models of 200 lines", {**manifest, "nodes": nodes}, catalog


def _relation(unique_id: str) -> str:
    schema = "raw" if unique_id.startswith("source.") else "analytics"
    return f"{schema}.{unique_id.rpartition('.')[2]}"


def queries(manifest: dict[str, Any]) -> list[Model]:
    """Models of all layers as a dialect, a query, and the columns of what it reads."""
    models = [node for node in manifest["nodes"].values() if node["resource_type"] == "model"]
    columns = [f"column_{n:02}" for n in range(15)]
    return [
        (
            "spark",
            node["compiled_code"],
            {_relation(parent): columns for parent in node["depends_on"]["nodes"]},
        )
        for node in models[:: len(models) // ASKED]
    ]


def rate(models: list[Model]) -> float:
    """Models a second of the processor that we follow one by one."""
    start = time.process_time()
    for dialect, sql, schema in models:
        query_columns(sql, dialect, lambda name, schema=schema: schema.get(".".join(name), ()))
    return len(models) / (time.process_time() - start)


def whole(manifest: dict[str, Any], catalog: dict[str, Any]) -> tuple[list[float], int]:
    """Seconds of a project's columns, and of the processors, at first and when nothing has changed;
    and the number of column edges."""
    datasets = relations(manifest, "spark").datasets
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "columns.json"

        def follow() -> int:
            cache = ColumnCache(file)
            columns = dbt_columns(manifest, catalog, datasets, cache)
            cache.write()
            assert not columns.gaps, next(iter(columns.gaps.values()))
            return sum(map(len, columns.edges.values()))

        first, edges = _timed(follow)
        again, same = _timed(follow)
        assert same == edges
    return [*first, *again], edges


def _timed(work: Callable[[], int]) -> tuple[tuple[float, float], int]:
    """Seconds, seconds of the processors with those of the workers, and the result."""
    gc.disable()  # as `graft inject` does
    start, busy = time.perf_counter(), sum(os.times()[:4])
    result = work()
    gc.enable()
    return (time.perf_counter() - start, sum(os.times()[:4]) - busy), result


def main() -> int:
    """Report the figures; return 1 where a bar is missed."""
    script = "benchmarks/columns/bench_columns.py"
    accuracy = Report("Columns of a query", script)
    speed = Report("Columns of dbt's models", script)
    built = list(projects())
    asked = {title: queries(manifest) for title, manifest, _ in built}
    missed = _report_projects(speed, built)
    found = cases()
    work = {
        "cases": [[case.dialect, case.sql, query_cases.SCHEMA] for case in found],
        "models": asked,
    }
    answers = {
        **peers(["sqlglot.lineage"], Path(sys.executable), work),
        **peers(["dbt-col-lineage", "sqllineage"], environment(), work),
    }
    _report_accuracy(accuracy, found, answers)
    _report_rates(speed, asked, answers)
    accuracy.write()
    speed.write()
    return int(missed)


def _report_projects(report: Report, built: list[tuple[str, Any, Any]]) -> bool:
    """Whether a bar was missed."""
    report.say(
        f"Two projects of {MODELS:,} models with 15 columns each: short ones, and of 200 lines "
        f"with 12 CTEs, no two alike. Seconds from the parsed artifacts to column edges, at first "
        f"(bar {FIRST:.0f}) and when nothing has changed (bar {AGAIN:.0f}); the processors' own "
        "time beside it, since other work on the machine shows in the first."
    )
    report.table("", "column edges", "s at first", "CPU s", "s again", "CPU s", "memory in MB")
    missed = False
    for title, manifest, catalog in built:
        took, edges = whole(manifest, catalog)
        missed = missed or took[0] > FIRST or took[2] > AGAIN
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        report.row(title, f"{edges:,}", *(f"{s:.1f}" for s in took), f"{peak:,.0f}")
    return missed


def _report_rates(report: Report, asked: dict[str, list[Model]], answers: dict[str, Any]) -> None:
    report.say()
    report.say("Models in a second of the processor, one after the other on one core:")
    report.table("", *asked)
    report.row("dbt-graft", *(f"{rate(models):,.1f}" for models in asked.values()))
    for name, peer in answers.items():
        report.row(f"{name} {peer['version']}", *(f"{peer['rates'][t]:,.1f}" for t in asked))


def _report_accuracy(report: Report, found: list[ColumnCase], answers: dict[str, Any]) -> None:
    columns = sum(len(case.direct) for case in found)
    dialects = sorted({case.dialect for case in found})
    report.say(
        f"{len(found):,} queries of our tests in {len(dialects)} dialects, with {columns:,} "
        "columns in their results. A column is right if all columns whose values go into it are "
        "named, and none that has no part in it; peers that do not tell values from conditions "
        "may name both. "
        "**The cases are our own tests, so our row shows only that these pass**; the finding is "
        "how the others differ."
    )
    report.table("", "columns right, %", "queries right, %", "queries without an answer")
    rows = {"dbt-graft": [dict(ours(case)) for case in found]}
    rows |= {f"{name} {peer['version']}": peer["answers"] for name, peer in answers.items()}
    for name, row in rows.items():
        right = [right_columns(case, one) for case, one in zip(found, row, strict=True)]
        complete = sum(n == len(case.direct) for n, case in zip(right, found, strict=True))
        silent = sum(one is None for one in row)
        shares = (100 * sum(right) / columns, 100 * complete / len(found))
        report.row(name, *(f"{share:.1f}" for share in shares), f"{silent:,}")


if __name__ == "__main__":
    sys.exit(main())
