# What a hostile worker pushes and fetches. $1 is its ticket, $2 its run, $3 a
# commit that it must not get, $4 the commit that it may.
ticket=$1 run=$2 foreign=$3 base=$4 show=110
try() {
	name=$1; shift
	out=$(timeout 60 "$@" 2>&1); rc=$?
	printf '%s|%d|%s\n' "$name" $rc "$(printf %s "$out" | tr '\n' ' ' | cut -c 1-$show)"
}
zero=0000000000000000000000000000000000000000
commit() { git commit-tree "$1" -p "$base" -m x; }
tree=$(git write-tree)
c=$(commit "$tree")
d=$(git commit-tree "$tree" -p "$c" -m y)
orphan=$(git commit-tree "$tree" -m root)
git tag -f -a -m tagged v1 "$c" >/dev/null
tag=$(git rev-parse refs/tags/v1)

push() { try "push $1" git push -q origin "$c:$1"; }
for ref in refs/heads/main refs/heads/master refs/heads/base refs/heads/develop refs/tags/v1 \
	refs/heads/agent refs/heads/agent/x refs/heads/agent/t9-01-x refs/heads/agent/${ticket}9-x "refs/heads/agent/$ticket" "refs/heads/agent/$ticket-" \
	"refs/heads/agent/$ticket-x/y" "refs/heads/agent/$ticket-X" "refs/heads/agent/$ticket-ünï" \
	"refs/company/taken/$c" "refs/company/runs/$run" refs/company/runs/t9-01.1 refs/company/checkpoint/t9-01.1 "refs/company/checkpoint/$run.x" \
	"refs/replace/$base" refs/notes/commits refs/stash refs/remotes/origin/main refs/pull/1/head refs/heads/HEAD; do
	push "$ref"
done
try "push long" git push -q origin "$c:refs/heads/agent/$ticket-$(printf 'a%.0s' $(seq 65))"
try "push HEAD" git push -q origin "$c:HEAD"
try "push control" git push -q origin "$d:refs/heads/agent/$ticket-control"
try "push tag object" git push -q origin "$tag:refs/heads/agent/$ticket-tag"
try "push tree" git push -q origin "$tree:refs/heads/agent/$ticket-tree"
try "rewrite" git push -q -f origin "$c:refs/heads/agent/$ticket-control"
try "delete base" git push -q origin :refs/heads/base
try "delete own" git push -q origin ":refs/heads/agent/$ticket-control"
try "mixed" git push -q origin "$c:refs/heads/agent/$ticket-mixed" "$c:refs/heads/main"
try "mixed atomic" git push -q --atomic origin "$c:refs/heads/agent/$ticket-atomic" "$c:refs/tags/v2"
try "push option" git push -q -o ci.skip origin "$c:refs/heads/agent/$ticket-option"
many=""
for i in $(seq 17); do many="$many $c:refs/heads/agent/$ticket-many$i"; done
try "17 branches" git push -q origin $many
try "orphan checkpoint" git push -q -f origin "$orphan:refs/company/checkpoint/$run"
show=2000
try "listed" git ls-remote origin

show=110
try "fetch foreign" git fetch -q origin "$foreign"
try "fetch foreign v2" git -c protocol.version=2 fetch -q origin "$foreign"
try "fetch foreign promised" git -c remote.origin.promisor=true -c extensions.partialClone=origin cat-file -t "$foreign"
try "fetch base" git fetch -q origin "$base"
url=$(git config remote.origin.url)
for other in t9-01.1 "$run.git/../../$run" "..%2f..%2fcalc" ../../../../etc "${run%?}2"; do
	try "url $other" git ls-remote "${url%/*}/$other.git"
done
try "url file" git ls-remote file:///opt/repo.git/../../work/repo/../elsewhere
try "archive" git archive --remote=origin HEAD
echo "leftovers|0|$(git for-each-ref refs/heads/main | wc -l)"
