import unittest

from desk import Ticket
from tests.helpers import condition, there_and_back


class Holds(unittest.TestCase):
    def check(self, ticket, conditions):
        for text, expected in conditions.items():
            with self.subTest(text):
                self.assertIs(condition(text).holds(ticket), expected)

    def test_numbers(self):
        self.check(
            Ticket(age=5),
            {
                "age > 4": True,
                "age > 5": False,
                "age >= 5": True,
                "age < 5": False,
                "age <= 5": True,
                "age = 5": True,
                "age != 5": False,
                "replies = 0": True,
            },
        )

    def test_texts(self):
        self.check(
            Ticket(subject="My Refund", language="DE"),
            {
                'subject has "refund"': True,
                'subject has "fund x"': False,
                'subject is "my refund"': True,
                'subject is "refund"': False,
                'language is "de"': True,
            },
        )

    def test_one_tag_is_enough(self):
        ticket = Ticket(tags=("vip", "Old"))
        self.check(ticket, {'tags is "old"': True, 'tags has "vi"': True, 'tags is "vi"': False})
        self.check(Ticket(), {'tags has ""': False})

    def test_together(self):
        self.check(
            Ticket(age=5, priority=1),
            {
                "age > 4 and priority > 1": False,
                "age > 4 or priority > 1": True,
                "not age > 4 or priority = 1": True,
                "not (age > 4 or priority > 1)": False,
            },
        )


class Show(unittest.TestCase):
    def test_there_and_back(self):
        for text in [
            "age >= 3",
            r'subject has "a \"b\" \\"',
            'tags is "vip"',
            "not age > 1",
            "not not age > 1",
            "not (age > 1 or age > 2)",
            "age > 1 and (age > 2 or age > 3)",
            "age > 1 or age > 2 and age > 3",
            "(age > 1 and age > 2) and age > 3",
        ]:
            with self.subTest(text):
                self.assertEqual(there_and_back(text), text)

    def test_brackets_without_need_are_left_out(self):
        self.assertEqual(there_and_back("((age > 1) and (not (age > 2)))"), "age > 1 and not age > 2")
