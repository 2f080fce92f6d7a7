package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/gitops/remotetest"
	"company/test/testenv"
)

// Odd repositories and remotes (GIT-4), in one walk through the house: a
// shallow, detached checkout with a submodule, an LFS pointer and line ends
// that attributes would convert; a remote over http that wants a token; a hook
// in every place; commits that are signed off, and signed.
func TestWildRepository(t *testing.T) {
	t.Parallel()
	const token = "canary-token-for-the-remote"
	h := testenv.New(t, tripleStaff(), calculator())
	oddFiles(t, h)
	h.Git(h.Repo, "commit", "-q", "-m", "odd files")
	for _, name := range []string{"b", "c"} {
		h.Git(h.Repo, "commit", "-q", "--allow-empty", "-m", name)
	}
	server := remotetest.NewHTTP(t, "", token)
	origin, url := server.Repository(t, "acme/calc.git", h.Repo)

	// The president's checkout: the newest commit alone, on no branch.
	shallow := filepath.Join(h.Dir, "shallow")
	h.Git("", "clone", "-q", "--depth=1", "file://"+origin, shallow)
	h.Git(shallow, "remote", "set-url", "origin", url)
	h.Git(shallow, "switch", "-q", "--detach")
	h.Repo, h.Origin = shallow, origin
	base := h.Git(h.Repo, "rev-parse", "HEAD")

	fired := filepath.Join(h.Dir, "fired")
	checkTrapsSilent(t, h, fired)
	key := filepath.Join(h.Dir, "signing")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h.Config("git: {author: \"Acme Bot <bot@acme.example>\", signoff: true, sign: ssh, signing_key: " + key +
		"}\nforge: {kind: local, token_env: REMOTE_TOKEN}\n")
	h.Env = append(h.Env, "REMOTE_TOKEN="+token)

	p := h.Start("submit", "add a function that triples")
	sum := waitForSummary(t, p, 0)
	if sum.Result != "COMPLETE" {
		t.Fatalf("%+v\n%s", sum, p.Tell())
	}
	branch := integrationBranch(h, 1)
	head := h.Git(origin, "rev-parse", "refs/heads/"+branch)
	if n := h.Git(origin, "rev-list", "--count", head); n != "5" { // four, and the work
		t.Errorf("%s commits at the remote", n)
	}
	var record struct{ Base string }
	readJSON(t, filepath.Join(h.State(), "pulls/1.json"), &record)
	if record.Base != "main" {
		t.Errorf("the pull request goes into %q", record.Base)
	}
	changed := h.Git(origin, "diff-tree", "-r", "--raw", "--no-renames", "--abbrev=4", base, head)
	for line := range strings.SplitSeq(changed, "\n") {
		if _, name, _ := strings.Cut(line, "\t"); name != "triple.go" && name != "triple_test.go" {
			t.Errorf("changed on the way: %s", line)
		}
	}
	for commit := range strings.FieldsSeq(h.Git(origin, "rev-list", base+".."+head)) {
		if who := h.Git(origin, "log", "-1", "--format=%an <%ae> %cn <%ce>",
			commit); who != "Acme Bot <bot@acme.example> Acme Bot <bot@acme.example>" {
			t.Errorf("%s is by %s", commit, who)
		}
		if message := h.Git(origin, "log", "-1", "--format=%B", commit); !strings.HasSuffix(
			message, "Signed-off-by: Acme Bot <bot@acme.example>") {
			t.Errorf("no sign-off: %q", message)
		}
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	allowed := filepath.Join(h.Dir, "allowed_signers")
	if err := os.WriteFile(allowed, []byte("bot@acme.example "+string(public)), 0o600); err != nil {
		t.Fatal(err)
	}
	h.Git(origin, "-c", "gpg.ssh.allowedSignersFile="+allowed, "verify-commit", head)

	if left := h.Git(h.Repo, "rev-parse", "HEAD", "--is-shallow-repository"); left != base+"\ntrue" {
		t.Errorf("the checkout was touched: %s", left)
	}
	if _, err := os.Stat(fired); err == nil {
		t.Error("a hook or a command of the checkout's configuration was run")
	}
	if seen := server.Seen(); !strings.Contains(strings.Join(seen, " "), token) {
		t.Error("the remote saw no token")
	}
	for _, dir := range []string{h.Repo, filepath.Join(h.Dir, "state"), filepath.Join(h.Dir, "run")} {
		if out, _ := exec.Command("grep", "-rla", "-e", token, dir).Output(); len(out) > 0 {
			t.Errorf("the token is in %s", out)
		}
	}
	// The canary works: plain git in that checkout runs such a command.
	cmd := exec.Command("git", "status")
	cmd.Dir, cmd.Env = h.Repo, h.Env
	_ = cmd.Run()
	if _, err := os.Stat(fired); err != nil {
		t.Error("the canary would never have fired")
	}
}

// oddFiles stages what attributes would convert, a pointer, a submodule, links
// in a circle, and names that need quotes.
func oddFiles(t *testing.T, h *testenv.House) {
	t.Helper()
	blob := func(content string) string {
		p := filepath.Join(h.Dir, "blob")
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return h.Git(h.Repo, "hash-object", "-w", "--no-filters", p)
	}
	for name, content := range map[string]string{
		".gitattributes": "* text=auto eol=crlf\n*.bin filter=x diff=x merge=x -text\n*.go -text\n",
		"dos.txt":        "one\r\ntwo\r\n", "unix.txt": "one\ntwo\n", "caf\xe9": "latin1\n", "line\nend": "newline\n",
		"-rf": "dash\n", "a \"b\"": "quotes\n",
		"big.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("ab", 32) + "\nsize 12345\n",
	} {
		h.Git(h.Repo, "update-index", "--add", "--cacheinfo", "100644,"+blob(content)+","+name)
	}
	h.Git(h.Repo, "update-index", "--add", "--cacheinfo", "120000,"+blob("loop-b")+",loop-a")
	h.Git(h.Repo, "update-index", "--add", "--cacheinfo", "120000,"+blob("loop-a")+",loop-b")
	h.Git(h.Repo, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("12", 20)+",vendor/sub")
}

// checkTrapsSilent puts a canary into every hook and every command of the checkout's
// configuration, and of the user's and the machine's (T11).
func checkTrapsSilent(t *testing.T, h *testenv.House, fired string) {
	t.Helper()
	hooks := filepath.Join(h.Repo, ".git", "hooks")
	touch := "touch " + fired + " #"
	for _, name := range []string{
		"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg",
		"commit-msg", "post-commit",
		"pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive",
		"post-update",
		"reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite", "sendemail-validate",
		"fsmonitor-watchman", "post-index-change",
	} {
		if err := os.MkdirAll(hooks, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(hooks, name), []byte("#!/bin/sh\n"+touch+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	keys := [][2]string{
		{"core.fsmonitor", touch}, {"core.sshCommand", touch}, {"core.gitProxy", touch}, {"core.pager", touch},
		{"core.editor", touch}, {"core.hooksPath", hooks},
		{"core.askPass", touch}, {"core.alternateRefsCommand", touch}, {"diff.external", touch}, {"diff.x.command", touch},
		{"diff.x.textconv", touch},
		{"merge.x.driver", touch}, {"filter.x.clean", touch}, {"filter.x.smudge", touch}, {"filter.x.process", touch},
		{"filter.x.required", "true"},
		{"credential.helper", "!" + touch}, {"uploadpack.packObjectsHook", touch}, {"gpg.program", touch},
		{"gpg.ssh.program", touch}, {"gpg.ssh.defaultKeyCommand", touch},
		{"remote.origin.uploadpack", touch}, {"remote.origin.receivepack", touch}, {"sequence.editor", touch},
		{"commit.gpgSign", "true"}, {"trailer.x.command", touch},
	}
	for _, kv := range keys {
		h.Git(h.Repo, "config", kv[0], kv[1])
	}
	var global strings.Builder
	global.WriteString("[core]\n\tautocrlf = true\n\thooksPath = " + hooks + "\n\tfsmonitor = \"" + touch +
		"\"\n[url \"ext::sh -c " + "false" +
		"\"]\n\tinsteadOf = http://elsewhere.example/\n[commit]\n\tgpgSign = true\n[init]\n\tdefaultBranch = elsewhere\n[safe]\n\tdirectory " +
		"= none\n[user]\n\tname = Nobody\n[transfer]\n\tfsckObjects = false\n")
	for _, p := range []string{filepath.Join(h.Dir, "home", ".gitconfig"),
		filepath.Join(h.Dir, "config", "git", "config")} {
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(global.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// git.paths: of a large repository with two projects the task is kept to one.
// A plan that writes elsewhere is refused, the worker sees its own folder and
// what lies beside it, and a commit elsewhere does not leave the container.
func TestPartOfARepository(t *testing.T) {
	t.Parallel()
	files := map[string]string{"README.md": "two services\n", "web/index.html": "<p>\n",
		"web/go.mod": "module example.com/web\n\ngo 1.24\n", "web/broken.go": "package web\n\nfunc {\n"}
	for name, text := range calculator() {
		files["api/"+name] = text
	}
	brain := &staff{
		manager: func(x scripted.Exchange) scripted.Reply {
			for _, said := range x.Messages {
				if strings.Contains(said.Content, "outside of the folders of the task") {
					return submitPlan([]m{ticket("Add Triple", tripleDescription, "api/triple.go", "api/triple_test.go")})(
						scripted.Exchange{})
				}
			}
			return submitPlan([]m{ticket("Add Triple", tripleDescription, "web/**")})(scripted.Exchange{})
		},
		worker: replyInSteps(
			call("run_command", m{"command": "ls; test ! -e web && mkdir web && echo mine > web/index.html"}),
			call("write_file", m{"path": "api/triple.go", "content": "package calc\n\n// Triple is three times n.\nfunc " +
				"Triple(n int) int { return 3 * n }\n"}),
			call("git_commit", m{"message": "Add Triple"}),
			call("run_command", m{"command": "git reset -q --soft HEAD~1 && git checkout -q origin/base -- web && git " +
				"sparse-checkout reapply; git status --short"}),
			call("git_commit", m{"message": "Add Triple"}),
			call("finish", m{"summary": "Triple is there"}), // asks for a test, once
			call("finish", m{"summary": "Triple is there", "risks": "No test shows it."}),
		),
	}
	h := testenv.New(t, brain, files)
	h.LetManagerPlan()
	h.Config("git: {paths: [api]}\n")
	p := h.Start("submit", "add a function that triples")
	sum := waitForSummary(t, p, 0)
	if sum.Result != "COMPLETE" {
		t.Fatalf("%+v\n%s", sum, p.Tell())
	}
	head := h.Git(h.Origin, "rev-parse", "refs/heads/"+integrationBranch(h, 1))
	if changed := h.Git(h.Origin, "diff-tree", "-r", "--name-status", "main", head); changed != "A\tapi/triple.go" {
		t.Errorf("changed: %s", changed)
	}
	mainUnmoved(t, h)
	var said string
	for _, r := range h.Model.Requests() {
		said += string(r.Body)
	}
	checkHolds(t, "the conversation", said, "no test changes with this work")
	for _, want := range []string{"would write outside of the folders of the task",
		`is outside of the folders of this task`, "limited to these folders"} {
		if !strings.Contains(said, want) {
			t.Errorf("no model was told %q", want)
		}
	}
}

// GIT-6: a remote that refuses the login is for the president to mend. A submission ends
// before a model is asked. Where the login is refused later, the push is tried once and not
// again and again, the work is kept, and with the right token it goes on where it stood.
func TestRefusedLogin(t *testing.T) {
	t.Parallel()
	brain, working := triplesInShell(), stopAt("t1-01.1", 0)
	brain.stops = []*stop{working}
	h := openTinyProject(t, brain)
	t.Cleanup(working.release)
	server := remotetest.NewHTTP(t, "", "the right token")
	origin, url := server.Repository(t, "acme/calc.git", h.Repo)
	h.Git(h.Repo, "remote", "set-url", "origin", url)
	h.Origin = origin
	h.Config(tinyGates + "forge: {kind: local, token_env: REMOTE_TOKEN}\n")
	before := h.Env
	h.Env = append(h.Env, "REMOTE_TOKEN=the wrong token")
	runRefused(t, h, 1, "E_AUTH", "submit", "add a function that triples", "--no-input")
	if n := len(h.Model.Requests()); n > 0 {
		t.Errorf("%d requests to the model before the login is mended", n)
	}
	h.Env = append(before, "REMOTE_TOKEN=the right token")
	p := h.Start("submit", "add a function that triples", "--no-input")
	working.wait(t, p)
	p.Kill()
	working.release()
	h.Env = append(before, "REMOTE_TOKEN=the wrong token")
	p = h.Start("resume", "t1", "--no-input")
	sum := waitForSummary(t, p, 2)
	if sum.Result != "INCOMPLETE" || !strings.Contains(sum.Why, "refused the credential") ||
		!strings.HasPrefix(sum.Next, "company approve a1") {
		t.Fatalf("%+v\n%s", sum, p.Tell())
	}
	wrong := 0
	for _, seen := range server.Seen() {
		if strings.HasSuffix(seen, ":the wrong token") {
			wrong++
		}
	}
	if wrong != 2 {
		t.Errorf("the wrong token was shown %d times", wrong)
	}
	h.Env = append(before, "REMOTE_TOKEN=the right token")
	h.MustRun(patience, "approve", "a1")
	sum = waitForSummary(t, h.Start("resume", "t1"), 0)
	if sum.Result != "COMPLETE" {
		t.Fatalf("%+v", sum)
	}
	if n := h.Git(origin, "rev-list", "--count", "main.."+integrationBranch(h, 1)); n != "1" {
		t.Errorf("%s commits at the remote", n)
	}
}
