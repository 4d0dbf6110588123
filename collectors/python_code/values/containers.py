"""Lists and dictionaries: what is put in, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_graft.collectors.python_code.values.frames import as_keys, exclude
from dbt_graft.collectors.python_code.values.joins import from_open
from dbt_graft.collectors.python_code.values.machine import (
    NOT_KNOWN,
    Call,
    Handler,
    Machine,
    owner_of,
    to_value,
)
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Const,
    DictCell,
    Items,
    Ref,
    Value,
    change,
    derive,
)
from dbt_graft.lineage.records import Subtype


def append(machine: Machine, target: Ref, item: Value, *, many: bool = False) -> None:
    """Put an item into a list, or any number of its like."""
    cell = machine.cell(target)
    if not isinstance(cell, Items):
        return
    rows = cell.rows | machine.control
    if many or machine.is_repeated(target) or cell.rest is not None:
        machine.put(target, replace(cell, rest=machine.join(cell.rest, item), rows=rows))
    else:
        machine.put(target, replace(cell, items=(*cell.items, item), rows=rows))


def extend(machine: Machine, target: Ref, items: Items) -> None:
    """Put items into a list."""
    cell = machine.cell(target)
    if isinstance(cell, Items) and cell.rest is None and not machine.is_repeated(target):
        machine.put(
            target,
            replace(cell, items=(*cell.items, *items.items), rows=cell.rows | machine.control),
        )
    else:
        for item in items.items:
            append(machine, target, item)
    if items.rest is not None:
        append(machine, target, items.rest, many=True)
    cell = machine.cell(target)
    if items.rows and isinstance(cell, Items):
        machine.put(target, replace(cell, rows=cell.rows | items.rows))


def put_entry(machine: Machine, target: Ref, key: Value, value: Value) -> None:
    """Set an entry of a dictionary, or an item of a list."""
    cell = machine.cell(target)
    known = machine.key(key)
    if isinstance(cell, Items):
        if isinstance(known, int) and -len(cell.items) <= known < len(cell.items):
            items = list(cell.items)
            items[known] = value
            machine.put(target, replace(cell, items=tuple(items)))
        else:
            chosen = machine.look_up(value, machine.data(key).inputs)
            machine.put(target, replace(cell, rest=machine.join(cell.rest, chosen)))
    elif isinstance(cell, DictCell):
        if known is NOT_KNOWN:
            rest = machine.join(cell.rest, value)
            keys = machine.join(cell.keys, machine.data(key)) if cell.keys else key
            groups = change(machine.data(key).inputs, Subtype.GROUP_BY)
            rows = cell.rows | machine.control | groups
            machine.put(target, replace(cell, rest=rest, keys=keys, rows=rows))
        else:
            machine.put(target, replace(cell, entries={**cell.entries, known: value}))


def call_container_method(call: Call) -> Value:
    """A method of a list, a tuple, a set or a dictionary."""
    cell = call.machine.cell(call.owner)
    methods = _DICTS if isinstance(cell, DictCell) else _LISTS
    if isinstance(call.owner, Items) and call.owner.names and call.name in _ROWS:
        row = call.machine.new(row_entries(call.owner))
        return _DICTS[_ROWS[call.name]](replace(call, owner=row))
    handler = methods.get(call.name)
    if handler:
        return handler(call)
    return derive([call.machine.data(call.owner), *call.data()], call.place)


def _append(call: Call) -> Value:
    if isinstance(call.owner, Ref):
        append(
            call.machine,
            call.owner,
            call.get("object", len(call.arguments.positional) - 1) or UNKNOWN,
        )
    return Const(None)


def _insert(call: Call) -> Value:
    cell, at = call.machine.cell(call.owner), call.machine.key(call.get("", 0))
    if (
        not (isinstance(cell, Items) and cell.rest is None and isinstance(at, int))
        or not isinstance(call.owner, Ref)
        or call.machine.is_repeated(call.owner)
    ):
        return _append(call)
    items = list(cell.items)
    items.insert(at, call.get("", 1) or UNKNOWN)
    call.machine.put(call.owner, replace(cell, items=tuple(items)))
    return Const(None)


def sorted_items(call: Call, items: Items) -> Items:
    """Items in an order: that of a key, or of their own."""
    machine = call.machine
    if items.rest is None and all(isinstance(item, Const) for item in items.items):
        texts = [item for item in items.items if isinstance(machine.key(item), str)]
        is_known = len(texts) == len(items.items) and call.get("key") is None
        return replace(items, items=tuple(sorted(texts, key=str))) if is_known else items
    item, key = machine.join_all(items.values) or UNKNOWN, call.get("key")
    by = machine.data(item if key is None or key == Const(None) else machine.call(key, item))
    rows = items.rows | change(by.inputs, Subtype.SORT)
    return Items((), item, rows) if by.inputs else replace(items, rows=rows)


def _arrange(call: Call) -> Value:
    """`remove`, `reverse`, `sort` of a list."""
    cell = call.machine.cell(call.owner)
    if not isinstance(cell, Items) or not isinstance(call.owner, Ref):
        return Const(None)
    items = list(cell.items)
    if call.name == "reverse":
        items.reverse()
    elif call.name == "remove":
        item = call.get("", 0)
        if item in items:
            items.remove(item)
    else:
        call.machine.put(call.owner, sorted_items(call, cell))
        return Const(None)
    call.machine.put(call.owner, replace(cell, items=tuple(items)))
    return Const(None)


def remove_entries(machine: Machine, target: Ref, keys: list[object]) -> None:
    """`del row["a"]`, `del names[0]`."""
    cell = machine.cell(target)
    if isinstance(cell, DictCell):
        entries = {key: value for key, value in cell.entries.items() if key not in keys}
        machine.put(target, replace(cell, entries=entries, open=exclude(cell.open, keys)))
    elif isinstance(cell, Items) and cell.rest is None:
        count = len(cell.items)
        gone = {key % count for key in keys if isinstance(key, int) and -count <= key < count}
        items = tuple(item for at, item in enumerate(cell.items) if at not in gone)
        machine.put(target, replace(cell, items=items))


def _extend(call: Call) -> Value:
    items = call.machine.items(call.get("", 0))
    if isinstance(call.owner, Ref):
        if items is None:
            append(call.machine, call.owner, call.machine.data(call.get("", 0)), many=True)
        else:
            extend(call.machine, call.owner, items)
    return Const(None)


def _difference(call: Call) -> Value:
    """The items of the one that are, or are not, among those of the other."""
    machine = call.machine
    items = machine.items(call.owner) or Items()
    gone = machine.keys(call.get("other", 0))
    if gone is None or items.rest is not None:
        return Items((), UNKNOWN)
    stays = call.name == "intersection"
    return Items(tuple(item for item in items.items if (machine.key(item) in gone) is stays))


def _union(call: Call) -> Value:
    machine = call.machine
    left, right = machine.items(call.owner) or Items(), machine.items(call.get("other", 0))
    if right is None:
        return Items((), UNKNOWN)
    more = tuple(item for item in right.items if item not in left.items)
    return Items((*left.items, *more), left.rest or right.rest)


def _mapped(call: Call) -> Value:
    """`df.columns.map(str.lower)`."""
    items = call.machine.items(call.owner) or Items()
    function = call.get("mapper", 0) or UNKNOWN
    each = [call.machine.call(function, item) for item in items.items]
    return Items(tuple(each), items.rest)


def _pop(call: Call) -> Value:
    items = call.machine.items(call.owner) or Items()
    at = call.get("", 0)
    values = items.values
    if isinstance(call.owner, Ref) and not call.machine.is_repeated(call.owner) and not items.rest:
        position = at.value if isinstance(at, Const) else -1 if at is None else None
        if isinstance(position, int) and -len(values) <= position < len(values):
            item = values.pop(position)
            call.machine.put(call.owner, Items(tuple(values), None, items.rows))
            return item
    return call.machine.join_all(values) or UNKNOWN


def _copy(call: Call) -> Value:
    cell = call.machine.cell(call.owner)
    return call.machine.new(cell) if cell is not None else call.owner


def _clear(call: Call) -> Value:
    if isinstance(call.owner, Ref) and not call.machine.is_repeated(call.owner):
        is_list = isinstance(call.machine.cell(call.owner), Items)
        call.machine.put(call.owner, Items() if is_list else DictCell())
    return Const(None)


def _get(call: Call) -> Value:
    cell = call.machine.cell(call.owner)
    assert isinstance(cell, DictCell)
    value = get_entry(call.machine, cell, call.get("key", 0) or UNKNOWN)
    default = call.get("default", 1)
    if value is None:
        return default if default is not None else Const(None)
    is_sure = call.machine.key(call.get("key", 0)) in cell.entries
    return value if default is None or is_sure else call.machine.join(value, default)


def get_entry(machine: Machine, cell: DictCell, key: Value) -> Value | None:
    """The value of a key; of one that is not known, any value, chosen by the key."""
    known = machine.key(key)
    if known is not NOT_KNOWN:
        if known in cell.entries:
            return cell.entries[known]
        if isinstance(known, str):
            for group in cell.open:
                if (data := from_open(group, known, of_rows=True)) is not None:
                    return machine.chosen(data, cell.rows)
        return cell.rest
    values = cell.values
    value = machine.join_all(values)
    if value is None:
        return None
    chosen = machine.data(key)
    if chosen.inputs and all(isinstance(item, Const) for item in values):
        return derive([chosen], machine.place)
    keys = machine.data(cell.keys).inputs
    if chosen.inputs == keys:  # the entry of the row itself, or of its group
        groups = (item for item in cell.rows if item.subtype is Subtype.GROUP_BY)
        return machine.chosen(value, frozenset(groups))
    return machine.look_up(value, chosen.inputs | keys)


def _setdefault(call: Call) -> Value:
    value = _get(call)
    key, default = call.get("key", 0), call.get("default", 1) or Const(None)
    assert isinstance(call.owner, Ref)
    if isinstance(value, Const) and value.value is None:
        value = default
    put_entry(call.machine, call.owner, key or UNKNOWN, value)
    return value


def _update(call: Call) -> Value:
    machine = call.machine
    cell, other = machine.cell(call.owner), machine.cell(call.get("", 0))
    assert isinstance(cell, DictCell)
    assert isinstance(call.owner, Ref)
    entries = dict(cell.entries)
    rest = cell.rest
    if isinstance(other, DictCell):
        entries.update(other.entries)
        rest = machine.join_all((rest, other.rest))
        cell = replace(cell, open=cell.open or other.open)
    entries.update(call.arguments.named or {})
    machine.put(call.owner, replace(cell, entries=entries, rest=rest))
    return Const(None)


def _values(call: Call) -> Value:
    cell = call.machine.cell(call.owner)
    assert isinstance(cell, DictCell)
    return Items(tuple(cell.entries.values()), cell.rest, cell.rows)


def _items(call: Call) -> Value:
    cell = call.machine.cell(call.owner)
    assert isinstance(cell, DictCell)
    pairs = tuple(Items((to_value(key), value)) for key, value in cell.entries.items())
    rest = None if cell.rest is None else Items((cell.keys or UNKNOWN, cell.rest))
    return Items(pairs, rest, cell.rows)


def _pop_entry(call: Call) -> Value:
    cell = call.machine.cell(call.owner)
    assert isinstance(cell, DictCell)
    assert isinstance(call.owner, Ref)
    key = call.machine.key(call.get("", 0))
    value = _get(call)
    if key is not NOT_KNOWN:
        remove_entries(call.machine, call.owner, [key])
    return value


def row_entries(row: Items) -> DictCell:
    """A row with names as a dictionary."""
    return DictCell(
        dict(zip(as_keys(row.names), row.items, strict=False)), row.rest, None, row.open, row.rows
    )


def _count(call: Call) -> Value:
    data = call.machine.data(call.owner)
    return replace(data, inputs=change(data.inputs, Subtype.AGGREGATION))


_LISTS: Mapping[str, Handler] = {
    "add": _append,
    "append": _append,
    "appendleft": _append,
    "clear": _clear,
    "copy": _copy,
    "count": _count,
    "difference": _difference,
    "drop": _difference,
    "extend": _extend,
    "index": _count,
    "insert": _insert,
    "intersection": _difference,
    "map": _mapped,
    "pop": _pop,
    "popleft": _pop,
    "ravel": owner_of,
    "remove": _arrange,
    "reverse": _arrange,
    "sort": _arrange,
    "to_flat_index": owner_of,
    "to_list": owner_of,
    "tolist": owner_of,
    "union": _union,
    "update": _extend,
}
_DICTS: Mapping[str, Handler] = {
    "clear": _clear,
    "copy": _copy,
    "get": _get,
    "items": _items,
    "keys": lambda call: call.machine.items(call.owner) or UNKNOWN,
    "names": lambda call: call.machine.items(call.owner) or UNKNOWN,
    "pop": _pop_entry,
    "setdefault": _setdefault,
    "update": _update,
    "values": _values,
}
# Methods of rows with names, and those of dictionaries that they are like.
_ROWS: Mapping[str, str] = {
    **dict.fromkeys(("_asdict", "asDict", "copy", "to_dict"), "copy"),
    **{name: name for name in ("get", "items", "keys")},
}
