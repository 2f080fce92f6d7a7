# For scripts that download something: sets say, die and fetch. They source this file.

say() { echo "set-up: $*" >&2; }
die() { say "FAILED: $*"; exit 1; }

# fetch WHAT PROGRAM [ARG…] runs a program that downloads, at most three times, since a registry or an archive may fail
# for a moment, and for at most 20 minutes each. If all three fail, the script ends, and says what failed, at which
# address, why, and what to do. The program keeps what it got, so that the next run goes on from there.
fetch() {
	what=$1
	shift
	say "$what"
	output=$(mktemp)
	pause=${FETCH_PAUSE:-5}
	for try in 1 2 3; do
		if timeout --foreground -k 10 1200 "$@" >"$output" 2>&1 9>&-; then
			rm -f "$output"
			return
		fi
		full=$(grep -i 'no space left on device' "$output" | head -n1)
		[ -z "$full" ] ||
			die "$what: the disk is full: $full. Make room (df -h; docker system prune, go clean -cache), and run this again"
		address=$(grep -oE 'https?://[^ /"]+' "$output" | head -n1)
		why=$(grep -iE '^E: |error|fail|denied|refused|no such|timed? ?out|un(avail|reach)able| [45][0-9][0-9] ' "$output" | head -n1 | cut -c1-300)
		[ -n "$why" ] || why=$(tail -n1 "$output")
		[ "$try" = 3 ] || {
			say "$what${address:+, $address}: $why; once more in $pause s"
			sleep "$pause"
			pause=$((pause * 3))
		}
	done
	die "$what${address:+, $address}, three times: $why
set-up: Check that this machine reaches that address, and run this again: what was fetched is kept. All of it: $output"
}
