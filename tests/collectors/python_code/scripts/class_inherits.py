# lineage
# dw.lead_scores = crm.leads: lead_id
# dw.lead_scores.score_pct <- crm.leads.score: transformation
# dw.employee_pay = dbo.employees: employee_id
# dw.employee_pay.salary_k <- dbo.employees.salary: transformation
from abc import ABC, abstractmethod

import pandas as pd
from sqlalchemy import create_engine


class Job(ABC):
    query: str
    table: str

    def __init__(self, engine):
        self.engine = engine

    @abstractmethod
    def transform(self, df):
        ...

    def run(self):
        df = pd.read_sql(self.query, self.engine)
        df = self.transform(df)
        df.to_sql(self.table, self.engine, schema="dw", if_exists="append", index=False)


class Leads(Job):
    query = "SELECT lead_id, score FROM crm.leads"
    table = "lead_scores"

    def transform(self, df):
        df["score_pct"] = df["score"] / 100
        return df[["lead_id", "score_pct"]]


class Pay(Job):
    query = "SELECT employee_id, salary FROM dbo.employees"
    table = "employee_pay"

    def transform(self, df):
        df["salary_k"] = df["salary"] / 1000
        del df["salary"]
        return df


engine = create_engine("mssql+pyodbc://hr")
for job in (Leads(engine), Pay(engine)):
    job.run()
