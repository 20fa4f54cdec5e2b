import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(0)
x = rng.uniform(0, 10, size=(80, 1))
y = 2.5 * x[:, 0] + 4 + rng.normal(0, 0.5, size=80)
x_train, x_test, y_train, y_test = train_test_split(x, y, random_state=1)
model = LinearRegression().fit(x_train, y_train)
print(model.coef_.round(2), round(model.intercept_, 1))
print(f"error {mean_squared_error(y_test, model.predict(x_test)):.2f}")
