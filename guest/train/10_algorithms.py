import heapq
import itertools
from collections import defaultdict, deque
from functools import lru_cache

graph = defaultdict(dict)
for a, b, cost in [("a", "b", 4), ("a", "c", 1), ("c", "b", 2), ("b", "d", 5)]:
    graph[a][b] = graph[b][a] = cost


def shortest(start):
    seen, heap = {}, [(0, start)]
    while heap:
        cost, node = heapq.heappop(heap)
        if node not in seen:
            seen[node] = cost
            for other, step in graph[node].items():
                heapq.heappush(heap, (cost + step, other))
    return seen


@lru_cache(maxsize=None)
def ways(n):
    return 1 if n < 2 else ways(n - 1) + ways(n - 2)


print(shortest("a"), ways(60))
print(list(itertools.permutations("abc", 2)), deque(range(5), maxlen=3))
print(sorted(graph.items(), key=lambda kv: (-len(kv[1]), kv[0])))
