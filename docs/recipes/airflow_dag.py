"""An Airflow DAG that builds and publishes the site every night, for Airflow 3.

For Airflow 2.9 and later: `from airflow.decorators import dag, task`. Install dbt-graft on
the workers, in an environment of its own: `pipx install` or `uv tool install`.
"""

from datetime import datetime

from airflow.sdk import dag, task

PROJECT = "/opt/airflow/dbt_project"


# A build waits for one that still runs, on one machine; on several, of two collects one fails.
@dag(schedule="15 4 * * *", start_date=datetime(2026, 1, 1), catchup=False, max_active_runs=1)
def lineage():
    @task.bash(cwd=PROJECT)
    def dbt_docs():
        return ".venv/bin/dbt docs generate"

    # 3: done, but some log input was rejected. The site is published; `doctor` shows what it was.
    @task.bash(cwd=PROJECT, retries=2)
    def build():
        return "graft build --strict --wait 30m || [ $? -eq 3 ]"

    @task.bash(cwd=PROJECT)
    def publish():
        return "./publish.sh s3://shop-lineage/site"

    # For the extractors and sensors of graft_airflow: docs/airflow.md.
    @task.bash(cwd=PROJECT)
    def airflow_lineage():
        return "graft export airflow-lineage --out /opt/airflow/graft-lineage.json"

    # What the runs of the last days did, under their own ids; each event is sent once.
    @task.bash(cwd=PROJECT)
    def airflow_events():
        return "graft export openlineage --airflow --since 3d --send"

    # Fails if a source of graft.yml is behind.
    @task.bash(cwd=PROJECT)
    def freshness():
        return "graft check --only freshness --max-age 26h --fail-on warning"

    @task.bash(cwd=PROJECT)
    def doctor():
        return "graft doctor"

    dbt_docs() >> build() >> [publish(), airflow_lineage(), airflow_events(), freshness(), doctor()]


lineage()
