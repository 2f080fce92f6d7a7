"""What a rule does to a ticket."""

from dataclasses import dataclass

HIGHEST = 5


@dataclass(frozen=True)
class Assign:
    """Gives the ticket to a team. The last team has it."""

    team: str

    def apply(self, outcome):
        outcome.team = self.team

    def show(self):
        return f"assign {self.team}"


@dataclass(frozen=True)
class Tag:
    """Puts a word on the ticket, once."""

    word: str

    def apply(self, outcome):
        if self.word not in outcome.tags:
            outcome.tags.append(self.word)

    def show(self):
        return f"tag {self.word}"


@dataclass(frozen=True)
class Raise:
    """Adds to the priority, up to the highest."""

    by: int

    def apply(self, outcome):
        outcome.priority = max(outcome.priority, min(HIGHEST, outcome.priority + self.by))

    def show(self):
        return f"raise {self.by}"
