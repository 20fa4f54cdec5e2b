from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

start = date(2026, 2, 27)
for day in range(4):
    print((start + timedelta(days=day)).strftime("%a %d %b %Y"))
meeting = datetime(2026, 3, 29, 9, 30, tzinfo=ZoneInfo("Europe/Berlin"))
print(meeting.astimezone(timezone.utc).isoformat())
print(datetime.strptime("17/05/2026", "%d/%m/%Y") - datetime(2026, 1, 1))
