#!/bin/sh
# Lists the containers of this machine's offices, one id a line. With "check" it fails if there is one that
# CONTAINERS_BEFORE does not list, or if git finds a change in the tree.
set -eu
cd "$(dirname "$0")/.."
list() { docker ps -aq --no-trunc --filter label=company.office | sort; }
[ "${1:-}" = check ] || { list; exit; }

rc=0
for id in $(list); do
	case " $(echo "${CONTAINERS_BEFORE:-}" | tr '\n' ' ') " in
	*" $id "*) ;;
	*) echo "a container was left behind:"; docker ps -a --no-trunc --filter "id=$id"; rc=1 ;;
	esac
done
changed=$(git status --porcelain)
[ -z "$changed" ] || { printf 'the run changed the tree:\n%s\n' "$changed"; rc=1; }
exit $rc
