"""The views of `graft query` and of the Parquet files beside a site.

Their names and columns are a contract with queries and notebooks (docs/query.md): columns are
added, and none is renamed or removed. All of them name datasets and tasks alike, so they join.
"""

from __future__ import annotations

from dbt_graft.exporters.data.answer_views import ANSWER_VIEWS
from dbt_graft.exporters.data.lineage_views import LINEAGE_VIEWS
from dbt_graft.exporters.data.run_views import DAG_VIEWS, RUN_VIEWS

# Those of files hold what the pages of a site show.
FILE_VIEWS = (*LINEAGE_VIEWS, *RUN_VIEWS, *DAG_VIEWS)
VIEWS = (*FILE_VIEWS, *ANSWER_VIEWS)
