"""Units, and which of them measure the same."""

from fractions import Fraction

from pantry.errors import PantryError

# Of each family its units, with how much of the family's smallest unit they are.
FAMILIES = {
    'weight': {'g': Fraction(1), 'kg': Fraction(1000)},
    'volume': {'ml': Fraction(1), 'tsp': Fraction(5), 'tbsp': Fraction(15), 'l': Fraction(1000)},
    'pieces': {'': Fraction(1)},
}


def family_of(unit):
    """The name of the family that a unit is of."""
    for name, units in FAMILIES.items():
        if unit in units:
            return name
    raise PantryError(f'{unit!r} is not a unit')


def convert(number, unit, other):
    """How much a number of a unit is in another unit of its family."""
    family = family_of(unit)
    if family_of(other) != family:
        raise PantryError(f'{unit!r} cannot be given in {other!r}')
    units = FAMILIES[family]
    return number * units[unit] / units[other]
