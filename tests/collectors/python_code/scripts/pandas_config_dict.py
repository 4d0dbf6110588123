# lineage
# dw.dim_supplier = dbo.suppliers: supplier_id as supplier_key, name as supplier_name
# dw.dim_department = dbo.departments: department as department_key, budget as budget_amount
import pandas as pd
from sqlalchemy import create_engine

CONFIG = {
    "dim_supplier": {
        "source": "dbo.suppliers",
        "columns": {"supplier_id": "supplier_key", "name": "supplier_name"},
    },
    "dim_department": {
        "source": "dbo.departments",
        "columns": {"department": "department_key", "budget": "budget_amount"},
    },
}


def load(target, conf, engine):
    cols = ", ".join(conf["columns"].keys())
    df = pd.read_sql("SELECT {} FROM {}".format(cols, conf["source"]), engine)
    df.rename(columns=conf["columns"], inplace=True)
    df.to_sql(target, engine, schema="dw", if_exists="append", index=False)


engine = create_engine("mssql+pyodbc://shop")
for name, conf in CONFIG.items():
    load(name, conf, engine)
