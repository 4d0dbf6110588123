# lineage
# exists dw.shipment(shipment_id, carrier, days_late, updated_by)
# dw.shipment = erp.shipments: carrier
# dw.shipment.days_late <- erp.shipments.(shipped_at, delivered_at): transformation
# dw.shipment.updated_by <- nothing
# dw.shipment.* <- erp.shipments.shipment_id: filter
# dw.shipment.* <- erp.shipments.weight_kg: filter
import pyodbc


def late(shipped, delivered):
    return (delivered - shipped).days - 3


def main():
    cnxn = pyodbc.connect("DSN=erp")
    reader = cnxn.cursor()
    reader.execute("SELECT shipment_id, carrier, shipped_at, delivered_at FROM erp.shipments WHERE weight_kg > 10")
    todo = []
    for shipment_id, carrier, shipped, delivered in reader:
        todo.append({"id": shipment_id, "carrier": carrier, "late": late(shipped, delivered)})

    writer = cnxn.cursor()
    for item in todo:
        writer.execute(
            "UPDATE dw.shipment SET carrier = ?, days_late = ?, updated_by = 'job' WHERE shipment_id = ?",
            item["carrier"], item["late"], item["id"],
        )
    cnxn.commit()


main()
