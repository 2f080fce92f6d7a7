import unittest

from spans import parse


class Read(unittest.TestCase):
    def test_one_unit(self):
        self.assertEqual([parse("90s"), parse("5m"), parse("2h"), parse("0s")], [90, 300, 7200, 0])

    def test_what_is_no_span(self):
        for text in ["", "5", "m", "-5m", "5x", "5 m", "1.5h"]:
            with self.subTest(text), self.assertRaises(ValueError):
                parse(text)
