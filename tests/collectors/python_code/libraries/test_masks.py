from __future__ import annotations

from dbt_graft.collectors.python_code.libraries.masks import masking_of
from dbt_graft.lineage.records import Masking
from tests.cases import for_each


@for_each(
    "name, masking",
    [
        ("sha256", Masking.HASH),
        ("hash_email", Masking.HASH),
        ("hashEmail", Masking.HASH),
        ("encrypt_ssn", Masking.ENCRYPT),
        ("tokenize", Masking.TOKENIZE),
        ("mask_card_number", Masking.MASK),
        ("MASK_SHOW_FIRST_N", Masking.MASK),
        ("hash_and_mask", Masking.MASK),
        ("decrypt", Masking.NONE),
        ("un_mask", Masking.NONE),
        ("unmask", Masking.NONE),
        ("de_tokenize", Masking.NONE),
        ("remove_mask", Masking.NONE),
        ("reverseHash", Masking.NONE),
        ("is_hashed", Masking.NONE),
        ("digest_orders_summary", Masking.HASH),
        ("normalize_email", Masking.NONE),
        ("shape", Masking.NONE),
    ],
)
def test_a_function_hides_a_value_as_its_name_tells(name: str, masking: Masking) -> None:
    assert masking_of(name, is_method=False) is masking


def test_a_method_mask_is_that_of_pandas() -> None:
    assert masking_of("mask") is Masking.NONE
