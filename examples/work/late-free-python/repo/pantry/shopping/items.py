"""Items of a shopping list."""

from dataclasses import dataclass

from pantry.amounts import Amount
from pantry.recipes import find_recipe, scale_recipe


@dataclass(frozen=True)
class Item:
    """So much of something that is to be bought, or that is there."""

    name: str
    amount: Amount


def list_items(plan, recipes, people):
    """What the recipes of a plan need for so many people, one behind the other."""
    items = []
    for when in sorted(plan):
        recipe = scale_recipe(find_recipe(recipes, plan[when]), people)
        items += [Item(each.name, each.amount) for each in recipe.ingredients]
    return items
