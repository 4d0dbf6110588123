"""What was said -> what it means on a server: full names, columns, views, procedures."""
