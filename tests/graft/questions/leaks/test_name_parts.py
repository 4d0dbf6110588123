"""Names that longer ones have in them."""

from __future__ import annotations

from dbt_graft.graft.questions.leaks.name_parts import part_of_names
from tests.cases import for_each


@for_each(
    "name, other, expected",
    [
        ("country", "campaign_country_report", True),
        ("snapshot_orders", "snapshot_orders_multiple", True),
        # A picture cuts it anywhere.
        ("ban_ville", "marts_ban_villes", True),
        ("questionnaire", "QuestionnaireResponse", True),
        ("Response", "questionnaireResponse", True),
        ("db.pay", "DB.PAYMENTS", True),
        ("ages", "wages", False),
        ("orders", "order", False),
        ("salary", "orders", False),
        ("_", "orders", False),
    ],
)
def test_a_name_in_a_longer_one(name: str, other: str, *, expected: bool) -> None:
    assert part_of_names({"aaa", other, "zzz"})(name) is expected
