"""Name rules: one dataset that engines know under several names gets one of them."""

import pytest

from dbt_graft.lineage.dataset import parse_dataset_id
from dbt_graft.lineage.names import NameRule, NameRules
from tests.cases import for_each

ORDERS = "mssql://sql01:1433/ShopDW.dbo.Orders"


@for_each(
    "source, target, name, renamed",
    [
        ("mssql://sql01:1433/ShopDW.dbo.*", "spark/raw.*", ORDERS, "spark/raw.Orders"),
        ("MSSQL://sql01:1433/shopdw.DBO.*", "spark/raw.*", ORDERS, "spark/raw.Orders"),
        ("mssql://sql01:1433/*.dbo.*", "spark/{1}.{2}", ORDERS, "spark/ShopDW.Orders"),
        ("mssql://*/ShopDW.*.*", "spark/{3}.{2}", ORDERS, "spark/Orders.dbo"),
        ("file/**/landing/*", "landing/*", "file//srv/x/landing/orders", "landing/orders"),
        ("file/**/landing/*", "landing/*", "file/landing/orders", "landing/orders"),
        ("file//srv/*", "landing/*", "file/srv/orders", "landing/orders"),
        ("file/srv/*", "landing/*", "file//srv/orders", "landing/orders"),
        ("spark/raw.*", "file//srv/*", "spark/raw.orders", "file/srv/orders"),
        (ORDERS, "spark/raw.o", ORDERS, "spark/raw.o"),
        ("mssql://sql02:1433/*", "spark/*", ORDERS, ORDERS),
        # The rule leaves it no name.
        ("file/landing*", "landing/*", "file/landing", "file/landing"),
        ("mssql://sql01:1433/ShopDW.dbo.Ord", "spark/x", ORDERS, ORDERS),
        ("mssql://sql01:1433/ShopDW-dbo.*", "spark/*", ORDERS, ORDERS),
    ],
)
def test_a_rule_renames_what_it_matches(source: str, target: str, name: str, renamed: str) -> None:
    rules = NameRules([NameRule(source, target)])
    assert str(rules(parse_dataset_id(name))) == renamed


def test_the_first_rule_that_matches_decides_and_renames_once() -> None:
    rules = NameRules(
        [NameRule("a/*", "b/first.*"), NameRule("**/x", "c/y"), NameRule("b/*", "d/*")]
    )
    assert str(rules(parse_dataset_id("a/x"))) == "b/first.x"


@for_each(
    "source, target",
    [
        ("a/*", "b/{2}"),
        ("a/**", "b/*"),
        ("a/*", "b/*.*"),
        ("a", "b/c"),
        ("a/b", "c"),
        ("a/*", "b/{0}"),
    ],
)
def test_a_rule_that_cannot_be_filled_is_refused(source: str, target: str) -> None:
    with pytest.raises(ValueError, match=r"wildcard|write <namespace>/<name>"):
        NameRule(source, target)
