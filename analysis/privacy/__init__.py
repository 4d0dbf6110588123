"""Privacy: classifications of columns, and where sensitive values flow."""
