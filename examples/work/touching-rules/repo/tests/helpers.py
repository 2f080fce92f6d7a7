"""What several tests need."""

from desk import parse


def condition(text):
    """Reads one condition."""
    return parse(f"rule r\nwhen {text}\nthen tag t\n")[0].condition


def there_and_back(text):
    """Writes a condition that was read, and reads it again."""
    first = condition(text)
    if condition(first.show()) != first:
        raise AssertionError(f"{text!r} is written as {first.show()!r}, which is another condition")
    return first.show()
