import unittest
from datetime import date

from pantry.amounts import parse_amount
from pantry.errors import PantryError
from pantry.recipes import read_book
from pantry.shopping import Item, list_items, show_items

BOOK = read_book('Soup, for 4\n  200 g lentils\n  1 l water\nToast, for 1\n  2 slices of bread\n')


class Items(unittest.TestCase):
    def test_items_come_by_date(self):
        plan = {date(2025, 3, 4): 'Soup', date(2025, 3, 3): 'Toast'}
        self.assertEqual(list_items(plan, BOOK, 2), [
            Item('slices of bread', parse_amount('4')),
            Item('lentils', parse_amount('100', 'g')),
            Item('water', parse_amount('0.5', 'l')),
        ])

    def test_a_recipe_that_is_missing(self):
        with self.assertRaises(PantryError):
            list_items({date(2025, 3, 3): 'Stew'}, BOOK, 2)


class Show(unittest.TestCase):
    def test_amounts_stand_in_a_column(self):
        items = [Item('lentils', parse_amount('100', 'g')), Item('eggs', parse_amount('6'))]
        self.assertEqual(show_items(items), '100 g  lentils\n    6  eggs\n')

    def test_nothing(self):
        self.assertEqual(show_items([]), '')
