# lineage
# stage.people_masked.person <- dbo.customers.customer_id: transformation masked hash
# stage.people_masked.birth_year <- dbo.customers.birth_date: transformation
# stage.people_masked = dbo.customers: country
# stage.people_masked.mail_domain <- dbo.customers.email: transformation
# stage.people_masked.* <- dbo.customers.is_active: filter
import hashlib

import pandas as pd
import pyodbc
from sqlalchemy import create_engine

SALT = "s3"


def pseudonym(value):
    return hashlib.md5((SALT + str(value)).encode()).hexdigest()[:16]


conn = pyodbc.connect("DSN=crm")
people = pd.read_sql("select customer_id, email, birth_date, country, is_active from dbo.customers", conn)
people = people.loc[people.is_active == 1].copy()
people.insert(0, "person", people["customer_id"].map(pseudonym))
people["birth_year"] = pd.to_datetime(people["birth_date"]).dt.year
people["mail_domain"] = people["email"].str.split("@").str[-1]
people.drop(["customer_id", "email", "birth_date", "is_active"], axis=1, inplace=True)
people.to_sql("people_masked", create_engine("mssql+pyodbc://lab"), schema="stage", if_exists="replace", index=False)
