"""The review of a change of a dbt project: per model what is another, and how much that matters."""
