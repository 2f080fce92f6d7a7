"""Dates of a plan."""

from datetime import date, timedelta

from pantry.errors import PantryError


def read_date(text):
    """A date such as 2025-03-03."""
    try:
        found = date.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.isoformat() != text:
        raise PantryError(f'{text!r} is not a date such as 2025-03-03')
    return found


def list_dates(start, days):
    """So many dates from start on."""
    return [start + timedelta(days=number) for number in range(days)]
