"""The rules by which events become runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.frozen import frozen


@frozen
class RunRules:
    """The rules by which events become runs.

    Attributes:
        task: A regular expression with a group `task`, and maybe `run`, that is looked for in
            the application's name; other applications are left out.
        noise: Regular expressions for texts to leave out, beside those that are always left out.
        idle_seconds: A pause of a session that ends its run.
        timezone: That of the server, by which `GETDATE()` is a day: `Europe/Berlin`.
        parameters: Procedure, without schema and in lower case -> its parameters in their order.
    """

    task: str = r"python_task::(?P<task>[^:]+)(::(?P<run>.+))?"
    noise: Sequence[str] = ()
    idle_seconds: int = 3600
    date_columns: DateColumns = field(default_factory=DateColumns)
    timezone: str = "UTC"
    parameters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
