# expect: ['a', 'c', 'b', 'd', 'e'] 11
import heapq

roads = {"a": {"b": 7, "c": 3}, "b": {"d": 2}, "c": {"b": 1, "d": 8},
         "d": {"e": 5}, "e": {}}


def shortest(start, goal):
    heap = [(0, start, [start])]
    seen = set()
    while heap:
        cost, town, path = heapq.heappop(heap)
        if town == goal:
            return path, cost
        if town in seen:
            continue
        seen.add(town)
        for following, length in roads[town].items():
            heapq.heappush(heap, (cost + length, following,
                                  path + [following]))
    return None, None


print(*shortest("a", "e"))
