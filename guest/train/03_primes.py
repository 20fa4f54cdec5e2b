def is_prime(n):
    """Return whether n is a prime number."""
    if n < 2:
        return False
    return all(n % d for d in range(2, int(n**0.5) + 1))


primes = [n for n in range(60) if is_prime(n)]
print(len(primes), sum(primes))
primes[-5:]
