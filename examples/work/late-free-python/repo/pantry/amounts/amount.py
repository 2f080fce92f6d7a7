"""Amounts: a number of a unit."""

from dataclasses import dataclass
from fractions import Fraction

from pantry.amounts.units import convert, family_of
from pantry.errors import PantryError


@dataclass(frozen=True)
class Amount:
    """A number of a unit. Pieces have the empty unit."""

    number: Fraction
    unit: str = ''

    def fits(self, other):
        """Tells whether the two can be added."""
        return family_of(self.unit) == family_of(other.unit)

    def to(self, unit):
        """The same amount in another unit."""
        return Amount(convert(self.number, self.unit, unit), unit)

    def plus(self, other):
        """The sum, in the unit of this amount."""
        return Amount(self.number + other.to(self.unit).number, self.unit)

    def minus(self, other):
        """The difference, in the unit of this amount. It can be less than nothing."""
        return Amount(self.number - other.to(self.unit).number, self.unit)

    def times(self, factor):
        """So many times the amount."""
        return Amount(self.number * factor, self.unit)

    def __str__(self):
        number = f'{float(self.number):.2f}'.rstrip('0').rstrip('.')
        return f'{number} {self.unit}'.rstrip()


def parse_amount(number, unit=''):
    """An amount of a text such as 250 or 1.5, and a unit."""
    digits = number.replace('.', '', 1)
    if not (digits.isascii() and digits.isdigit()):
        raise PantryError(f'{number!r} is not a number')
    family_of(unit)
    return Amount(Fraction(number), unit)
