"""Which recipe is cooked on which date."""

from pantry.plan.dates import list_dates, read_date
from pantry.plan.lines import read_plan, show_plan

__all__ = ['list_dates', 'read_date', 'read_plan', 'show_plan']
