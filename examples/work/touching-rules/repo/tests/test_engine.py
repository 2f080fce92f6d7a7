import unittest

from desk import Ticket, parse, route

RULES = parse(
    """
rule refunds
when subject has "refund"
then assign billing, tag money

rule spam
when tags is "spam"
then assign nobody
stop

rule waiting
when age > 48
then raise 2, tag late
"""
)


class Route(unittest.TestCase):
    def test_nothing_holds(self):
        outcome = route(RULES, Ticket(priority=1, tags=("new",)))
        self.assertEqual((outcome.team, outcome.tags, outcome.priority, outcome.rules), ("", ["new"], 1, []))

    def test_all_that_hold(self):
        outcome = route(RULES, Ticket(subject="Refund", age=50, tags=("late",)))
        self.assertEqual((outcome.team, outcome.tags, outcome.priority), ("billing", ["late", "money"], 2))
        self.assertEqual(outcome.rules, ["refunds", "waiting"])

    def test_stop(self):
        outcome = route(RULES, Ticket(subject="refund", age=50, tags=("spam",)))
        self.assertEqual((outcome.team, outcome.rules), ("nobody", ["refunds", "spam"]))

    def test_the_highest_priority(self):
        self.assertEqual(route(RULES, Ticket(age=50, priority=4)).priority, 5)
        self.assertEqual(route(RULES, Ticket(age=50, priority=9)).priority, 9)

    def test_rules_see_the_ticket_as_it_came(self):
        rules = parse('rule a when age > 1 then tag x rule b when tags is "x" then assign b')
        self.assertEqual(route(rules, Ticket(age=2)).rules, ["a"])
