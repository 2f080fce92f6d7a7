"""Recipes by their tags."""

from pantry.errors import PantryError


def count_tags(recipes):
    """How many recipes each tag has, by the names of the tags."""
    counts = {}
    for recipe in recipes:
        for tag in recipe.tags:
            counts[tag] = counts.get(tag, 0) + 1
    return dict(sorted(counts.items()))


def choose_tagged(recipes, tag):
    """The recipes with a tag, in their order. A tag that no recipe has is a fault."""
    chosen = [recipe for recipe in recipes if tag in recipe.tags]
    if not chosen:
        raise PantryError(f'no recipe has the tag {tag!r}')
    return chosen
