"""The text of a plan. A plan is a dict with the name of a recipe for each date."""

from pantry.errors import PantryError
from pantry.plan.dates import read_date


def read_plan(text):
    """The plan of a text. Lines that are empty or begin with # say nothing."""
    plan = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split(maxsplit=1)
        if not words or line.startswith('#'):
            continue
        if len(words) < 2:
            raise PantryError('a line has a date and a recipe', number)
        try:
            when = read_date(words[0])
        except PantryError as fault:
            raise PantryError(str(fault), number) from None
        if when in plan:
            raise PantryError(f'{when} is planned already', number)
        plan[when] = words[1].strip()
    return plan


def show_plan(plan):
    """The text of a plan, by its dates."""
    return ''.join(f'{when} {plan[when]}\n' for when in sorted(plan))
