import unittest

from desk import RuleError, parse
from desk.actions import Assign, Raise, Tag
from desk.clauses import All, Any, Compare, Has, Is, Not
from tests.helpers import condition


class Rules(unittest.TestCase):
    def test_a_rule(self):
        rules = parse('rule refunds\nwhen subject has "refund"\nthen assign billing, tag money, raise 1\nstop\n')
        self.assertEqual(len(rules), 1)
        self.assertEqual(rules[0].name, "refunds")
        self.assertEqual(rules[0].condition, Has("subject", "refund"))
        self.assertEqual(rules[0].actions, (Assign("billing"), Tag("money"), Raise(1)))
        self.assertTrue(rules[0].stop)

    def test_several_rules(self):
        rules = parse("rule a when age > 1 then tag x\nrule b when age > 2 then tag y stop rule c when age > 3 then tag z")
        self.assertEqual([(rule.name, rule.stop) for rule in rules], [("a", False), ("b", True), ("c", False)])
        self.assertEqual(parse("# nothing\n"), [])

    def test_faults_name_their_line(self):
        for source, line in {
            "rule a\nthen tag x": 2,
            "rule a\nwhen colour is \"red\"\nthen tag x": 2,
            "rule a\nwhen age >\nthen tag x": 3,
            "rule a\nwhen age has 3\nthen tag x": 2,
            "rule a\nwhen subject > 3\nthen tag x": 2,
            "rule a\nwhen (age > 3\nthen tag x": 3,
            "rule a\nwhen age > 3\nthen dance": 3,
            "rule a\nwhen age > 3\nthen tag x,\n": 4,
            "rule a when age > 3 then tag x\nrule a when age > 4 then tag y": 2,
        }.items():
            with self.subTest(source), self.assertRaises(RuleError) as caught:
                parse(source)
            self.assertEqual(caught.exception.line, line)


class Conditions(unittest.TestCase):
    def test_tests(self):
        self.assertEqual(condition("age >= 12"), Compare("age", ">=", 12))
        self.assertEqual(condition('language is "de"'), Is("language", "de"))
        self.assertEqual(condition(r'tags has "a \"b\""'), Has("tags", 'a "b"'))

    def test_what_binds_tighter(self):
        one, two, three = (Compare("age", ">", number) for number in (1, 2, 3))
        self.assertEqual(condition("age > 1 or age > 2 and age > 3"), Any((one, All((two, three)))))
        self.assertEqual(condition("(age > 1 or age > 2) and age > 3"), All((Any((one, two)), three)))
        self.assertEqual(condition("not age > 1 and age > 2"), All((Not(one), two)))
        self.assertEqual(condition("not (age > 1 and age > 2)"), Not(All((one, two))))
