"""A project that is checked: what several checks need of it is made once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_graft.analysis.checks.drift import ENOUGH
from dbt_graft.analysis.checks.rules import owners
from dbt_graft.graft.project.asked_lineage import AskedLineage
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.view import LineageView, Moment
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

if TYPE_CHECKING:
    from dbt_graft.graft.project.project import Project
    from dbt_graft.injector.report import Grafted
    from dbt_graft.lineage.described import DescribedLineage


@frozen
class CheckOptions:
    """The options of `graft check` that checks look at.

    Attributes:
        only: The checks that are asked for by name; all that can run if there are none.
        past: The lineage as it stood then; None for that of now.
        at: The moment for which deadlines are forecast; None for `past`, or now.
        since: drift looks at runs of this time only; None for all that are known.
        runs: So many runs without a trace of a declared edge make it a phantom.
        dags: Files and folders of DAGs; without any, what graft.yml names.
        max_age: A source whose newest event is older is late; None for no limit.
        sources: The sources of `collect` that must be fresh; all if there are none.
        links: Files, folders and URLs whose links into the site are tested.
        sites: Addresses of the published site; without any, `site.url`.
        audience: The audience whose site is searched; None for all.
    """

    only: tuple[str, ...] = ()
    past: Moment | None = None
    at: datetime | None = None
    since: timedelta | None = None
    runs: int = ENOUGH
    dags: tuple[Path, ...] = ()
    max_age: timedelta | None = None
    sources: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    audience: str | None = None


class CheckedProject:
    """A project, the options of the check, and the lineage that checks look at.

    Attributes:
        now: The time of the lineage: that of `--as-of`, or now.
        view: The part of the store that `described` is made of.
    """

    def __init__(self, config: Config, options: CheckOptions | None = None) -> None:
        self.config = config
        self.options = options = options or CheckOptions()
        self.now = options.past.at if options.past else datetime.now(UTC)
        self.view = LineageView(options.past)
        self.asked = AskedLineage(config, self.view)

    @property
    def project(self) -> Project:
        """The project, for what its index does not have."""
        return self.asked.project

    @property
    def described(self) -> DescribedLineage:
        """The lineage with dbt's part and YAML."""
        return self.asked.described

    @cached_property
    def grafted(self) -> Grafted | None:
        """The graft that it is from; None without artifacts."""
        return self.project.described_graft(self.view)[1]

    @cached_property
    def owners(self) -> dict[str, str]:
        """The datasets and tasks that somebody owns -> the owner."""
        return owners(self.described.lineage, self.described.descriptions)


class NothingToCheckError(GraftError):
    """A check cannot run here, for want of what it looks at.

    `graft check` goes on without it, and notes the reason; with `--only` it is an error.
    """
