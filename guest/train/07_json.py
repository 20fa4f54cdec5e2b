import json

orders = json.loads(
    '[{"id": 1, "items": [{"sku": "a", "n": 2, "price": 9.5}]},'
    ' {"id": 2, "items": [{"sku": "b", "n": 1, "price": 20}], "note": null}]'
)
for order in orders:
    order["total"] = sum(item["n"] * item["price"] for item in order["items"])
print(json.dumps(orders, indent=2, sort_keys=True))
