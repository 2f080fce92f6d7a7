package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/office/config/configtest"
	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
	"company/internal/surface/terminalio/terminaltest"
	"company/test/heldoffice"
)

func headOfMain(t *testing.T, o *heldoffice.Office) string {
	t.Helper()
	return strings.TrimSpace(configtest.Git(t, o.Repo, "rev-parse", "main"))
}

// personAt runs a command at a terminal, where the person answers its question.
func personAt(t *testing.T, o *heldoffice.Office, answer string, args ...string) (heldoffice.Result, string) {
	t.Helper()
	person, tty := terminaltest.OpenPTY(t)
	var out bytes.Buffer
	environ := append(os.Environ(), "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann",
		"GIT_COMMITTER_EMAIL=ann@example.com")
	env := command.NewEnvironment(
		terminalio.Console{In: tty, Out: &out, Err: tty, LookupEnv: o.LookupEnv, Environ: environ})
	code := make(chan int, 1)
	go func() { code <- execute(t.Context(), env, append(args, "--repo", o.Repo)) }()
	asked := ""
	if answer != "" {
		asked = terminaltest.ReadToPrompt(t, person, "[y/N] ")
		if _, err := person.WriteString(answer + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	return heldoffice.Result{Code: <-code, Out: out.String()}, asked
}

// Without a terminal nothing is merged, whatever flags there are; at one, a person's yes
// merges, and no yes does not (REV-1, docs/decisions/pull-requests.md).
func TestMergeNeedsATerminal(t *testing.T) {
	o := heldoffice.Open(t)
	o.Delivered("add c", "c.txt")
	at := headOfMain(t, o)
	for _, served := range []bool{true, false} {
		if served {
			o.Serve()
		} else {
			o.Close()
		}
		for _, args := range [][]string{{}, {"--yes"}, {"-o", "json"}, {"--yes", "-o", "json"}} {
			r := o.Run(t.Context(), execute, append([]string{"pr", "merge", "1"}, args...)...)
			if r.Code != 1 || r.Out != "" || !strings.Contains(r.Err, "E_PROTECTED") ||
				!strings.Contains(r.Err, "git merge --no-ff") ||
				!strings.Contains(r.Err, "at a terminal this merges it, once you confirm it: company pr merge 1") {
				t.Errorf("served %v %v: %+v", served, args, r)
			}
		}
	}
	if headOfMain(t, o) != at {
		t.Fatal("main was moved without a person")
	}
	if r, asked := personAt(t, o, "n", "pr", "merge", "1"); r.Code == 0 ||
		!strings.Contains(asked, "merge #1 into main, at ") {
		t.Errorf("a no: %+v\n%s", r, asked)
	}
	if headOfMain(t, o) != at {
		t.Fatal("main was moved against a person's no")
	}
	if r, _ := personAt(t, o, "y", "pr", "merge", "1"); r.Code != 0 || !strings.Contains(r.Out, "#1 is merged") {
		t.Errorf("a yes: %+v", r)
	}
	if _, err := os.Stat(filepath.Join(o.Repo, "c.txt")); err != nil || headOfMain(t, o) == at {
		t.Errorf("it is not merged: %v", err)
	}
	for range 2 {
		if r := o.Run(t.Context(), execute, "pr", "merge", "1"); r.Code != 0 || !strings.Contains(r.Out, "#1 is merged") {
			t.Errorf("a repeat: %+v", r)
		}
	}
	requireRefusal(t, o.Run(t.Context(), execute, "pr", "merge", "9"), company.ENotFound, "pull request")
}

// What was merged by hand is noted without a terminal.
func TestMergeByHandIsNoted(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Delivered("add c", "c.txt")
	configtest.Git(t, o.Repo, "fetch", "-q", filepath.Join(o.Paths.Git, "project.git"), string(o.Task(id).PR.Head))
	configtest.Git(t, o.Repo, "-c", "user.name=a", "-c", "user.email=a@b", "merge", "-q", "--no-ff", "--no-edit",
		"FETCH_HEAD")
	o.Serve()
	if r := o.Run(t.Context(), execute, "pr", "merge", "1", "-o", "json"); r.Code != 0 ||
		!strings.Contains(r.Out, `"state":"merged"`) {
		t.Errorf("%+v", r)
	}
}

// A pull request comes to a branch of the clone.
func TestPRCheckout(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Delivered("add c", "c.txt")
	pr := o.Task(id).PR
	o.Serve()
	if r := o.Run(t.Context(), execute, "pr", "checkout", "1", "-o", "json"); r.Code != 0 ||
		!strings.Contains(r.Out, `"branch":"`+pr.Branch+`"`) {
		t.Errorf("%+v", r)
	}
	o.Close()
	if r := o.Run(t.Context(), execute, "pr", "checkout", "1"); r.Code != 0 ||
		!strings.Contains(r.Out, "is on "+pr.Branch+", at "+pr.Head.Short()) {
		t.Errorf("%+v", r)
	}
	if got := strings.TrimSpace(configtest.Git(t, o.Repo, "rev-parse", "HEAD")); got != string(pr.Head) {
		t.Errorf("the clone is at %s", got)
	}
	requireRefusal(t, o.Run(t.Context(), execute, "pr", "checkout", "9"), company.ENotFound, "pull request")
}
