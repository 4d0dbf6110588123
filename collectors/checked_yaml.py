"""YAML that people write, checked against a model; every error has its line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import yaml
from pydantic import TypeAdapter, ValidationError
from yaml.constructor import SafeConstructor

from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.section import Section, section_keys

M = TypeVar("M")
# The parser in C has other messages, and is ten times as fast.
_LOADER, _FAST_LOADER = yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LARGE = 100_000  # characters
_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}
# In JSON and not in YAML: indents of tabs, and `\/`.
_ESCAPED = re.compile(r"\\\\|\\/|\t")


# Kind of an error that pydantic finds -> its message; the others have pydantic's.
_MESSAGES = {
    "missing": "is missing",
    "string_type": "must be text: write it in quotes",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "tuple_type": "must be a list: begin each entry with `- `",
    "dict_type": "must hold keys, such as `key: value`",
    "dataclass_type": "must hold keys, such as `key: value`",
    "model_type": "must hold keys, such as `key: value`",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "invalid_key": "is not a key: write it in quotes",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}
# What YAML says of a mistake -> what to do.
_REMEDIES = {
    "'\\t'": "indent with spaces: YAML allows no tabs there",
    "escape": "a backslash in double quotes begins an escape: write 'C:\\logs' in single quotes",
}


def read_yaml(
    path: Path,
    model: type[M],
    otherwise: str,
    allows: Callable[[yaml.Node], None] = lambda tree: None,
) -> M:
    """Read and check a YAML file, or a JSON file.

    Args:
        otherwise: The error message for a file that holds no mapping.
        allows: Raises an error for a tree that must not be built.

    Raises:
        GraftError: It is missing, no YAML, or not valid; all errors at once, each with its line.
    """
    text = _text(path)
    try:
        tree = yaml.compose(text, Loader=_LOADER if len(text) < _LARGE else _FAST_LOADER)
        if twice := _duplicate_keys(tree):
            raise GraftError("\n".join(f"{path}:{line}: {text}" for line, text in twice))
        if tree:
            allows(tree)
        data = (SafeConstructor().construct_document(tree) if tree else None) or {}
    except RecursionError as error:
        raise GraftError("is nested too deeply", place=str(path)) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        location = f"{path}:{mark.line + 1}" if mark else str(path)
        problem = str(getattr(error, "problem", None) or error).partition("\n")[0]
        remedy = next((text for part, text in _REMEDIES.items() if part in problem), "")
        raise GraftError(f"is not valid YAML: {problem}", place=location, remedy=remedy) from error
    if not isinstance(data, dict):
        raise GraftError(otherwise, place=str(path))
    try:
        checked: M = _adapter(model).validate_python(data)
        return checked
    except ValidationError as error:
        # A list is too short without its faulty entries, too.
        faults = [
            _fault(fault, tree, model)
            for fault in _meant_faults(error.errors(include_url=False), data)
            if not (fault["type"] == "too_short" and fault["input"])
        ]
        lines = [f"{path}:{line}: {text}" for line, text in sorted(faults)]
        raise GraftError("\n".join(lines)) from error


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise GraftError(
            "there is no such file", place=str(path), remedy=f"create {path.name}"
        ) from error
    except IsADirectoryError as error:
        raise GraftError("is a folder, not a file", place=str(path)) from error
    except OSError as error:
        raise GraftError(f"cannot be read: {error.strerror}", place=str(path)) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise GraftError("is not UTF-8", place=f"{path}:{line}") from error
    if path.suffix.casefold() == ".json":
        return _ESCAPED.sub(lambda match: match[0].lstrip("\t").replace("\\/", "/"), text)
    return text


def _duplicate_keys(tree: yaml.Node | None) -> list[tuple[int, str]]:
    """Keys that stand twice in one mapping; YAML itself silently takes the last."""
    duplicates = []
    waiting = [tree] if tree else []
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            lines: dict[str, int] = {}
            for key, value in node.value:
                line = key.start_mark.line + 1
                if isinstance(key, yaml.ScalarNode) and key.value in lines:
                    text = f"`{key.value}` is there twice: put all below that of line "
                    duplicates.append((line, f"{text}{lines[key.value]}"))
                lines.setdefault(str(key.value), line)
                waiting.append(value)
    return sorted(duplicates)


def _meant_faults(faults: Iterable[Any], data: object) -> list[Any]:
    """The faults, each at a place of the file.

    Of a value that may have several types pydantic names the faults by each of them: those stay
    of the first that the value has.
    """
    meant = []
    by_type: dict[tuple[str | int, ...], dict[str | int, list[Any]]] = {}
    for fault in faults:
        location = fault["loc"]
        at = _place_of_type(fault, data)
        if at is None:
            meant.append(fault)
        else:
            types = by_type.setdefault(location[:at], {})
            alike = types.setdefault(location[at], [])
            alike.append({**fault, "loc": location[:at] + location[at + 1 :]})
    for place, types in by_type.items():
        fitting = [
            alike
            for alike in types.values()
            if not any(fault["loc"] == place and _is_of_other_type(fault) for fault in alike)
        ]
        meant += _meant_faults(next(iter([*fitting, *types.values()])), data)
    return meant


def _place_of_type(fault: Any, data: Any) -> int | None:
    """The first part of a location that is no key or entry but a type, `function-after[…]`."""
    location = fault["loc"]
    for at, part in enumerate(location):
        is_entry = isinstance(data, list) and isinstance(part, int)
        if not is_entry and not (isinstance(data, dict) and part in data):
            is_missing = fault["type"] == "missing" and at == len(location) - 1
            return None if is_missing else at
        data = data[part]
    return None


def _is_of_other_type(fault: Any) -> bool:
    if fault["type"] == "literal_error":
        return not isinstance(fault["input"], str)
    return str(fault["type"]).endswith(("_type", "_parsing"))


def _fault(fault: Any, tree: yaml.Node | None, model: type[Any]) -> tuple[int, str]:
    location: Sequence[str | int] = fault["loc"]
    where = ".".join(str(part) for part in location)
    line = _place(tree, location)[0]
    if fault["type"] == "unexpected_keyword_argument":
        allowed = _keys(model, location[:-1])
        if mistake := _misplaced(tree, model, location):
            return line, f"`{where}` {mistake}"
        close = difflib.get_close_matches(str(location[-1]), allowed, n=1)
        hint = f"did you mean `{close[0]}`? " if close else ""
        return line, f"`{where}` is not a key here; {hint}Allowed: {', '.join(allowed)}"
    if message := _MESSAGES.get(fault["type"]):
        return line, f"`{where}` {message.format(**fault.get('ctx', {}))}"
    message = str(fault["msg"]).removeprefix("Value error, ")
    return line, f"`{where}`: {message}" if where else message


def _keys(model: type[Any], location: Sequence[str | int]) -> list[str]:
    return [*section_keys(_section(model, location)).values()]


def _section(model: type[Any], location: Sequence[str | int]) -> type[Any]:
    section = model
    for part in location:
        section = next(sections(types_by_key(section).get(str(part))), section)
    return section


def _misplaced(tree: yaml.Node | None, model: type[Any], location: Sequence[str | int]) -> str:
    """The mistake with a key that belongs below another; empty where it belongs below none."""
    types = types_by_key(_section(model, location[:-1]))
    owners = [key for key, kind in types.items() if location[-1] in _keys_below(kind)]
    node = _place(tree, location[:-1])[1]
    keys = [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
    above = [key for key in keys[: keys.index(location[-1])] if key in owners]
    if above:
        return f"is a key of `{above[-1]}`: indent it further than `{above[-1]}:`"
    return f"is a key of {', '.join(owners)}: write it below" if owners else ""


def _keys_below(annotation: Any) -> Collection[str]:
    """The keys of a section that a type is, or may be."""
    is_union = get_origin(annotation) in (Union, UnionType)
    kinds = get_args(annotation) if is_union else (annotation,)
    return [
        key
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, Section)
        for key in section_keys(kind).values()
    ]


def types_by_key(section: type[Any]) -> dict[str, Any]:
    """Key of a section -> the type of its value."""
    hints = get_type_hints(section)
    return {key: hints[name] for name, key in section_keys(section).items()}


def sections(annotation: Any) -> Iterator[type[Section]]:
    """The sections inside a field's type: of `tuple[Source, ...]` it is `Source`."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    for inner in get_args(annotation):
        yield from sections(inner)


def _adapter(model: type[Any]) -> TypeAdapter[Any]:
    """The checks of a section: making them takes longer than a file."""
    if model not in _ADAPTERS:
        _ADAPTERS[model] = TypeAdapter(model)
    return _ADAPTERS[model]


def json_schema(model: type[Any]) -> dict[str, Any]:
    """The JSON schema of a section."""
    return _adapter(model).json_schema(by_alias=True)


def _place(node: yaml.Node | None, location: Sequence[str | int]) -> tuple[int, yaml.Node | None]:
    """The line on which the deepest part of a location stands, from 1, and its value."""
    line = node.start_mark.line + 1 if node else 1
    for part in location:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == part:
                    line, node = key.start_mark.line + 1, value
                    break
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line, node
