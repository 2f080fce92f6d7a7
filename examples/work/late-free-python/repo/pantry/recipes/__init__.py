"""The book of recipes."""

from pantry.recipes.book import Ingredient, Recipe, find_recipe, read_book
from pantry.recipes.scale import scale_recipe
from pantry.recipes.tags import choose_tagged, count_tags

__all__ = [
    'Ingredient',
    'Recipe',
    'choose_tagged',
    'count_tags',
    'find_recipe',
    'read_book',
    'scale_recipe',
]
