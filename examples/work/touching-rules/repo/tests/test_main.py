import io
import json
import pathlib
import tempfile
import unittest

from desk.__main__ import main

RULES = 'rule a\nwhen (age > 3)\nthen assign first , tag x\n\n\nrule b when not priority = 0 then raise 1 stop\n'


class Main(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.rules = self.write("rules.txt", RULES)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def run_main(self, *args):
        out = io.StringIO()
        code = main(list(args), out)
        return code, out.getvalue()

    def test_check(self):
        self.assertEqual(self.run_main("check", self.rules), (0, "2 rules\n"))
        bad = self.write("bad.txt", "rule a\nwhen\n")
        code, said = self.run_main("check", bad)
        self.assertEqual(code, 1)
        self.assertIn("line 3", said)

    def test_show(self):
        want = "rule a\nwhen age > 3\nthen assign first, tag x\n\nrule b\nwhen not priority = 0\nthen raise 1\nstop\n"
        self.assertEqual(self.run_main("show", self.rules), (0, want))

    def test_run(self):
        tickets = self.write("tickets.json", json.dumps([{"age": 9}, {"priority": 1, "tags": ["new"]}, {}]))
        code, said = self.run_main("run", self.rules, tickets)
        self.assertEqual(code, 0)
        self.assertEqual(
            said.splitlines(),
            [
                "1: team first, priority 0, tags x, rules a",
                "2: team -, priority 2, tags new, rules b",
                "3: team -, priority 0, tags -, rules -",
            ],
        )

    def test_bad_tickets(self):
        for entry in [1, {"colour": "red"}, {"age": -1}, {"age": True}, {"subject": 3}, {"tags": "x"}]:
            with self.subTest(entry):
                code, said = self.run_main("run", self.rules, self.write("tickets.json", json.dumps([entry])))
                self.assertEqual(code, 1)
                self.assertTrue(said.startswith("desk: "))

    def test_usage(self):
        for args in [[], ["check"], ["run", self.rules], ["show", self.rules, "more"], ["dance", self.rules]]:
            self.assertEqual(self.run_main(*args)[0], 2)
