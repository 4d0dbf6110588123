"""The static catalog: a lasting page for every dataset, task and tag."""
