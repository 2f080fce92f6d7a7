"""Routes the tickets of a help desk by rules."""

from .engine import Outcome, route
from .errors import RuleError
from .parser import parse
from .printer import show
from .ticket import Ticket

__all__ = ["Outcome", "RuleError", "Ticket", "parse", "route", "show"]
