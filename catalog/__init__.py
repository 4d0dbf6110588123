"""The static catalog: pages from templates, pictures, search, and the two sites in one folder."""
