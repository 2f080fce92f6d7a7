"""Reads spans of time."""

UNITS = {"s": 1, "m": 60, "h": 3600}


def parse(text):
    """Gives the seconds of a span such as 90s, 5m or 2h."""
    number, unit = text[:-1], text[-1:]
    if not number.isdigit() or unit not in UNITS:
        raise ValueError(f"{text!r} is no span: write it like 90s, 5m or 2h")
    return int(number) * UNITS[unit]
