"""dbt as a source: columns of its models; results of its runs, tests and freshness checks."""
