# lineage
# dw.staff = dbo.employees: employee_id, name
# dw.staff = dbo.departments: cost_centre
# dw.staff.yearly <- dbo.employees.salary: transformation
# dw.staff.* <- dbo.employees.department, dbo.departments.department: join
import logging

from sqlalchemy import create_engine

from steps.extract import extract
from steps.transform import transform

log = logging.getLogger(__name__)


def load(df, engine):
    log.info("%s rows", len(df))
    df.to_sql("staff", engine, schema="dw", if_exists="append", index=False)


def main():
    engine = create_engine("mssql+pyodbc://hr")
    load(transform(extract(engine)), engine)


if __name__ == "__main__":
    main()
