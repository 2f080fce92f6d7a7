package attack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// TestHostSide attacks what the host does with what it takes: attributes that
// ask git for commands, objects of other runs, protected paths, and a change
// so large that it does not fit into the company's own books. The task cannot
// complete, and the office must stand.
func TestHostSide(t *testing.T) {
	staff := &crew{}
	h := newHouse(t, staff, project(t))
	// A project's own history may hold what a worker may not add: it is data.
	if err := os.Symlink("/etc/passwd", filepath.Join(h.Repo, "absolute")); err != nil {
		t.Fatal(err)
	}
	h.Git(h.Repo, "add", "absolute")
	h.Git(h.Repo, "commit", "-q", "-m", "a link")
	base := h.Git(h.Repo, "rev-parse", "HEAD")
	canary := layCanaries(t, h)
	h.Config("workers: {max: 3, memory: 1536m}\ngates: {lint: none, test: go test ./...}\n")

	// foreign waits for what the first worker committed.
	foreign := func() string {
		id, taken := hosttest.WaitUntil(func() (any, bool) {
			id := resolveInMirror(h, "refs/company/runs/t1-01.1")
			return id, id != ""
		})
		if !taken {
			t.Error("the first worker's commit was not taken")
			return "none"
		}
		return id.(string)
	}
	staff.assignTickets(
		ticket{title: "Keep a secret", writeSet: "secret.txt", runs: [][]step{{
			runScript("echo hidden >secret.txt && sed -i '1s/^/above\\n/' CODE.txt"),
			do("git_commit", args{"message": "Keep a secret"}),
			do("finish", args{"summary": "kept"}),
		}}},
		ticket{title: "Set traps", writeSet: "traps.txt", runs: [][]step{{
			staff.lookBetween("foreign", foreign, func(x scripted.Exchange) scripted.Reply {
				id := staff.seenAs("foreign")
				return runScript("bash attack/git.sh t1-02 t1-02.1 " + id + " " + base + " | grep fetch; git cat-file -t " + id)(x)
			}),
			runScript(traps),
			do("git_commit", args{"message": "Set traps"}),
			do("finish", args{"summary": "set"}),
		}}},
		ticket{title: "Change everything", writeSet: "many/**", runs: [][]step{
			{
				runScript(many),
				do("git_commit", args{"message": "Change everything"}),
				do("finish", args{"summary": "changed"}),
			},
			{do("escalate", args{"reason": "one may not change so much " + nasty})},
		}},
	)
	r := h.Run(patience, "submit", "do three more things")
	if r.Code != 2 || !strings.Contains(r.Stdout, "[RESULT] INCOMPLETE") {
		t.Fatalf("exit %d\n%s\n%s", r.Code, r.Stdout, stripSteering(r.Stderr))
	}

	t.Run("the first worker", func(t *testing.T) {
		if !strings.Contains(r.Stderr, "merged as") { // its gates passed on a tree with an absolute link
			t.Errorf("nothing was merged:\n%s", stripSteering(r.Stderr))
		}
	})
	t.Run("other runs' objects", func(t *testing.T) {
		got := readTries(staff.toolAnswers("t1-02.1", 0))
		for name, code := range map[string]string{"fetch foreign": "128", "fetch foreign v2": "128",
			"fetch foreign promised": "128", "fetch base": "0"} {
			if got[name].code != code { // T7, probe 31
				t.Errorf("%s: %+v", name, got[name])
			}
		}
		if out := staff.toolAnswers("t1-02.1", 0); strings.Contains(out, "\ncommit\n") {
			t.Errorf("the other run's commit is there:\n%s", out)
		}
	})
	t.Run("canaries", func(t *testing.T) {
		head := resolveInMirror(h, "refs/company/runs/t1-02.1")
		if head == "" {
			t.Fatal("the traps were not taken: nothing was tried")
		}
		if fired := canary.firedCanaries(t); fired != "" {
			t.Errorf("the host ran commands that a tree asked for:\n%s", fired) // T11
		}
		canary.runUnprotected(t, h, head)
	})
	t.Run("protected paths", func(t *testing.T) {
		if !strings.Contains(r.Stderr,
			"t1-02 changes protected paths: .gitattributes, .gitconfig, .github/workflows/ci.yml, sub/.gitattributes. Merge "+
				"it?") {
			// T14
			t.Errorf("the president is not asked:\n%s", stripSteering(r.Stderr))
		}
		if got := h.Git(h.Origin, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main" {
			t.Errorf("references at the origin:\n%s", got)
		}
		if got := resolveInMirror(h, "refs/heads/develop-t1-"+h.OfficeID()+":.github/workflows/ci.yml"); got != "" {
			t.Errorf("a protected path was merged: %s", got)
		}
	})
	t.Run("too much", func(t *testing.T) {
		res := result(t, h, "t1-03.1")
		if res.Status != company.RunError || len(res.Errors) != 1 || !strings.Contains(res.Errors[0], "changes 45000 files") {
			t.Errorf("the run that changed everything: %+v", res)
		}
		if b := staff.brief("t1-03.2"); !strings.Contains(b, "changes 45000 files") {
			t.Errorf("the next run is not told: %s", b)
		}
	})
	t.Run("the office stands", func(t *testing.T) {
		if at := steering.FindStringIndex(r.Stdout + r.Stderr); at != nil {
			t.Errorf("on the screen: %q", (r.Stdout + r.Stderr)[max(0, at[0]-200):at[1]])
		}
		if got := h.Run(patience, "submit", "--dry-run", "--set", "workers.max=65", "never begun"); got.Code != 1 {
			t.Errorf("a bad setting ends with %d\n%s", got.Code, got.Stderr)
		}
		staff.assignTickets(ticket{title: "One more", writeSet: "more.txt"})
		if got := h.Run(patience, "submit", "--dry-run", "one more"); got.Code != 0 {
			t.Errorf("the next task ends with %d\n%s\n%s", got.Code, got.Stdout, stripSteering(got.Stderr))
		}
	})
}

