"""Reads a file of rules."""

from dataclasses import dataclass

from . import actions, clauses, tokens
from .errors import RuleError
from .ticket import LISTS, NUMBERS, TEXTS


@dataclass(frozen=True)
class Rule:
    """A condition and what is done where it holds."""

    name: str
    condition: object
    actions: tuple
    stop: bool = False


def parse(source):
    """Gives the rules of a file, in their order."""
    return _Parser(tokens.cut(source)).rules()


class _Parser:
    """Reads tokens from the first to the last, and looks one ahead."""

    def __init__(self, tokens):
        self._tokens = tokens
        self._at = 0

    # Tokens.

    @property
    def _next(self):
        return self._tokens[self._at]

    def _take(self):
        token = self._next
        if token.kind != tokens.END:
            self._at += 1
        return token

    def _sees(self, value):
        return self._next.kind in (tokens.WORD, tokens.SIGN) and self._next.value == value

    def _accept(self, value):
        if not self._sees(value):
            return False
        self._take()
        return True

    def _expect(self, value):
        if not self._accept(value):
            raise RuleError(self._next.line, f"{value} is expected, and there is {self._next}")

    def _expect_kind(self, kind):
        token = self._next
        if token.kind != kind:
            raise RuleError(token.line, f"a {kind} is expected, and there is {token}")
        return self._take()

    # Rules.

    def rules(self):
        found = []
        while self._next.kind != tokens.END:
            line = self._next.line
            rule = self._rule()
            if any(other.name == rule.name for other in found):
                raise RuleError(line, f"there is a rule {rule.name} already")
            found.append(rule)
        return found

    def _rule(self):
        self._expect("rule")
        name = self._expect_kind(tokens.WORD).value
        self._expect("when")
        condition = self._any()
        self._expect("then")
        done = [self._action()]
        while self._accept(","):
            done.append(self._action())
        return Rule(name, condition, tuple(done), self._accept("stop"))

    # Conditions, from what binds least to what binds most.

    def _any(self):
        parts = [self._all()]
        while self._accept("or"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else clauses.Any(tuple(parts))

    def _all(self):
        parts = [self._not()]
        while self._accept("and"):
            parts.append(self._not())
        return parts[0] if len(parts) == 1 else clauses.All(tuple(parts))

    def _not(self):
        if self._accept("not"):
            return clauses.Not(self._not())
        return self._group()

    def _group(self):
        if self._accept("("):
            inner = self._any()
            self._expect(")")
            return inner
        return self._test()

    def _test(self):
        field = self._expect_kind(tokens.WORD)
        if field.value in NUMBERS:
            return self._number_test(field)
        if field.value in TEXTS + LISTS:
            return self._text_test(field)
        raise RuleError(field.line, f"a ticket has no field {field.value}")

    def _number_test(self, field):
        sign = self._take()
        if sign.value not in clauses.COMPARISONS:
            raise RuleError(sign.line, f"{field.value} cannot be compared by {sign}")
        return clauses.Compare(field.value, sign.value, self._number())

    def _number(self):
        return int(self._expect_kind(tokens.NUMBER).value)

    def _text(self):
        return tokens.unquote(self._expect_kind(tokens.TEXT).value)

    def _text_test(self, field):
        word = self._take()
        if word.value == "has":
            return clauses.Has(field.value, self._text())
        if word.value == "is":
            return clauses.Is(field.value, self._text())
        raise RuleError(word.line, f"{field.value} cannot be compared by {word}")

    # Actions.

    def _action(self):
        word = self._take()
        if word.value == "assign":
            return actions.Assign(self._expect_kind(tokens.WORD).value)
        if word.value == "tag":
            return actions.Tag(self._expect_kind(tokens.WORD).value)
        if word.value == "raise":
            return actions.Raise(self._number())
        raise RuleError(word.line, f"{word} is no action")
