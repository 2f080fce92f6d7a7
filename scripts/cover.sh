#!/bin/sh
# Prints how many statements of internal/ the tests without Docker execute, in all and for each package. It fails below
# 80 % in all, and below 70 % in a package of the core. The end-to-end tests run another process and do not count.
set -eu
cd "$(dirname "$0")/.."
core="company ledger bus bus/file bus/nats agent agent/budget gitops delivery worker manager reviewer merger"
core="$core engine/orchestrator adapters office lib/secretscan"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if ! CGO_ENABLED=0 go test -short -covermode=set -coverpkg=./internal/... -coverprofile="$folder/profile" \
	./internal/... ./test/archtest >"$folder/log" 2>&1; then
	grep -v '^ok\|no test files' "$folder/log"
	exit 1
fi
# A line of the profile is: file:range statements executed. A range occurs once for each package of tests.
awk -v core="$core" -F'[: ]' 'NR > 1 {
	range = $1 ":" $2
	if (!(range in size)) { size[range] = $3; file[range] = $1 }
	if ($4 > 0) executed[range] = 1
}
END {
	for (range in size) {
		package = file[range]
		sub(/\/[^\/]*$/, "", package)
		sub(/^company\/internal\//, "", package)
		if (package ~ /test$/) continue
		all[package] += size[range]; total += size[range]
		if (range in executed) { seen[package] += size[range]; covered += size[range] }
	}
	for (package in all) printf "%5.1f %% %s\n", 100 * seen[package] / all[package], package | "sort -k3"
	close("sort -k3")
	printf "%5.1f %% of %d statements in all\n", 100 * covered / total, total
	if (covered < 0.8 * total) { print "less than 80 % in all"; failed = 1 }
	count = split(core, names, " ")
	for (i = 1; i <= count; i++) if (seen[names[i]] < 0.7 * all[names[i]] || !(names[i] in all)) {
		print "less than 70 %: " names[i]; failed = 1
	}
	exit failed
}' "$folder/profile"
