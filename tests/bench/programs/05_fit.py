# expect: [2.0, 3.0, -1.0]
import numpy as np
import statsmodels.api as sm

rng = np.random.default_rng(3)
inputs = sm.add_constant(rng.normal(size=(80, 2)))
target = inputs @ [2.0, 3.0, -1.0] + rng.normal(scale=0.001, size=80)
model = sm.OLS(target, inputs).fit()
print(model.params.round(1).tolist())
print(model.summary().tables[0])
