# expect: Lima 3
import dataclasses
import enum
import json


class Kind(enum.Enum):
    PORT = "port"
    CAPITAL = "capital"


@dataclasses.dataclass(frozen=True, order=True)
class City:
    name: str
    people: float
    kinds: tuple = ()

    def as_json(self):
        fields = dataclasses.asdict(self)
        fields["kinds"] = [kind.value for kind in self.kinds]
        return fields


cities = [City("Lima", 11.0, (Kind.CAPITAL,)), City("Bergen", 0.3, (Kind.PORT,)),
          City("Riga", 0.6, (Kind.PORT, Kind.CAPITAL))]
text = json.dumps([city.as_json() for city in sorted(cities)], indent=1)
back = json.loads(text)
print(max(back, key=lambda c: c["people"])["name"], len(back), len(text))
