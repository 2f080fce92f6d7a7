"""Installs Python packages into an environment: install.py VENV MISSING.

pins.txt is what lock files say, requirements.txt is resolved within
constraints.txt; loose.txt has those of its lines that a registry that is away does
not hold the image back for. What cannot be had is left out, so that the rest can be used: for
each such line a file in the folder MISSING of the environment says why. Only where
the registry answers for nothing, or a file is not the one that was locked, does the
program fail.
"""

import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

VENV, MISSING = sys.argv[1], sys.argv[2]
INDEX = os.environ["PIP_INDEX_URL"]
DEADLINE = time.monotonic() + 13 * 60
PIP = [sys.executable, "-m", "pip", "--python", VENV + "/bin/python", "install", "-q", "--only-binary", ":all:",
       "--no-compile", "--no-warn-script-location"]
PINNED = ["--no-deps", "--require-hashes"]
OPEN = ["-c", "constraints.txt"]
LIST = "now.txt"

missing = {}  # line: (may come later, why)


class Failure(Exception):
    """A failure of pip that leaving packages out does not mend."""


def read_lines(name):
    with open(name, encoding="utf-8") as f:
        return [line for line in f.read().split("\n") if line]


def run_pip(options, lines):
    """The output of pip where it fails, and None where it does not."""
    with open(LIST, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    try:
        done = subprocess.run([*PIP, *options, "-r", LIST], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=max(1, DEADLINE - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise Failure("ERROR: the packages did not come in 13 minutes")
    output = done.stdout.decode("utf-8", "replace")
    if done.returncode < 0:
        sys.exit(128 - done.returncode)
    if done.returncode == 0:
        return None
    if "DO NOT MATCH THE HASHES" in output or "No space left on device" in output:
        raise Failure(output)
    return output or "ERROR: pip ended with %d" % done.returncode


def keep(options, kept, lines):
    """Those of the lines that can be had together with the kept ones, and these."""
    if not lines:
        return kept
    output = run_pip(options, kept + lines)
    if output is None:
        return kept + lines
    if len(lines) == 1:
        missing[lines[0]] = explain(output, lines[0])
        return kept
    half = len(lines) // 2
    return keep(options, keep(options, kept, lines[:half]), lines[half:])


def install(options, lines):
    """Installs what can be had of the lines."""
    if not lines or run_pip(options, lines) is None:
        return
    kept = keep([*options, "--dry-run"], [], lines)
    if kept and run_pip(options, kept) is not None:
        # A file that is there by its description does not come.
        keep(options, [], kept)


CULPRIT = re.compile(r"ERROR: (?:No matching distribution found for|Could not find a version that satisfies the requirement) ([A-Za-z0-9][A-Za-z0-9._-]*)")
STATUS = re.compile(r"ERROR: HTTP error (\d+) while getting \S*/([A-Za-z0-9._-]+)")


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def explain(output, line):
    """Whether another try may help, and why a package cannot be had."""
    found = STATUS.search(output)
    if found:
        return int(found[1]) >= 500, "the registry answers %s for %s" % (found[1], urllib.parse.unquote(found[2]))
    found = CULPRIT.search(output)
    if found:
        later, why = ask_index(found[1])
        if canonical(found[1]) != canonical(re.match(r"[A-Za-z0-9._-]*", line)[0]):
            why = "it needs %s: %s" % (found[1], why)
        return later, why
    if "conflicting dependencies" in output or "ResolutionImpossible" in output:
        return False, "it does not go with the versions of the other packages"
    errors = [line[len("ERROR: "):] for line in output.split("\n") if line.startswith("ERROR: ")]
    return "Connection" in output or "timed out" in output, (errors or output.strip().split("\n"))[0]


def read_page(name):
    """What the registry says of a package."""
    request = urllib.request.Request(INDEX + canonical(name) + "/", headers={"Accept": "text/html"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read(64 << 20).decode("utf-8", "replace")


def ask_index(name):
    """Whether another try may help, and why the registry gives none of a package."""
    try:
        page = read_page(name)
    except urllib.error.HTTPError as e:
        line = e.read(500).decode("utf-8", "replace").strip().split("\n")[0]
        return e.code >= 500 or e.code == 429, line or "the registry answers %d" % e.code
    except OSError as e:
        return True, "the registry cannot be reached now (%s)" % e
    if "<a " not in page:
        return False, "the registry has no version that may be had"
    if ".whl<" not in page:
        return False, "the registry has its source and no wheel, and no set-up of a package is run"
    return False, "the registry has no such version, or none for this Python and processor"


def answers(asked):
    """Whether the registry answers at all: for some package it has a page, or says that it has none."""
    for line in asked[:40]:
        try:
            read_page(re.match(r"[A-Za-z0-9._-]+", line)[0])
        except urllib.error.HTTPError as e:
            if e.code >= 500 or e.code == 429:
                continue
        except OSError:
            continue
        return True
    return False


def find_away(asked):
    """Why the registry answers for none of the first packages, or nothing where it answers."""
    why = None
    for line in asked[:3]:
        try:
            read_page(re.match(r"[A-Za-z0-9._-]+", line)[0])
            return None
        except urllib.error.HTTPError as e:
            if e.code != 502:
                return None
            text = e.read(500).decode("utf-8", "replace").strip().split("\n")[0]
            why = text or "the registry cannot be reached now"
        except OSError as e:
            why = "the registry cannot be reached now (%s)" % e
    return why


def name_missing(asked):
    """Names the missing packages by their place in the list."""
    os.makedirs(os.path.join(VENV, MISSING), exist_ok=True)
    for line, (later, why) in missing.items():
        print("left out: %s: %s" % (line.split(" --hash", 1)[0], why))
        while True:
            name = "%d-%s-%s" % (asked.index(line), "later" if later else "never", urllib.parse.quote(why, safe=""))
            if len(name) <= 250:
                break
            why = why[:-1]
        open(os.path.join(VENV, MISSING, name), "w").close()


def main():
    pins, lines = read_lines("pins.txt"), read_lines("requirements.txt")
    loose = read_lines("loose.txt")
    away = find_away(pins + lines)
    if away:  # pip would ask for each of them
        return do_without(pins + lines, loose, away)
    try:
        install(PINNED, pins)
        if missing:  # what is pinned and cannot be had holds nothing else back
            gone = {line.split(" ")[0] for line in missing}
            with open("constraints.txt", encoding="utf-8") as f:
                rest = [c for c in f.read().split("\n") if c not in gone]
            with open("constraints.txt", "w", encoding="utf-8") as f:
                f.write("\n".join(rest))
        install(OPEN, lines)
    except Failure as failure:
        print(failure)
        return 1
    if any(later and line not in loose for line, (later, _) in missing.items()) and not answers(pins + lines):
        return fail()
    name_missing(pins + lines)
    return 0


def fail():
    """Says what is missing, of an environment that cannot do without it."""
    for line, (_, why) in missing.items():
        print("ERROR: %s: %s" % (line.split(" --hash", 1)[0], why))
    return 1


def do_without(asked, loose, why):
    """Leaves everything out, where nothing holds the image back."""
    for line in asked:
        missing[line] = True, why
    if any(line not in loose for line in asked):
        return fail()
    name_missing(asked)
    return 0


sys.exit(main())
