"""Carries rules out."""

from dataclasses import dataclass, field


@dataclass
class Outcome:
    """What becomes of a ticket."""

    team: str = ""
    tags: list = field(default_factory=list)
    priority: int = 0
    rules: list = field(default_factory=list)  # names of those that were carried out


def route(rules, ticket):
    """Tries all rules on a ticket, from the first to one that stops."""
    outcome = Outcome(tags=list(ticket.tags), priority=ticket.priority)
    for rule in rules:
        if not rule.condition.holds(ticket):
            continue
        outcome.rules.append(rule.name)
        for action in rule.actions:
            action.apply(outcome)
        if rule.stop:
            break
    return outcome
