# Trees that a host must not take. $1 is the run, $2 the base commit. They go
# to the checkpoint, which may be forced, and is checked like every push.
ref=refs/company/checkpoint/$1 base=$2
try() {
	name=$1; shift
	out=$(timeout 120 "$@" 2>&1); rc=$?
	printf '%s|%d|%s\n' "$name" $rc "$(printf %s "$out" | tr '\n' ' ' | cut -c 1-150)"
}
blob() { printf "$1" | git hash-object -w --stdin; }
# entry name: mode, id and name of one new entry of the root, NUL-terminated
push() { # name, mktree input of the new entries (may be binary)
	tree=$( { git ls-tree -z "$base"; cat; } | git mktree -z --missing 2>/dev/null)
	[ -n "$tree" ] || { echo "$1|0|no tree"; return; }
	c=$(git commit-tree "$tree" -p "$base" -m "$1")
	try "$1" git push -q -f origin "$c:$ref"
}
link() { printf "120000 blob $(blob "$2")\t$1\0"; }
file() { printf "100644 blob $(blob "${2:-text}")\t$1\0"; }
link etc /etc/passwd | push "absolute link"
link up ../../outside | push "link out of the tree"
link up a/../../x | push "link through a name"
link hook .git/hooks/post-checkout | push "link into .git"
link hook '.GIT/config' | push "link into .GIT"
link .gitattributes other | push "linked .gitattributes"
link .gitmodules other | push "linked .gitmodules"
printf "160000 commit $base\tsub\0" | push "submodule"
sub=$(printf "100644 blob $(blob x)\tconfig\0" | git mktree -z)
for name in .GIT .Git 'git~1' '.git ' '.git.' '.git::$INDEX_ALLOCATION' '.g\xe2\x80\x8cit'; do
	printf "040000 tree $sub\t$name\0" | push "folder $name"
done
file 'new\nline' | push "newline in a name"
file 'esc\x1b[31m' | push "escape in a name"
file 'bidi\xe2\x80\xaegnp.exe' | push "bidi in a name"
file 'latin\xe9' | push "name that is no UTF-8"
file 'a\\b' | push "backslash in a name"
file 'CALC.go' | push "case clash"
{ file 'caf\xc3\xa9'; file 'cafe\xcc\x81'; } | push "normal form clash"
# mktree refuses these names; the object is written as it is.
raw() { # name of the try, entry name
	id=$(blob x)
	{ git cat-file tree "$base^{tree}"; printf "100644 $2\0"; printf "$(echo "$id" | sed 's/../\\x&/g')"; } >/tmp/raw
	tree=$(git hash-object -t tree -w --literally /tmp/raw)
	c=$(git commit-tree "$tree" -p "$base" -m "$1")
	try "$1" git push -q -f origin "$c:$ref"
}
raw "entry .git" .git
raw "entry .." ..
raw "entry with a slash" a/b
# Deep, wide and huge.
t=$(printf "100644 blob $(blob x)\tf\0" | git mktree -z)
for i in $(seq 70); do t=$(printf "040000 tree $t\td\0" | git mktree -z); done
printf "040000 tree $t\tdeep\0" | push "70 folders deep"
t=$(printf "100644 blob $(blob x)\tf\0" | git mktree -z)
for i in $(seq 8); do t=$(for j in 0 1 2 3 4 5 6 7 8 9; do printf "040000 tree $t\t$j\0"; done | git mktree -z); done
printf "040000 tree $t\twide\0" | push "100 million files"
big=$(head -c 11534336 /dev/zero | git hash-object -w --stdin)
printf "100644 blob $big\tbig.bin\0" | push "11 MiB file"
huge=$(head -c 400000000 /dev/zero | git -c core.compression=1 hash-object -w --stdin)
printf "100644 blob $huge\thuge.bin\0" | push "400 MB of zeros"
link ok attack/git.sh | push "positive control: a link inside"
