"""Frozen classes are what `dataclass(frozen=True, slots=True)` makes, for all who use them."""

from __future__ import annotations

import copy
import pickle
from dataclasses import field, replace

import pytest

from dbt_graft.lineage.frozen import frozen


@frozen
class Place:
    name: str = field(compare=False)
    key: str
    notes: dict[str, str] = field(default_factory=dict, hash=False, repr=False)


@frozen
class Shown:
    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shown)

    def __repr__(self) -> str:
        return f"<{self.name}>"


@frozen(kw_only=True)
class Named:
    name: str = "x"


@frozen
class Empty:
    pass


@frozen
class City(Place):
    size: int = 0


def test_what_is_compared_is_equal_and_has_one_hash() -> None:
    place = Place("A", "a", {"x": "y"})
    assert place == Place("B", "a", {"x": "y"})
    assert place != Place("A", "a")
    assert hash(place) == hash(Place("B", "a"))
    assert place != City("A", "a", {"x": "y"})
    assert Empty() == Empty()
    assert hash(Empty()) == hash(Empty())


def test_what_is_shown_is_its_representation() -> None:
    assert repr(City("A", "a", size=2)) == "City(name='A', key='a', size=2)"
    assert repr(Empty()) == "Empty()"


def test_a_class_keeps_its_own_methods() -> None:
    assert Shown("a") == Shown("b")
    assert repr(Shown("a")) == "<a>"


def test_fields_may_be_named_alone() -> None:
    assert Named(name="y") != Named()
    with pytest.raises(TypeError, match="positional"):
        Named("y")  # type: ignore[call-arg, misc]


def test_objects_have_no_other_fields_and_travel() -> None:
    place = Place("A", "a", {"x": "y"})
    assert not hasattr(place, "__dict__")
    for other in (copy.copy(place), pickle.loads(pickle.dumps(place)), replace(place)):  # noqa: S301
        assert (other, other.name) == (place, "A")
