"""The tickets that rules look at."""

from dataclasses import dataclass, fields

from .errors import TicketError

TEXTS = ("subject", "sender", "language")
NUMBERS = ("age", "priority", "replies")
LISTS = ("tags",)


@dataclass(frozen=True)
class Ticket:
    """One request of a customer. The age is in hours."""

    subject: str = ""
    sender: str = ""
    language: str = ""
    age: int = 0
    priority: int = 0
    replies: int = 0
    tags: tuple = ()

    def texts(self, field):
        """All texts of a field: one, or those of a list."""
        value = getattr(self, field)
        return value if field in LISTS else (value,)


def read(entry):
    """Reads a ticket from an object of JSON."""
    if not isinstance(entry, dict):
        raise TicketError(f"{entry!r} is no ticket")
    known = {field.name for field in fields(Ticket)}
    values = {}
    for name, value in entry.items():
        if name not in known:
            raise TicketError(f"a ticket has no field {name!r}")
        if name in NUMBERS and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise TicketError(f"{name} is {value!r}, and must be a whole number")
        if name in TEXTS and not isinstance(value, str):
            raise TicketError(f"{name} is {value!r}, and must be a text")
        if name in LISTS:
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                raise TicketError(f"{name} is {value!r}, and must be a list of texts")
            value = tuple(value)
        values[name] = value
    return Ticket(**values)
