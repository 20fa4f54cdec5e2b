import base64
import hashlib
import uuid
from typing import NamedTuple, Optional


class Point(NamedTuple):
    x: float
    y: float = 0.0


def find(points: list[Point], x: float) -> Optional[Point]:
    return next((p for p in points if p.x == x), None)


points = [Point(1.0), Point(2.0, 3.5)]
print(find(points, 2.0), find(points, 9.0))
match points[1]:
    case Point(x=2.0, y=y):
        print("matched", y)
print(hashlib.sha256(b"abc").hexdigest()[:12], base64.b64encode(b"abc").decode())
print(len(str(uuid.uuid4())), bytes(range(4)).hex(), ord("é"), chr(8364))
