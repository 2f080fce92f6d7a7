"""Recipes for more or fewer people."""

from fractions import Fraction

from pantry.errors import PantryError
from pantry.recipes.book import Ingredient, Recipe


def scale_recipe(recipe, people):
    """The recipe for so many people."""
    if people < 1:
        raise PantryError('a recipe is for one at least')
    factor = Fraction(people, recipe.serves)
    ingredients = tuple(
        Ingredient(each.name, each.amount.times(factor)) for each in recipe.ingredients
    )
    return Recipe(recipe.name, people, ingredients, recipe.tags)
