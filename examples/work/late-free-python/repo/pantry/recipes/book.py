"""Recipes, and the text that they are read from."""

import re
from dataclasses import dataclass, field

from pantry.amounts import FAMILIES, Amount, parse_amount
from pantry.errors import PantryError

_HEAD = re.compile(r'(?P<name>[^,]+), for (?P<serves>[1-9]\d*)(?P<tags>(, [^,]+)*)')


@dataclass(frozen=True)
class Ingredient:
    """So much of something."""

    name: str
    amount: Amount


@dataclass(frozen=True)
class Recipe:
    """What is cooked of what, and for how many people."""

    name: str
    serves: int
    ingredients: tuple[Ingredient, ...] = ()
    tags: frozenset[str] = field(default_factory=frozenset)


def read_book(text):
    """The recipes of a text, in their order."""
    recipes = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            if line[0] != ' ':
                recipes.append(_read_head(line))
                continue
            if not recipes:
                raise PantryError('an ingredient needs a recipe above it')
            last = recipes[-1]
            ingredients = (*last.ingredients, _read_ingredient(line.split()))
            recipes[-1] = Recipe(last.name, last.serves, ingredients, last.tags)
        except PantryError as fault:
            raise PantryError(str(fault), number) from None
    _refuse_doubles(recipes)
    return recipes


def find_recipe(recipes, name):
    """The recipe of a name."""
    for recipe in recipes:
        if recipe.name == name:
            return recipe
    raise PantryError(f'there is no recipe {name!r}')


def _read_head(line):
    head = _HEAD.fullmatch(line.rstrip())
    if head is None:
        raise PantryError('a recipe begins with its name and for how many it is')
    tags = frozenset(tag.strip() for tag in head['tags'].split(',') if tag.strip())
    return Recipe(head['name'], int(head['serves']), (), tags)


def _read_ingredient(words):
    number, *rest = words
    unit = ''
    if len(rest) > 1 and any(rest[0] in units for units in FAMILIES.values()):
        unit, *rest = rest
    if not rest:
        raise PantryError('an ingredient has an amount and a name')
    return Ingredient(' '.join(rest), parse_amount(number, unit))


def _refuse_doubles(recipes):
    seen = set()
    for recipe in recipes:
        if recipe.name in seen:
            raise PantryError(f'there are two recipes {recipe.name!r}')
        seen.add(recipe.name)
