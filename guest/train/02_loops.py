total = 0
for number in range(1, 101):
    if number % 15 == 0:
        total += number
print("Sum of multiples of 15:", total)
squares = {n: n**2 for n in range(6)}
print(squares, [k for k, v in squares.items() if v > 4])
while total > 10:
    total //= 3
print(total)