// traps asks for commands in every way that a tree can, and changes a file
// that another worker changes too, so that git has to merge its content.
const traps = `mkdir -p .github/workflows sub
printf '* merge=canary diff=canary filter=canary text eol=lf ident export-subst\n' >.gitattributes
# A filter on a manifest, or on the attributes themselves, refuses the branch before the president is asked.
printf 'go.mod !filter\n.gitattributes !filter\n' >>.gitattributes
cp .gitattributes sub/.gitattributes
printf 'on: push\njobs: {}\n' >.github/workflows/ci.yml
printf '[core]\n\tfsmonitor = touch /tmp/x\n' >.gitconfig
printf '[submodule "x"]\n\tpath = x\n\turl = -u./payload\n\tupdate = !touch /tmp/x\n' >sub/gitmodules
printf '#!/bin/sh\ntouch /tmp/x\n' >post-checkout; chmod +x post-checkout
echo below >>CODE.txt; echo trap >traps.txt; echo x >sub/x.txt`

const many = `for d in $(seq 90); do mkdir -p many/$d && (cd many/$d && seq -f "` +
	"n-with-a-name-that-takes-some-room-in-a-list-of-all-of-them-%g" +
	`" 500 | xargs touch); done; find many -type f | wc -l`

// resolveInMirror is what an expression names in the office's mirror; "" for nothing.
func resolveInMirror(h *testenv.House, rev string) string {
	dirs, _ := filepath.Glob(filepath.Join(h.State(), "git", "*.git"))
	for _, dir := range dirs {
		out, err := exec.Command("git", "-c", "safe.directory=*", "--git-dir="+dir, "rev-parse", "--verify", "--quiet",
			rev).Output()
		if err == nil {
			return strings.TrimSpace(string(out))
		}
	}
	return ""
}

// canaries are commands on the host that must never run.
type canaries struct{ dir string }

func (c canaries) firedCanaries(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(c.dir, "fired"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, "\n")
}

