"""Recipes, plans of meals and shopping lists."""
