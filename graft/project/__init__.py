"""A project: graft.yml, its sources, and the one way to its lineage."""
