"""dbt as a source: results of its runs, tests and freshness checks."""
