# expect: rent 2440.00
import collections
import csv
import io

text = io.StringIO()
writer = csv.writer(text)
writer.writerow(["day", "account", "amount"])
for day in range(1, 61):
    account = ("rent", "food", "travel")[day % 3]
    writer.writerow([f"2026-03-{day % 28 + 1:02}", account, f"{day * 2 + 59}"])
text.seek(0)
totals = collections.defaultdict(float)
for row in csv.DictReader(text):
    totals[row["account"]] += float(row["amount"])
for account, total in sorted(totals.items(), key=lambda kv: -kv[1]):
    print(f"{account} {total:.2f}")
