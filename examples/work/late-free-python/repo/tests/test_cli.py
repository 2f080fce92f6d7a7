import io
import tempfile
import unittest
from pathlib import Path

from pantry.cli import main

BOOK = 'Soup, for 4, winter, quick\n  200 g lentils\nToast, for 1\n  2 slices of bread\n'


class Commands(unittest.TestCase):
    def run_main(self, command, plan='', *args):
        with tempfile.TemporaryDirectory() as folder:
            book, planned = Path(folder, 'book.txt'), Path(folder, 'plan.txt')
            book.write_text(BOOK, encoding='utf-8')
            planned.write_text(plan, encoding='utf-8')
            paths = [str(book)] if command == 'book' else [str(book), str(planned)]
            out, err = io.StringIO(), io.StringIO()
            return main([command, *paths, *args], out, err), out.getvalue(), err.getvalue()

    def test_book(self):
        self.assertEqual(self.run_main('book'), (0, 'Soup (for 4, quick, winter)\nToast (for 1)\n', ''))

    def test_plan(self):
        code, out, _ = self.run_main('plan', '2025-03-04 Soup\n2025-03-03 Toast\n')
        self.assertEqual((code, out), (0, '2025-03-03 Toast\n2025-03-04 Soup\n'))

    def test_shop(self):
        code, out, _ = self.run_main('shop', '2025-03-04 Soup\n', '6')
        self.assertEqual((code, out), (0, '300 g  lentils\n'))

    def test_faults(self):
        self.assertEqual(self.run_main('plan', '2025-03-04 Stew\n')[0], 1)
        self.assertEqual(self.run_main('shop', '', 'many')[0], 2)
        self.assertEqual(self.run_main('cook')[0], 2)
