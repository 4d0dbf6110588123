"""Mappings that people write into files such as `graft.yml`; pydantic checks them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class YamlMapping(BaseModel):
    """A mapping in a file; `key:` without a value is no key, as if it were commented out."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_empty_keys(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: entry for key, entry in value.items() if entry is not None}


class Section(YamlMapping):
    """A mapping in a file; a key that it does not have is an error."""

    model_config = ConfigDict(extra="forbid")
