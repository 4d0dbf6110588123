"""Texts -> resolved statements: full names on a server, columns, views, procedures."""
