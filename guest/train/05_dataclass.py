from dataclasses import asdict, dataclass, field
from enum import Enum


class Level(Enum):
    LOW = 1
    HIGH = 2


@dataclass(order=True)
class Task:
    title: str
    level: Level = field(default=Level.LOW, compare=False)
    tags: list[str] = field(default_factory=list, compare=False)


tasks = [Task("write"), Task("test", Level.HIGH, ["ci"])]
print(sorted(tasks))
print(tasks[0] == Task("write"))
asdict(tasks[1])
