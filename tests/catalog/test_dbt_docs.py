"""The addresses of nodes in the docs pages of both generations of dbt."""

from __future__ import annotations

import pytest

from dbt_graft.catalog.dbt_docs import DbtDocs
from tests.cases import for_each

ONE, TWO = DbtDocs.DBT_1, DbtDocs.DBT_2


@pytest.mark.parametrize(
    ("page", "node_id", "address"),
    [
        (ONE, "model.shop.orders", "#!/model/model.shop.orders"),
        (TWO, "model.shop.orders", "#/details/model.shop.orders/"),
        (TWO, "source.shop.raw.what is/it?", "#/details/source.shop.raw.what%20is%2Fit%3F/"),
    ],
)
def test_a_node_has_the_address_of_its_page(page: DbtDocs, node_id: str, address: str) -> None:
    assert page.address(node_id) == f"dbt/index.html{address}"


@pytest.mark.parametrize(
    ("page", "node_id", "address"),
    [
        (ONE, "model.shop.orders", "#!/model/model.shop.orders?g_v=1&g_i=1%2Borders%2B1"),
        (
            ONE,
            "source.shop.raw.orders",
            "#!/source/source.shop.raw.orders?g_v=1&g_i=1%2Bsource%3Araw.orders%2B1",
        ),
        (TWO, "model.shop.orders", "#/details/model.shop.orders/"),
    ],
)
def test_its_graph_is_focused(page: DbtDocs, node_id: str, address: str) -> None:
    assert page.graph(node_id) == f"dbt/index.html{address}"


@for_each(
    "page, link, address",
    [
        (ONE, "#!/model/model.shop.orders?g_v=1", "#!/model/model.shop.orders?g_v=1"),
        (ONE, "#!/overview", "#!/overview"),
        (ONE, "#/details/model.shop.orders/", "#!/model/model.shop.orders"),
        (ONE, "#/search/", ""),
        (TWO, "#!/model/model.shop.orders?g_v=1", "#/details/model.shop.orders/"),
        (TWO, "#!/source/source.shop.raw.a%20b", "#/details/source.shop.raw.a%20b/"),
        (TWO, "#!/overview", ""),
        (TWO, "#/resource/model/", "#/resource/model/"),
    ],
)
def test_links_of_one_generation_lead_to_the_page_of_the_other(
    page: DbtDocs, link: str, address: str
) -> None:
    assert page.translate(link) == f"dbt/index.html{address}"


@pytest.mark.parametrize("link", ["#anchor", "https://example.com/#!/model/model.a.b", "", "#"])
def test_other_links_do_not_lead_into_dbt_docs(link: str) -> None:
    assert ONE.translate(link) == TWO.translate(link) == ""
