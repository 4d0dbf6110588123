"""The index of dbt 2: the Parquet files that its docs page reads, as our input and our output.

The contract is that of `target/index/` (dbt-core, crates/dbt-index-core): one file a table, which
may be missing where it would be empty. Columns come and go between versions of dbt, so each file is
written with the schema with which it was found.
"""
