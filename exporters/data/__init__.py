"""The lineage as tables: documented views for SQL, and the same as Parquet files."""
