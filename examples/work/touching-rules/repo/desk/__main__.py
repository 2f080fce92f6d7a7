"""The commands: check, show and run."""

import json
import sys

from . import ticket
from .engine import route
from .parser import parse
from .printer import show

USAGE = "usage: python3 -m desk check RULES | show RULES | run RULES TICKETS"


def main(args, out):
    """Runs one command line, and gives the exit code."""
    if len(args) not in (2, 3) or args[0] not in ("check", "show", "run") or (args[0] == "run") != (len(args) == 3):
        print(USAGE, file=out)
        return 2
    try:
        with open(args[1], encoding="utf-8") as file:
            rules = parse(file.read())
        if args[0] == "check":
            print(f"{len(rules)} rules", file=out)
        elif args[0] == "show":
            print(show(rules), end="", file=out)
        else:
            _run(rules, args[2], out)
    except (OSError, ValueError) as fault:
        print(f"desk: {fault}", file=out)
        return 1
    return 0


def _run(rules, path, out):
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)
    for number, entry in enumerate(entries, 1):
        outcome = route(rules, ticket.read(entry))
        print(
            f"{number}: team {outcome.team or '-'}, priority {outcome.priority},"
            f" tags {' '.join(outcome.tags) or '-'}, rules {' '.join(outcome.rules) or '-'}",
            file=out,
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdout))
