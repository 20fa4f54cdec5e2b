class Account:
    """A bank account."""

    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.balance += amount
        return self

    def __repr__(self):
        return f"Account({self.owner!r}, {self.balance})"


class Savings(Account):
    rate = 0.05

    @property
    def interest(self):
        return self.balance * self.rate


account = Savings("Ann").deposit(120).deposit(30)
print(account, account.interest, isinstance(account, Account))
try:
    account.deposit(-1)
except ValueError as error:
    print("refused:", error)
