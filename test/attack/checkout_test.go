package attack

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/lib/hosttest"
	"company/internal/lib/safedir"
	"company/internal/office"
	"company/internal/office/config/configtest"
)

// wanted is the name that a worker asks git for. Git repeats it in its error,
// and that stands in git.log.
const wanted = "$(touch fired)"

// want is a request of git's own protocol for an object of that name: the
// server's git repeats it on its stderr.
const want = `exec 9<>/dev/tcp/127.0.0.1/8377
printf 'POST /git/t1-01.1.git/git-upload-pack HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-git-upload-pack-request\r\nContent-Length: 28\r\n\r\n0018want ` + "%s" + `\n0000' '` + wanted + `' >&9
IFS= read -r -t 20 line <&9
echo "$line"`

// shellRuns says whether a shell that reads the file as its profile, as each
// login does, runs what a worker wrote.
func shellRuns(t *testing.T, profile string) bool {
	t.Helper()
	text, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash")
	cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(string(text))
	_ = cmd.Run() // lines that are no commands fail
	_, err = os.Lstat(filepath.Join(cmd.Dir, "fired"))
	return err == nil
}

// A checkout has, where the office would write, a link to the operator's
// profile, in a submodule so that its own index knows nothing of it; a worker
// has git say words of its choice into git.log. With files written by path, and
// lines as they come, the next login runs them. Each of what is between stops
// it: the look at the folders, the folder that is held open, the form of the
// line.
func TestACheckoutRunsNothingAsTheOperator(t *testing.T) {
	for _, c := range []struct{ at, config string }{
		{"runtime", "version: 1\npaths: {runtime: runtime}\n"},
		{".company/runtime", ""},
	} {
		t.Run(c.at, func(t *testing.T) {
			files := map[string]string{"run.sh": "true\n"}
			if c.config != "" {
				files["company.yaml"] = c.config
			}
			h := newHouse(t, &crew{}, files)
			profile := filepath.Join(h.Dir, "home", ".bashrc")
			reset := func() {
				if err := os.WriteFile(profile, []byte("# mine\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			reset()
			evil := filepath.Join(h.Dir, "evil")
			h.Git("", "init", "-q", "-b", "main", evil)
			if err := errors.Join(os.MkdirAll(filepath.Join(evil, "runs", "t1-01.1"), 0o755),
				os.Symlink(profile, filepath.Join(evil, "runs", "t1-01.1", "git.log"))); err != nil {
				t.Fatal(err)
			}
			h.Git(evil, "add", "-A")
			h.Git(evil, "commit", "-q", "-m", "a link")
			h.Git(h.Repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", evil, c.at)
			h.Git(h.Repo, "commit", "-q", "-m", "a submodule")
			h.Git(h.Repo, "push", "-q", "origin", "main")
			clone := filepath.Join(h.Dir, "clone")
			h.Git("", "-c", "protocol.file.allow=always", "clone", "-q", "--recurse-submodules", h.Origin, clone)
			h.Repo = clone
			runs := filepath.Join(clone, c.at, "runs")
			said := fmt.Sprintf("fatal: couldn't find remote ref %s", wanted)

			// Off: a file that is opened by path, and a line of text.
			log, err := os.OpenFile(filepath.Join(runs, "t1-01.1", "git.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			_, err = fmt.Fprintf(log, "2026-01-01T00:00:00Z fetch exit=128 stderr=%q\n", said)
			if err := errors.Join(err, log.Close()); err != nil {
				t.Fatal(err)
			}
			if !shellRuns(t, profile) {
				t.Fatal("the attack does nothing where nothing stops it")
			}
			reset()

			// The form of the line alone.
			if log, err = os.OpenFile(filepath.Join(runs, "t1-01.1", "git.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY,
				0o600); err != nil {
				t.Fatal(err)
			}
			line, err := safedir.Line(gitops.Operation{Op: "fetch", Exit: 128, Args: []string{wanted}, Stderr: said})
			if err == nil {
				_, err = log.Write(line)
			}
			if err := errors.Join(err, log.Close()); err != nil {
				t.Fatal(err)
			}
			if shellRuns(t, profile) {
				t.Errorf("a shell runs what stands in %s", line)
			}
			reset()

			// The folder alone.
			own, err := safedir.Open(runs)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := own.Append("t1-01.1/git.log"); company.CodeOf(err) != company.EConfig {
				t.Errorf("the log was opened: %v", err)
			}
			if err := own.Close(); err != nil {
				t.Error(err)
			}

			// The look at the folders, and the whole.
			p, err := office.Find(office.FindOptions{Dir: clone, Env: configtest.Env(map[string]string{"HOME": h.Dir})})
			if err == nil {
				_, err = office.Open(t.Context(), p)
			}
			if company.CodeOf(err) != company.EConfig {
				t.Errorf("the office was opened: %v", err)
			}
			for _, args := range [][]string{{"submit", "--no-input", "do it"}, {"submit", "--detach", "do it"}} {
				r := h.Run(patience, args...)
				if r.Code != 1 || !strings.Contains(r.Stderr, "error[E_CONFIG]") ||
					!strings.Contains(r.Stderr, "it is a git repository") || !strings.Contains(r.Stderr, "fix:") {
					t.Errorf("company %s: exit %d\n%s%s", strings.Join(args, " "), r.Code, r.Stdout, r.Stderr)
				}
			}
			if text, err := os.ReadFile(profile); err != nil || string(text) != "# mine\n" {
				t.Errorf("the profile: %q, %v", text, err)
			}
		})
	}
}

// The same links put there while a company is at work, by a checkout in
// another terminal: what is written from then on is refused, and nothing gets
// out. When they are gone, the work goes on.
func TestLinksPutThereWhileACompanyWorks(t *testing.T) {
	staff := &crew{}
	h := newHouse(t, staff, map[string]string{"run.sh": "true\n"})
	h.Config("gates: {lint: none, test: 'true'}\n")
	profile := filepath.Join(h.Dir, "home", ".bashrc")
	if err := os.WriteFile(profile, []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	links := []string{"transcript.ndjson", "result.json"}
	run := func(name string) string { return filepath.Join(runsDir(h, "t1-01.1"), name) }
	staff.assignTickets(ticket{title: "Do it", writeSet: "a.txt", runs: [][]step{{
		runScript(want),
		staff.lookBetween("links", func() string {
			var err error
			for _, name := range links {
				err = errors.Join(err, os.Symlink(profile, run(name)))
			}
			// git.log is open by now: whoever opens it again finds a second name.
			err = errors.Join(err, os.Rename(run("git.log"), run("git.log")+".aside"), os.Link(profile, run("git.log")))
			return fmt.Sprint(err)
		}, do("write_file", args{"path": "a.txt", "content": "a\n"})),
		do("git_commit", args{"message": "Do it " + wanted}),
		do("finish", args{"summary": "done " + wanted}),
	}}})
	p := h.Start("submit", "--no-input", "do it")
	hosttest.Eventually(t, "the link is refused", func() (any, bool) {
		text, err := os.ReadFile(filepath.Join(h.State(), "logs", "company.log"))
		return fmt.Sprintf("%v\n%s", err, text), err == nil && strings.Contains(string(text), "it is a symbolic link")
	})
	if got := staff.seenAs("links"); got != "<nil>" {
		t.Fatalf("the links were not put there: %s", got)
	}
	p.Kill()
	p.Wait(patience)
	if text, err := os.ReadFile(profile); err != nil || string(text) != "# mine\n" || shellRuns(t, profile) {
		t.Fatalf("the profile: %q, %v", text, err)
	}
	// The words of the worker are in the log, and are no more than that.
	log, err := os.ReadFile(run("git.log") + ".aside")
	if err != nil || !strings.Contains(string(log), `expected to get object ID, not 'want \u0024(touch fired)'`) {
		t.Errorf("the log tells of no request: %v\n%s", err, log)
	}
	if shellRuns(t, run("git.log")+".aside") {
		t.Error("a shell runs what stands in the log")
	}
	// Started again, it says what is in the way; without it, it ends.
	for _, name := range append(links, "git.log") {
		if err := os.Remove(run(name)); err != nil {
			t.Fatal(err)
		}
	}
	r := h.Run(patience, "resume", "t1")
	if r.Code != 0 || !strings.Contains(r.Stdout, "COMPLETE") {
		t.Errorf("it does not go on: exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	if text, err := os.ReadFile(run("result.json")); err != nil || !strings.Contains(string(text), "done ") {
		t.Errorf("the result: %v\n%s", err, text)
	}
	if text, err := os.ReadFile(profile); err != nil || string(text) != "# mine\n" {
		t.Errorf("the profile: %q, %v", text, err)
	}
}
