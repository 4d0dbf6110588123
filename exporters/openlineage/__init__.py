"""The lineage as OpenLineage events (https://openlineage.io/spec): in files, or sent over HTTP.

| module | content |
|---|---|
| `facets` | what every event and facet has: producer, schema URL, time |
| `column_lineage`, `lineage_facet`, `datasets`, `jobs` | the facets, one function each |
| `snapshot`, `run_work`, `run_facets` | the lineage by task and run, and the facets of a run |
| `static_events`, `runs` | DatasetEvents and JobEvents; RunEvents |
| `events` | all of them in order, or those of some tasks |
| `files`, `outbox`, `endpoint`, `delivery` | to a file, a folder, an endpoint |
| `event_files`, `templates`, `comparison`, `expectations` | emitted events against expected ones |
"""
