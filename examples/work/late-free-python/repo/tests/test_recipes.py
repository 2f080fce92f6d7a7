import unittest
from fractions import Fraction

from pantry.amounts import Amount
from pantry.errors import PantryError
from pantry.recipes import (
    Ingredient,
    choose_tagged,
    count_tags,
    find_recipe,
    read_book,
    scale_recipe,
)

BOOK = """
Lentil soup, for 4, quick, winter
  250 g lentils
  1.5 l water
  2 red onions

Toast, for 1
  2 l
"""


class Book(unittest.TestCase):
    def test_recipes_are_read(self):
        soup, toast = read_book(BOOK)
        self.assertEqual((soup.name, soup.serves, soup.tags), ('Lentil soup', 4, {'quick', 'winter'}))
        self.assertEqual(soup.ingredients[1], Ingredient('water', Amount(Fraction(3, 2), 'l')))
        self.assertEqual(soup.ingredients[2], Ingredient('red onions', Amount(Fraction(2))))
        self.assertEqual((toast.tags, toast.ingredients), (set(), (Ingredient('l', Amount(Fraction(2))),)))

    def test_recipes_are_found(self):
        recipes = read_book(BOOK)
        self.assertEqual(find_recipe(recipes, 'Toast'), recipes[1])
        with self.assertRaises(PantryError):
            find_recipe(recipes, 'toast')

    def test_faults_name_their_line(self):
        for text, line in [
            ('  2 onions', 1),
            ('\nSoup', 2),
            ('Soup, for 0', 1),
            ('Soup, for 2\n  some salt', 2),
            ('Soup, for 2\n  3', 2),
        ]:
            with self.subTest(text=text), self.assertRaises(PantryError) as caught:
                read_book(text)
            self.assertEqual(caught.exception.line, line)

    def test_two_of_a_name(self):
        with self.assertRaises(PantryError):
            read_book('Soup, for 2\nSoup, for 4\n')


class Scale(unittest.TestCase):
    def test_more_people(self):
        soup = scale_recipe(read_book(BOOK)[0], 6)
        self.assertEqual((soup.serves, soup.ingredients[0].amount), (6, Amount(Fraction(375), 'g')))

    def test_nobody(self):
        with self.assertRaises(PantryError):
            scale_recipe(read_book(BOOK)[0], 0)


class Tags(unittest.TestCase):
    recipes = read_book('Soup, for 4, winter, quick\nToast, for 1, quick\nRice, for 2\n')

    def test_tags_are_counted(self):
        self.assertEqual(list(count_tags(self.recipes).items()), [('quick', 2), ('winter', 1)])

    def test_recipes_of_a_tag(self):
        self.assertEqual([each.name for each in choose_tagged(self.recipes, 'quick')], ['Soup', 'Toast'])
        with self.assertRaises(PantryError):
            choose_tagged(self.recipes, 'summer')
