"""Strings from logs and dbt projects are text in the docs page and never run."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from playwright.sync_api import Browser, Route

from dbt_graft.injector import docs
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.injector.graft import GraftOptions, graft
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    Dataset,
    Direction,
    Outcome,
    Records,
    Run,
    Shape,
    Status,
    TaskInfo,
)
from dbt_graft.lineage.settings import LineageSettings
from tests.site.conftest import visiting

pytestmark = [pytest.mark.browser, pytest.mark.demo]

TOUR = Path(__file__).with_name("tour.js").read_text("utf-8")
# Records every element, once shown, that would run a payload on an event or a click.
WATCH = r"""
window.armed = [];
const check = (element) => {
  for (const { name, value } of element.attributes ?? []) {
    const runs = /^on\w/.test(name) && /alert/.test(value);
    const leads = /href|src/.test(name) && /^\s*(javascript|vbscript|data:text)/i.test(value);
    if (runs || leads) armed.push(`${element.tagName} ${name}=${value}`);
  }
};
new MutationObserver((changes) => {
  for (const { addedNodes, target, type } of changes) {
    if (type === "attributes") check(target);
    for (const added of addedNodes) {
      check(added);
      added.querySelectorAll?.("*").forEach(check);
    }
  }
}).observe(document, { attributes: true, childList: true, subtree: true });
"""
PAYLOADS = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</title></style><img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "\"><img src=x onerror='alert(1)'>",
    "' autofocus onfocus=alert(1) x='",
    "<!--<script>",
    "]]> --> */ alert(1) /*",
    "\u2028alert(1)\u2029",
    "[x](javascript:alert(1)) [y](JaVaScRiPt&colon;alert(1)) [z](&#106;avascript:alert(1))",
    '[x](x"onmouseover="alert(1)) [y](data:text/html,<script>alert(1)</script>) [z](vbscript:x)',
    "<javascript:alert(1)> <a href=javascript:alert(1)>x</a> javascript:alert(1)",
    "{{constructor.constructor('alert(1)')()}}",
    "{{$on.constructor('alert(1)')()}} {{7*191}}",
    "&lt;img src=x onerror=alert(1)&gt; &#60;script&#62;alert(1)&#60;/script&#62;",
    "`</code><img src=x onerror=alert(1)>`",
    "javascript:alert(1)",
    "__proto__",
]


def _records() -> tuple[Records, dict[str, TaskInfo]]:
    accesses, runs, datasets, shapes, infos = [], [], [], {}, {}
    for n, text in enumerate(PAYLOADS):
        task, shape = f"{text} {n}", f"{n:04}"
        runs.append(Run(f"{n}-{text}", task, text, status=Status.FAILED, error=text))
        shapes[shape] = Shape(shape, "spark", f"insert {text}", "sqlglot", Outcome.PARTIAL, text)
        infos[task] = TaskInfo(text, text, text, text, text, text, (text,))
        read = DatasetId("spark", f"raw.in {n} {text}")
        written = DatasetId("spark", f"raw.out {n} {text}")
        for dataset, direction in ((read, Direction.READ), (written, Direction.WRITE)):
            accesses.append(
                Access(
                    task, f"{n}-{text}", dataset, Kind.TABLE, direction, Operation.INSERT, shape,
                    status=Status.FAILED, procedure=text,
                )
            )  # fmt: skip
            datasets.append(Dataset(dataset, columns=(Column(text, text),)))
        reader = f"reads {text}"
        runs.append(Run(f"{n}-reads", reader, text, status=Status.OK))
        infos[reader] = infos[task]
        accesses.append(
            Access(reader, f"{n}-reads", read, Kind.TABLE, Direction.READ, Operation.SELECT, shape)
        )
    return Records(tuple(accesses), tuple(runs), shapes, tuple(datasets)), infos


def _artifacts(root: Path) -> Artifacts:
    """dbt's artifacts of the demo with every payload in one of its models."""
    target = root / "build" / "demo" / "target"
    manifest = orjson.loads((target / "manifest.json").read_bytes())
    catalog = orjson.loads((target / "catalog.json").read_bytes())
    text = "\n\n".join(PAYLOADS)
    model = manifest["nodes"]["model.shop.orders"]
    model["description"] = text
    model["tags"] += PAYLOADS
    model["meta"] = dict.fromkeys(PAYLOADS, text)
    model["raw_code"] = model["compiled_code"] = text
    model["docs"]["node_color"] = PAYLOADS[4]
    for column in model["columns"].values():
        column |= {"description": text, "meta": {PAYLOADS[0]: text}}
    exposure = manifest["exposures"]["exposure.shop.revenue_dashboard"]
    exposure |= {"url": "javascript:alert(1)", "label": PAYLOADS[12], "description": text}
    entry = catalog["nodes"]["model.shop.orders"]
    entry["metadata"] |= {"owner": PAYLOADS[2], "type": PAYLOADS[12]}
    entry["stats"]["mine"] = {
        "id": "mine", "label": text, "value": text, "include": True, "description": text,
    }  # fmt: skip
    return Artifacts(manifest, catalog, "spark", "1.11.16")


def test_no_payload_runs_in_the_docs_page(browser: Browser, server: str, root: Path) -> None:
    records, infos = _records()
    grafted = graft(
        _artifacts(root), build(records, settings=LineageSettings(infos)), GraftOptions("spark")
    )
    content = docs.page(grafted, docs.DocsPageSettings(" ".join(PAYLOADS)))

    def respond(route: Route) -> None:
        route.fulfill(body=content, content_type="text/html; charset=utf-8")

    with visiting(browser, server) as visit:
        page = visit.page
        page.route("**/dbt/hostile.html", respond)
        page.add_init_script(WATCH)
        visit.open("dbt/hostile.html#!/overview")
        seen: dict[str, str] = page.evaluate(TOUR)
        assert page.evaluate("() => armed") == []
        assert page.title().split() == " ".join(PAYLOADS).split()
    for text in PAYLOADS[:5]:
        assert any(text in shown for shown in seen.values()), text
