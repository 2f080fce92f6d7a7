import unittest
from datetime import date

from pantry.errors import PantryError
from pantry.plan import list_dates, read_date, read_plan, show_plan


class Dates(unittest.TestCase):
    def test_dates_are_read(self):
        self.assertEqual(read_date('2025-03-03'), date(2025, 3, 3))
        for text in ['', '20250303', '2025-02-30', '3.3.2025']:
            with self.subTest(text=text), self.assertRaises(PantryError):
                read_date(text)

    def test_dates_in_a_row(self):
        self.assertEqual(list_dates(date(2025, 2, 28), 2), [date(2025, 2, 28), date(2025, 3, 1)])
        self.assertEqual(list_dates(date(2025, 2, 28), 0), [])


class Lines(unittest.TestCase):
    def test_there_and_back(self):
        plan = read_plan('# March\n2025-03-04 Toast\n\n2025-03-03  Lentil soup \n')
        self.assertEqual(plan, {date(2025, 3, 3): 'Lentil soup', date(2025, 3, 4): 'Toast'})
        self.assertEqual(show_plan(plan), '2025-03-03 Lentil soup\n2025-03-04 Toast\n')

    def test_faults_name_their_line(self):
        for text, line in [('2025-03-03', 1), ('\nMonday Toast', 2), ('2025-03-03 A\n2025-03-03 B', 2)]:
            with self.subTest(text=text), self.assertRaises(PantryError) as caught:
                read_plan(text)
            self.assertEqual(caught.exception.line, line)
