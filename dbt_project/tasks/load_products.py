"""Fill ShopDW.dbo.products from the CRM's price list, with the shop's own category codes.

SQL Server's agent runs it. The demo has no SQL Server: what it did in two nights stands in
logs/shop_lineage.xml.
"""

import os
from datetime import date

import pandas as pd
import pyodbc

# The CRM's codes, and ours.
CATEGORIES = {"S": "STAT", "H": "HOME", "G": "GIFT"}
COLUMNS = ["product_id", "product_name", "category_code", "supplier_id", "purchase_price"]


def read_price_list(connection: pyodbc.Connection, day: date) -> pd.DataFrame:
    """The prices that are valid on a day."""
    query = f"""
        SELECT ProductNo AS product_id, Title AS product_name, CategoryCode,
               SupplierNo AS supplier_id, Price AS purchase_price
        FROM Crm.dbo.PriceList
        WHERE ValidFrom <= '{day:%Y-%m-%d}' AND Price < 100
    """
    return pd.read_sql(query, connection)


def with_our_categories(prices: pd.DataFrame) -> pd.DataFrame:
    """Prices with our category codes instead of the CRM's."""
    products = prices.assign(category_code=prices["CategoryCode"].map(CATEGORIES))
    return products[COLUMNS]


def main() -> None:
    """Insert what is on the list, then add the freight of suppliers abroad."""
    with pyodbc.connect(os.environ["SHOP_DW"]) as connection:
        products = with_our_categories(read_price_list(connection, date.today()))
        cursor = connection.cursor()
        cursor.executemany(
            f"INSERT INTO ShopDW.dbo.products ({', '.join(COLUMNS)}) VALUES (?, ?, ?, ?, ?)",
            products.values.tolist(),
        )
        cursor.execute("""
            UPDATE p
            SET p.purchase_price = p.purchase_price * 1.02
            FROM ShopDW.dbo.products AS p
            JOIN ShopDW.dbo.suppliers AS s ON s.supplier_id = p.supplier_id
            WHERE s.country <> 'NL'
        """)


if __name__ == "__main__":
    main()
