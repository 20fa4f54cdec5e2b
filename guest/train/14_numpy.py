import numpy as np

matrix = np.arange(1, 10).reshape(3, 3)
print(matrix.sum(axis=0), matrix.mean(), (matrix @ matrix.T).trace())
print(matrix[matrix % 2 == 0], np.where(matrix > 5, 1, 0))
rng = np.random.default_rng(3)
sample = rng.normal(10, 2, size=1000)
print(sample.std().round(2), np.percentile(sample, [5, 95]).round(2))
np.linalg.solve(np.array([[3.0, 1], [1, 2]]), np.array([9.0, 8]))
