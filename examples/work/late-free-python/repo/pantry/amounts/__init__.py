"""Amounts with units."""

from pantry.amounts.amount import Amount, parse_amount
from pantry.amounts.units import FAMILIES, family_of

__all__ = ['FAMILIES', 'Amount', 'family_of', 'parse_amount']
