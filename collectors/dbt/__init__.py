"""dbt's artifacts as a source: what the manifest and the catalog say of its models."""
