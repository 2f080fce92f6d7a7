"""The clauses that conditions are made of.

Each has holds(ticket), which says whether it holds for a ticket, and show(), which writes it as
the parser reads it. Its rank says how tightly it binds: what binds less tightly than the clause
around it is written in brackets.
"""

import operator
from dataclasses import dataclass

from .tokens import quote

RANK_OR, RANK_AND, RANK_NOT, RANK_TEST = range(4)

COMPARISONS = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True)
class Compare:
    """A number against a number."""

    field: str
    sign: str
    number: int

    rank = RANK_TEST

    def holds(self, ticket):
        return COMPARISONS[self.sign](getattr(ticket, self.field), self.number)

    def show(self):
        return f"{self.field} {self.sign} {self.number}"


@dataclass(frozen=True)
class Has:
    """A text that contains another one."""

    field: str
    text: str

    rank = RANK_TEST

    def holds(self, ticket):
        part = self.text.casefold()
        return any(part in text.casefold() for text in ticket.texts(self.field))

    def show(self):
        return f"{self.field} has {quote(self.text)}"


@dataclass(frozen=True)
class Is:
    """A text that is the same as another one."""

    field: str
    text: str

    rank = RANK_TEST

    def holds(self, ticket):
        return any(text.casefold() == self.text.casefold() for text in ticket.texts(self.field))

    def show(self):
        return f"{self.field} is {quote(self.text)}"


@dataclass(frozen=True)
class Not:
    """The opposite of a clause."""

    clause: object

    rank = RANK_NOT

    def holds(self, ticket):
        return not self.clause.holds(ticket)

    def show(self):
        return "not " + within(self.clause, self.rank)


@dataclass(frozen=True)
class All:
    """Several clauses that must all hold."""

    clauses: tuple

    rank = RANK_AND

    def holds(self, ticket):
        return all(clause.holds(ticket) for clause in self.clauses)

    def show(self):
        return " and ".join(within(clause, self.rank + 1) for clause in self.clauses)


@dataclass(frozen=True)
class Any:
    """Several clauses of which one must hold."""

    clauses: tuple

    rank = RANK_OR

    def holds(self, ticket):
        return any(clause.holds(ticket) for clause in self.clauses)

    def show(self):
        return " or ".join(within(clause, self.rank + 1) for clause in self.clauses)


def within(clause, rank):
    """Writes a clause within another one, in brackets where it binds less tightly."""
    return clause.show() if clause.rank >= rank else f"({clause.show()})"
