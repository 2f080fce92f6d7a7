"""The commands."""

from pathlib import Path

from pantry.errors import PantryError
from pantry.plan import read_plan, show_plan
from pantry.recipes import choose_tagged, read_book
from pantry.shopping import list_items, show_items

USAGE = """usage:
  python3 -m pantry book BOOK [TAG]
  python3 -m pantry plan BOOK PLAN
  python3 -m pantry shop BOOK PLAN PEOPLE
"""


def main(args, out, err):
    """Does a command. Returns the exit code."""
    try:
        match args:
            case ['book', book]:
                out.write(_show_book(read_book(_read(book))))
            case ['book', book, tag]:
                out.write(_show_book(choose_tagged(read_book(_read(book)), tag)))
            case ['plan', book, plan]:
                recipes, planned = read_book(_read(book)), read_plan(_read(plan))
                list_items(planned, recipes, 1)  # each recipe of the plan is in the book
                out.write(show_plan(planned))
            case ['shop', book, plan, people] if people.isdecimal():
                recipes, planned = read_book(_read(book)), read_plan(_read(plan))
                out.write(show_items(list_items(planned, recipes, int(people))))
            case _:
                err.write(USAGE)
                return 2
    except (OSError, PantryError) as fault:
        err.write(f'{fault}\n')
        return 1
    return 0


def _read(path):
    return Path(path).read_text(encoding='utf-8')


def _show_book(recipes):
    lines = []
    for recipe in recipes:
        tags = ''.join(f', {tag}' for tag in sorted(recipe.tags))
        lines.append(f'{recipe.name} (for {recipe.serves}{tags})\n')
    return ''.join(lines)
