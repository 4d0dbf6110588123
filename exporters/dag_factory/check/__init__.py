"""DAGs that exist, held against the order that lineage demands."""
