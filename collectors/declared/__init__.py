"""Lineage that people declare in YAML files: reviewed, versioned, and marked as declared."""
