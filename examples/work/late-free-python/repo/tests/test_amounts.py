import unittest
from fractions import Fraction

from pantry.amounts import Amount, family_of, parse_amount
from pantry.errors import PantryError


class Parse(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(parse_amount('250', 'g'), Amount(Fraction(250), 'g'))
        self.assertEqual(parse_amount('1.5'), Amount(Fraction(3, 2)))

    def test_what_is_no_amount(self):
        for number, unit in [('', 'g'), ('-1', 'g'), ('1.5.1', ''), ('one', ''), ('.', ''), ('2', 'oz')]:
            with self.subTest(number=number, unit=unit), self.assertRaises(PantryError):
                parse_amount(number, unit)


class Amounts(unittest.TestCase):
    def test_units_of_a_family_are_added(self):
        kilo, grams = parse_amount('1', 'kg'), parse_amount('250', 'g')
        self.assertEqual(kilo.plus(grams), Amount(Fraction(5, 4), 'kg'))
        self.assertEqual(grams.plus(kilo), Amount(Fraction(1250), 'g'))
        self.assertEqual(grams.minus(kilo), Amount(Fraction(-750), 'g'))

    def test_units_of_two_families_are_not(self):
        grams, spoons = parse_amount('1', 'g'), parse_amount('2', 'tsp')
        self.assertFalse(grams.fits(spoons))
        self.assertTrue(spoons.fits(parse_amount('1', 'l')))
        with self.assertRaises(PantryError):
            grams.plus(spoons)

    def test_families(self):
        self.assertEqual(family_of('tbsp'), 'volume')
        self.assertEqual(family_of(''), 'pieces')

    def test_written(self):
        self.assertEqual(str(Amount(Fraction(3, 2), 'l')), '1.5 l')
        self.assertEqual(str(Amount(Fraction(100))), '100')
        self.assertEqual(str(Amount(Fraction(1, 3), 'kg')), '0.33 kg')
