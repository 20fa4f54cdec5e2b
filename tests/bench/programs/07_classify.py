# expect: score 1.0
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

rng = np.random.default_rng(5)
points = np.vstack([rng.normal(c, 0.4, (40, 2)) for c in ((0, 0), (4, 4))])
labels = np.repeat([0, 1], 40)
a, b, c, d = train_test_split(points, labels, random_state=1)
print("score", make_pipeline(StandardScaler(), SVC()).fit(a, c).score(b, d))
