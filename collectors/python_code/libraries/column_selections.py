"""Selections of columns, and their names: `pl.col("a", "b")`, `cs.starts_with("a")`."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from dbt_graft.collectors.python_code.libraries.column_expressions import (
    SELECTORS,
    is_selector,
    items_of,
    named,
    selector,
)
from dbt_graft.collectors.python_code.values.machine import Call
from dbt_graft.collectors.python_code.values.selections import (
    UNSURE,
    both,
    complement,
    either,
    is_selection,
    like,
    listed,
    names_of,
    with_text,
)
from dbt_graft.collectors.python_code.values.values import (
    PENDING,
    Const,
    Data,
    Form,
    Items,
    Key,
    Library,
    Thing,
    Value,
)
from dbt_graft.lineage.code import UNKNOWN_PART
from dbt_graft.lineage.records import ANY_COLUMN


def is_of_selectors(owner: Value) -> bool:
    """Whether a function is one of `polars.selectors`."""
    return isinstance(owner, Library) and owner.name.startswith(SELECTORS)


def col(call: Call) -> Value:
    """`pl.col("a")`, `F.col("a")`; of several names, a pattern or a type, several."""
    selection = selection_of(call)
    if selection is None:
        gap = call.gap("a column whose name is not known")
        return Data(gaps=frozenset({gap}), form=Form.EXPRESSION)
    library = "spark" if is_of_spark_functions(call.owner) else ""
    return replace(named(selection), library=library)


def is_of_spark_functions(owner: Value) -> bool:
    """Whether a function is one of `pyspark.sql.functions`."""
    return isinstance(owner, Library) and owner.name.startswith("pyspark")


def selection_of(call: Call) -> str | None:
    """The columns that arguments mean: names, patterns, types, selectors; None if not known."""
    machine = call.machine
    items = [item for value in call.arguments.positional for item in items_of(machine, value)]
    selections: list[str] = []
    names: list[str] = []
    for item in items:
        name = item.name if isinstance(item, Data) else machine.key(item)
        if isinstance(name, Library):  # a type
            selections.append(UNSURE)
        elif is_selection(name):
            selections.append(str(name))
        elif isinstance(name, str) and name.startswith("^") and name.endswith("$"):
            selections.append(like(name))
        elif isinstance(name, str):
            names.append(name)
        elif not isinstance(item, Const):
            return None
    if not selections and len(names) == 1:
        return names[0]
    if names:
        selections.append(listed(names))
    return reduce(either, selections) if selections else None


def excluded(call: Call) -> Value:
    """`pl.exclude("a")`, `pl.all().exclude("a")`."""
    owner = call.owner if isinstance(call.owner, Data) else named(ANY_COLUMN)
    make = selector if is_selector(owner) or is_of_selectors(call.owner) else named
    out = selection_of(call)
    if out is None:
        return make(UNSURE)
    return make(both(str(owner.name), complement(out if is_selection(out) else listed([out]))))


def by_texts(call: Call) -> Value:
    """`cs.starts_with("a", "b")`, `cs.ends_with("c")`, `cs.contains("d")`."""
    texts = [t for value in call.arguments.positional for t in call.machine.keys(value) or [None]]
    names = [text for text in texts if isinstance(text, str)]
    if not names or len(names) < len(texts):
        return selector(UNSURE)
    if call.name == "matches":
        return selector(like(f".*{names[0].removeprefix('^')}"))
    before = "" if call.name == "starts_with" else ".*"
    return selector(with_text(names, before, r"\Z" if call.name == "ends_with" else ""))


def selected_by_name(call: Call) -> Value:
    """`cs.by_name("a", "b")`."""
    selection = selection_of(call) or UNSURE
    return selector(selection if is_selection(selection) else listed([selection]))


def unsure_selection(call: Call) -> Value:
    """`cs.numeric()`: columns by what only a run knows."""
    return selector(UNSURE)


def rename_columns(call: Call) -> Value:
    """`.name.suffix("_sum")`: another name for a column, or for each of several."""
    owner = call.machine.data(call.owner.owner if isinstance(call.owner, Thing) else None)
    text = call.text("suffix" if call.name == "suffix" else "prefix", 0)
    name: Key = None
    names = names_of(owner.name) if is_selection(owner.name) else None
    if names is not None and call.name in {"map", "to_lowercase", "to_uppercase"}:
        each = (Thing("name", {}, narrow_to(owner, name)) for name in names)
        return Items(tuple(rename_columns(replace(call, owner=thing)) for thing in each))
    if call.name == "keep":  # that of the column, whatever was made of it
        roots = {item.column for item in owner.inputs if item.source == PENDING}
        name = roots.pop() if len(roots) == 1 else None
    elif call.name in {"suffix", "prefix"} and text is not None and UNKNOWN_PART not in text:
        name = f"{owner.name}{text}" if call.name == "suffix" else f"{text}{owner.name}"
    elif not is_selection(owner.name) and isinstance(owner.name, str):
        if call.name in {"to_lowercase", "to_uppercase"}:
            name = owner.name.lower() if call.name == "to_lowercase" else owner.name.upper()
        elif call.name == "map" and call.arguments.positional:
            made = call.machine.call(call.arguments.positional[0], Const(owner.name))
            name = call.machine.text(made)
    if name is None:
        gap = call.gap("columns get names that are not known")
        return replace(owner, name=None, origin=gap)
    return replace(owner, name=name, place=call.place)


def narrow_to(data: Data, name: str) -> Data:
    """An expression of several columns for one of them, which has its name."""
    selection = data.name
    if not is_selection(selection):
        return data
    inputs, rows = (
        frozenset(i._replace(column=name) if i.column == selection else i for i in items)
        for items in (data.inputs, data.rows)
    )
    return replace(data, inputs=inputs, rows=rows, name=name)
