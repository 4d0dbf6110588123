select
    product_id,
    product_name,
    category_code,
    supplier_id,
    purchase_price
from {{ source('erp', 'products') }}
