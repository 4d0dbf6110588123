"""The lineage as DAGs of Airflow, in dag-factory's YAML: the order, the plan, the documents."""
