"""Cuts a file of rules into tokens."""

import re
from dataclasses import dataclass

from .errors import RuleError

WORD, NUMBER, TEXT, SIGN, END = "word", "number", "text", "sign", "end"

_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t\r]+|\#[^\n]*)
  | (?P<newline>\n)
  | (?P<word>[A-Za-z][A-Za-z0-9_-]*)
  | (?P<number>[0-9]+)
  | (?P<text>"(?:[^"\\\n]|\\["\\])*")
  | (?P<sign>>=|<=|!=|[><=(),])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """A piece of a file, with the line where it stands."""

    kind: str
    value: str
    line: int

    def __str__(self):
        return "the end of the file" if self.kind == END else self.value


def cut(source):
    """Gives the tokens of a file, and one for its end."""
    tokens, at, line = [], 0, 1
    while at < len(source):
        match = _TOKEN.match(source, at)
        if match is None:
            raise RuleError(line, f"{source[at]!r} cannot stand here")
        kind = match.lastgroup
        if kind == "newline":
            line += 1
        elif kind != "blank":
            tokens.append(Token(kind, match.group(), line))
        at = match.end()
    tokens.append(Token(END, "", line))
    return tokens


def unquote(quoted):
    """Gives the text between quotes."""
    return re.sub(r"\\(.)", r"\1", quoted[1:-1])


def quote(text):
    """Writes a text between quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
