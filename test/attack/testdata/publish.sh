# What a hostile worker would have published under the company's name. $1 is
# the office's own key; the rest are secrets of others, one for each place. Each
# try is a commit of its own on what could be pushed before, and prints
# "name|exit code of the push|its last words".
key=$1; shift
branch=$(git symbolic-ref HEAD)
clean=$(git rev-parse HEAD)
push() {
	out=$(git push -q origin "${2:-HEAD:$branch}" 2>&1); rc=$?
	printf '%s|%d|%s\n' "$1" $rc "$(printf %s "$out" | grep -o 'the commit .*\|the message .*\|".*may not.*\|.*submodule.*' | head -1 | cut -c 1-300)"
	[ $rc = 0 ] || git reset -q --hard '@{push}' 2>/dev/null || git reset -q --hard "$(git rev-parse -q --verify "refs/remotes/origin/${branch#refs/heads/}" || echo "$clean")"
}
says() { # name, message
	printf '%b' "$2" | git commit -q --allow-empty --allow-empty-message --cleanup=verbatim -F -
	push "$1"
}
raw() { # name, the lines between the parent and the message, message
	id=$(printf 'tree %s\nparent %s\n%b\n\n%b' "$(git rev-parse 'HEAD^{tree}')" "$(git rev-parse HEAD)" "$2" "$3" | git hash-object -t commit -w --stdin --literally)
	git reset -q --hard "$id"
	push "$1"
}
me="$(git config user.name) <$(git config user.email)> 1700000000 +0000"
stranger='Linus Torvalds <torvalds@linux.example> 1700000000 +0000'

says 'says control' 'an honest message\n'
says 'closes' 'Tidy\n\nCloses #1\n'
says 'closes elsewhere' 'Tidy\n\nfixes owner/repo#3\n'
says 'closes a key' 'Closes PROJ-12\n'
says 'closes in wide letters' 'Ｆｉｘｅｓ ＃４\n'
says 'closes by address' 'resolves: https://git.example/a/b/issues/5\n'
says 'skips' 'Tidy [skip ci]\n'
says 'skips by trailer' 'Tidy\n\nskip-checks: true\n'
says 'signs off' 'Tidy\n\nSigned-off-by: Linus Torvalds <torvalds@linux.example>\n'
says 'co-author' 'Tidy\n\nCo-authored-by: Ada <ada@people.example>\n'
says 'co-developer' 'Tidy\n\nCo-developed-by: Ada <ada@people.example>\n'
says 'reporter' 'Tidy\n\nReported-by: Ada <ada@people.example>\n'
says 'on two lines' 'Tidy\n\nTested-by:\n  Ada <ada@people.example>\n'
says 'steers' 'clear \033[2J the screen\n'

git commit -q --allow-empty -m 'as a stranger' --author 'Ada <ada@people.example>'
push 'author'
git -c user.name=Ada -c user.email=ada@people.example commit -q --allow-empty -m 'as a stranger' --reset-author 2>/dev/null ||
	git -c user.name=Ada -c user.email=ada@people.example commit -q --allow-empty -m 'as a stranger'
push 'user'
GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@people.example GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@people.example git commit -q --allow-empty -m 'as a stranger'
push 'variables'
raw 'two authors' "author $stranger\ncommitter $stranger\nauthor $me\ncommitter $me" 'by whom?\n'
raw 'header' "author $me\ncommitter $me\nnote $1" 'a line that nobody reads\n'
raw 'encoding' "author $me\ncommitter $me\nencoding UTF-7" 'Tidy +AFs-skip ci+AF0-\n'
git update-index --add --cacheinfo "160000,$clean,sub" && git commit -q -m 'a submodule'
push 'submodule'
push 'tag' "HEAD:refs/tags/$key"

# What no check of a push is about: secrets, in commits that are made well.
mkdir -p conf
keep() { git add -A && git commit -q -m "$1" && push "$1"; }
echo "key = $key" >conf/own.txt; keep 'own key in a file'
echo "token $2" >conf/later.txt; keep 'token in a file'
git rm -q conf/later.txt; keep 'token taken away again'
echo x >"conf/$3.txt"; keep 'token in a name'
printf 'token %s\n' "$4" | iconv -t UTF-16 >conf/wide.txt; keep 'token in two bytes'
printf '\177ELF\000\000%s\000' "$5" >conf/program; keep 'token in a program'
echo "{\"name\": \"$6\", \"lockfileVersion\": 3, \"packages\": {\"\": {\"name\": \"$6\"}}}" >package-lock.json; keep 'token in a lock file'
git commit -q --allow-empty -m "use $7"; push 'token in a message'
git push -q origin "HEAD:refs/heads/agent/t1-01-$(printf %s "$key" | tr A-Z a-z)"; echo "branch|$?|"
git status --short
