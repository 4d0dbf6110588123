-- what customers owe
SELECT c.customer_id, c.email, i.amount + i.vat AS due, i.due_on
FROM dbo.invoices i
JOIN dbo.customers c ON c.customer_id = i.customer_id
WHERE i.paid_on IS NULL
