import unittest

from desk.errors import RuleError
from desk.tokens import cut, quote, unquote


class Cut(unittest.TestCase):
    def test_kinds_and_lines(self):
        found = [(token.kind, token.value, token.line) for token in cut('rule a # note\nwhen age >= 2 is "x"')]
        self.assertEqual(
            found,
            [
                ("word", "rule", 1),
                ("word", "a", 1),
                ("word", "when", 2),
                ("word", "age", 2),
                ("sign", ">=", 2),
                ("number", "2", 2),
                ("word", "is", 2),
                ("text", '"x"', 2),
                ("end", "", 2),
            ],
        )

    def test_what_is_no_token(self):
        for source in ["a\n;", 'a\n"open', 'a\n"x\\n"']:
            with self.subTest(source), self.assertRaises(RuleError) as caught:
                cut(source)
            self.assertEqual(caught.exception.line, 2)

    def test_quotes(self):
        for text in ["", "plain", 'a "b" c', "back\\slash", '\\"']:
            self.assertEqual(unquote(quote(text)), text)