// layCanaries puts a command under every key of the operator's git that runs
// one, for the user and for the checkout: what large-file filters, mergers and
// signers look like. A tree's attributes choose among them.
func layCanaries(t *testing.T, h *testenv.House) canaries {
	t.Helper()
	c := canaries{dir: filepath.Join(h.Dir, "canaries")}
	hooks := filepath.Join(c.dir, "hooks")
	for _, d := range []string{hooks, filepath.Join(c.dir, "fired")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string) string {
		p := filepath.Join(c.dir, name)
		text := fmt.Sprintf("#!/bin/sh\ntouch %s\ncat >/dev/null 2>&1 </dev/null\nexit 0\n",
			filepath.Join(c.dir, "fired", filepath.Base(name)))
		if err := os.WriteFile(p, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, hook := range []string{
		"pre-receive", "update", "post-receive", "post-update", "reference-transaction", "pre-push", "post-checkout",
		"post-merge", "pre-merge-commit",
		"pre-commit", "post-commit", "commit-msg", "prepare-commit-msg", "pre-auto-gc", "post-index-change", "post-rewrite",
		"fsmonitor-watchman", "push-to-checkout",
	} {
		command("hooks/" + hook)
	}
	config := fmt.Sprintf(
		"[core]\n\thooksPath = %s\n\tfsmonitor = %s\n\tattributesFile = %s\n\talternateRefsCommand = %s\n\tsshCommand = "+
			"%s\n\taskPass = %s\n\tpager = %s\n\teditor = %s\n",
		hooks, command("fsmonitor"), filepath.Join(c.dir, "attributes"), command("alternate-refs"), command("ssh"),
		command("askpass"), command("pager"), command("editor")) +
		fmt.Sprintf("[merge \"canary\"]\n\tdriver = %s %%O %%A %%B\n[diff]\n\texternal = %s\n[diff \"canary\"]\n\tcommand "+
			"= %s\n\ttextconv = %s\n", command("merge-driver"), command("diff-external"), command("diff-command"),
			command("diff-textconv")) +
		fmt.Sprintf("[filter \"canary\"]\n\tclean = %s\n\tsmudge = %s\n\trequired = true\n", command("filter-clean"),
			command("filter-smudge")) +
		fmt.Sprintf("[gpg]\n\tprogram = %s\n[commit]\n\tgpgSign = true\n[credential]\n\thelper = "+
			"\"!%s\"\n[uploadpack]\n\tpackObjectsHook = %s\n", command("gpg"), command("credential"),
			command("pack-objects-hook")) +
		fmt.Sprintf("[remote \"origin\"]\n\tuploadpack = %s\n\treceivepack = %s\n[trailer \"x\"]\n\tcommand = "+
			"%s\n[pager]\n\tlog = %s\n", command("uploadpack"), command("receivepack"), command("trailer"), command("pager-log"))
	if err := os.WriteFile(filepath.Join(c.dir, "attributes"), []byte("* merge=canary diff=canary filter=canary\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.Dir, "home", ".gitconfig"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(h.Repo, ".git", "config")
	old, err := os.ReadFile(own)
	if err == nil {
		err = os.WriteFile(own, append(old, config...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// runUnprotected has git do, without our precautions, what the host did with them:
// the canaries fire then.
func (c canaries) runUnprotected(t *testing.T, h *testenv.House, head string) {
	t.Helper()
	mirrors, _ := filepath.Glob(filepath.Join(h.State(), "git", "*.git"))
	if len(mirrors) != 1 {
		t.Fatalf("mirrors: %v", mirrors)
	}
	dir := filepath.Join(c.dir, "control")
	home := "/nonexistent"
	git := func(a ...string) {
		cmd := exec.Command("git", a...)
		cmd.Env = append(os.Environ(), "HOME="+home, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory",
			"GIT_CONFIG_VALUE_0=*",
			"GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@example.com", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@example.com")
		_ = cmd.Run() // the canaries do not do what git wants of them
	}
	git("init", "-q", dir)
	git("-C", dir, "fetch", "-q", mirrors[0], head, "refs/company/runs/t1-01.1")
	home = filepath.Join(h.Dir, "home")
	git("-C", dir, "checkout", "-q", head)
	git("-C", dir, "diff", head+"^")
	git("-C", dir, "merge", resolveInMirror(h, "refs/company/runs/t1-01.1"))
	fired := c.firedCanaries(t)
	for _, want := range []string{"filter-smudge", "diff-", "fsmonitor"} {
		if !strings.Contains(fired, want) {
			t.Errorf("the control did not fire %s, only:\n%s", want, fired)
		}
	}
}
