"""What is wrong with a text or a value."""


class PantryError(ValueError):
    """A text that cannot be read, or a value that makes no sense."""

    def __init__(self, message, line=None):
        super().__init__(message if line is None else f'line {line}: {message}')
        self.line = line
