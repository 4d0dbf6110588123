"""Links in texts, by what they lead to."""

from __future__ import annotations

from datetime import UTC, datetime

from dbt_graft.analysis.checks.links import LinkState, checked_links, link_lines
from dbt_graft.lineage.addresses import Address
from tests.cases import for_each

SITE = "https://data.example.com/lineage/"
AT = datetime(2026, 11, 20, tzinfo=UTC)
ADDRESSES = (
    Address("", "Data lineage"),
    Address("datasets/spark/raw/orders/", "raw.orders"),
    Address("datasets/spark/raw/stage/", "raw.stage", AT, True, AT, "datasets/spark/raw/orders/"),
    Address("tasks/old_load/", "old_load", AT, True, AT),
    Address("tasks/load-1a2b3c4d/", "Load"),
)


@for_each(
    "text, state",
    [
        (f"{SITE}", LinkState.OK),
        (SITE.rstrip("/"), LinkState.OK),
        (f"{SITE}index.html", LinkState.OK),
        (f"{SITE}datasets/spark/raw/orders/", LinkState.OK),
        (f"{SITE}datasets/spark/raw/orders", LinkState.OK),
        (f"{SITE}datasets/spark/raw/orders/index.html#column-amount", LinkState.OK),
        (f"{SITE}datasets/spark/raw/orders/?a=1#runs", LinkState.OK),
        ("http://DATA.example.com/lineage/tasks/load%2D1a2b3c4d/", LinkState.OK),
        (f"see [orders]({SITE}datasets/spark/raw/orders/).", LinkState.OK),
        (f'<a href="{SITE}datasets/spark/raw/orders/index.html">', LinkState.OK),
        (f"({SITE}datasets/spark/raw/orders/)", LinkState.OK),
        (f"*{SITE}datasets/spark/raw/orders/*, and", LinkState.OK),
        (f"“{SITE}datasets/spark/raw/orders/”", LinkState.OK),
        (f"{SITE}tasks/load-1a2b3c4d/[the load]", LinkState.OK),
        (f"[[{SITE}tasks/load-1a2b3c4d/][the load]]", LinkState.OK),
        (f"&lt;a href=&quot;{SITE}tasks/load-1a2b3c4d/&quot;&gt;", LinkState.OK),
        (f"&#39;{SITE}tasks/load-1a2b3c4d/&#39;", LinkState.OK),
        (f"{SITE}tasks/load-1a2b3c4d/?a=1&amp;b=2", LinkState.OK),
        (f"{SITE}tasks/load-1a2b3c4d/…", LinkState.OK),
        (f"{SITE}tasks/load-1a2b3c4d/—see there", LinkState.OK),
        (f"「{SITE}tasks/load-1a2b3c4d/」。", LinkState.OK),
        (f"（{SITE}tasks/load-1a2b3c4d/），", LinkState.OK),
        # As the URL of Node.js, which is that of browsers, has them.
        (f"{SITE}./datasets/spark/./raw/orders/", LinkState.OK),
        (f"{SITE}datasets/spark/raw/stage/../orders/index.html", LinkState.OK),
        (f"{SITE}datasets/spark/%2e/raw/stage/.%2E/orders/", LinkState.OK),
        (f"{SITE}datasets/spark/raw/orders/x/..#runs", LinkState.OK),
        ("https://data.example.com/../wiki/../lineage/tasks/never/", LinkState.MISSING),
        (f"{SITE}../wiki/tasks/", None),
        (f"{SITE}tasks/load-1a2b3c4d/.../", LinkState.MISSING),
        # To many servers another address, to some the same.
        (f"{SITE}datasets//spark/raw/orders/", LinkState.MISSING),
        (f"{SITE}/datasets/spark/raw/orders/", LinkState.MISSING),
        (f"{SITE}tasks/загрузка/", LinkState.MISSING),
        ("https://[::1]/lineage/tasks/never/", None),
        (rf"{SITE}tasks/old\_load/", LinkState.GONE),
        (f"{SITE}tasks/old_load/".replace("/", r"\/"), LinkState.GONE),
        (rf'"{SITE}tasks/old_load/\nnext"', LinkState.GONE),
        (f"{SITE}tasks/{{{{ task }}}}/", LinkState.OTHER),
        (f"{SITE}tasks/${{TASK}}/index.html", LinkState.OTHER),
        (f"{SITE}tasks/$TASK/", LinkState.OTHER),
        (f"{SITE}tasks/%s/", LinkState.OTHER),
        (f"{SITE}datasets/spark/raw/stage/", LinkState.MOVED),
        (f"{SITE}tasks/old_load/index.html", LinkState.GONE),
        (f"{SITE}tasks/never/", LinkState.MISSING),
        (f"{SITE}datasets/spark/raw/", LinkState.MISSING),
        (f"{SITE}datasets/spark/raw/orders_v1.3", LinkState.MISSING),
        (f"{SITE}datasets/file/landing/orders.csv/index.html", LinkState.MISSING),
        (f"{SITE}datasets/spark/raw/gone/index.json", LinkState.OTHER),
        ("https://data.example.com:443/lineage/tasks/never/", LinkState.MISSING),
        ("https://ana:password@data.example.com/lineage/tasks/never/", None),
        ("https://data.example.com:8443/lineage/tasks/never/", None),
        ("https://data.example.com:x/lineage/tasks/never/", None),
        (f"{SITE}dbt/index.html#!/model/model.shop.orders", LinkState.OTHER),
        (f"{SITE}task_metadata.json", LinkState.OTHER),
        ("https://data.example.com/lineages/", None),
        ("https://example.com/lineage/", None),
        ("https://[bad/lineage/", None),
        ("no link", None),
    ],
)
def test_a_link_has_a_state(text: str, state: LinkState | None) -> None:
    states = [link.state for link in checked_links(link_lines(text, "f"), [SITE], ADDRESSES)]
    assert states == ([] if state is None else [state])
