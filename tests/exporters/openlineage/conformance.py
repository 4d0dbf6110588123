"""Events against the schemas of OpenLineage's spec: each event, and each facet against its own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import orjson
from referencing import Registry, Resource

SPEC = Path(__file__).parent / "spec"


@cache
def schemas() -> dict[str, Any]:
    """The schemas by their `$id`."""
    paths = (orjson.loads(path.read_bytes()) for path in SPEC.glob("*.json"))
    return {schema["$id"]: schema for schema in paths}


@cache
def validator(url: str) -> jsonschema.Draft202012Validator:
    """The validator of one definition in a schema."""
    registry: Registry[Any] = Registry().with_resources(
        (name, Resource.from_contents(schema)) for name, schema in schemas().items()
    )
    return jsonschema.Draft202012Validator(
        {"$ref": url},
        registry=registry,
        format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
    )


def facets(event: Any) -> Iterator[tuple[str, Any]]:
    """The facets of an event, by name."""
    owners = [event.get("run"), event.get("job"), event.get("dataset")]
    owners += [*event.get("inputs", ()), *event.get("outputs", ())]
    for owner in filter(None, owners):
        for group in ("facets", "inputFacets", "outputFacets"):
            yield from owner.get(group, {}).items()


def complaints(event: Any) -> list[str]:
    """The errors of an event by the spec; a facet without a schema is one."""
    document = orjson.loads(orjson.dumps(event))
    parts = [("event", document["schemaURL"], document)]
    parts += [(name, facet["_schemaURL"], facet) for name, facet in facets(document)]
    found = []
    for name, url, part in parts:
        file, _, pointer = url.partition("#")
        schema = schemas().get(file)
        if schema is None:
            found.append(f"{name}: no schema {file}")
            continue
        # The name under which the spec has the facet.
        if name != "event" and name not in schema.get("properties", {}):
            found.append(f"{name}: {pointer} is not the schema of a facet of this name")
        found += [
            f"{name}: {error.json_path}: {error.message}"
            for error in validator(url).iter_errors(part)
        ]
    return found
