"""The lineage as OpenLineage events (https://openlineage.io/spec): in files, or sent over HTTP.

| module | content |
|---|---|
| `facets` | what every event and facet has: producer, schema URL, time |
| `column_lineage`, `datasets`, `jobs` | the facets, one function each |
| `snapshot`, `run_work`, `run_facets` | the lineage by task and run, and the facets of a run |
| `events` | DatasetEvents, JobEvents, and all of them in order, or those of some tasks |
| `runs`, `airflow_runs` | RunEvents; those of runs in Airflow |
| `files`, `outbox`, `endpoint` | to a file, a folder, an endpoint |
| `comparison`, `expectations` | emitted events against expected ones |
"""
