import numpy as np
from scipy import optimize, stats

a = [12.1, 11.8, 12.5, 12.9, 11.4]
b = [13.0, 12.7, 13.4, 13.9, 12.2]
result = stats.ttest_ind(a, b)
print(f"t = {result.statistic:.3f}, p = {result.pvalue:.4f}")
print(stats.pearsonr(a, b).statistic.round(4), stats.norm.ppf(0.975))
x = np.linspace(0, 4, 20)
params, _ = optimize.curve_fit(lambda x, k, c: k * x + c, x, 3 * x + 1)
print(params.round(6))
