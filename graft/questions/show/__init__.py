"""All that is known of a table, a column, a task or a run."""
