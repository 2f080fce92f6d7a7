"""Faults of the files that people write."""


class RuleError(ValueError):
    """A fault in a file of rules, with the line where it is."""

    def __init__(self, line, what):
        super().__init__(f"line {line}: {what}")
        self.line = line
        self.what = what


class TicketError(ValueError):
    """A fault in a file of tickets."""
