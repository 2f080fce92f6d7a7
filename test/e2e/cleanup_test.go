package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

type leftover struct {
	Kind, Name string
	Bytes      int64
}

// runCleanup runs cleanup with these flags and gives what it tells.
func runCleanup(t testing.TB, h *testenv.House, flags ...string) []leftover {
	t.Helper()
	var out struct {
		DryRun bool `json:"dry_run"`
		Docker bool
		Items  []leftover
	}
	h.JSON(&out, append([]string{"cleanup"}, flags...)...)
	if !out.Docker || out.DryRun != slices.Contains(flags, "--dry-run") {
		t.Errorf("cleanup %v: %+v", flags, out)
	}
	return out.Items
}

// TestCleanup: what is listed is what goes, and nothing else: not what an open
// pull request needs, not what somebody put there, not the evidence in the
// ledger (STA-4).
func TestCleanup(t *testing.T) {
	t.Parallel()
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	project := tinyProject()
	project["NOTES"] = "An image of its own, which no other office keeps.\n"
	h := testenv.New(t, farewells(), project)
	h.Config(tinyGates)
	runAndExpect(t, h, []string{"nothing to remove"}, "cleanup") // no office yet, and none is made
	if _, err := os.Stat(filepath.Join(h.Repo, ".company")); err == nil {
		t.Error("cleanup made an office")
	}
	p := startServing(t, h)
	waitForSummary(t, h.Start("submit", "say goodbye"), 0)
	runRefused(t, h, 1, "E_CONFLICT", "cleanup")
	if got := runCleanup(t, h, "--all", "--dry-run"); len(got) != 0 {
		t.Errorf("an open pull request is pulled from under its task: %v", got)
	}
	h.MustRun(patience, "pr", "close", "1")
	served := runCleanup(t, h, "--all", "--dry-run")
	servedText := h.MustRun(patience, "cleanup", "--all", "--dry-run").Stdout
	endServing(t, p)

	if got := runCleanup(t, h, "--all", "--dry-run"); !slices.Equal(got, served) {
		t.Errorf("beside a company that serves: %v\nwithout one: %v", served, got)
	}
	if got := h.MustRun(patience, "cleanup", "--all", "--dry-run").Stdout; got != servedText {
		t.Errorf("beside a company that serves:\n%s\nwithout one:\n%s", servedText, got)
	}
	if got := runCleanup(t, h, "--dry-run"); len(got) != 0 {
		t.Errorf("a task that ended just now is old: %v", got)
	}
	runsDir := filepath.Join(h.Repo, ".company", "runtime", "runs")
	for _, name := range []string{"notes", "t7-01.1"} { // a person's, and another ledger's
		if err := os.MkdirAll(filepath.Join(runsDir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(h.Dir, "outside")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(h.Dir, filepath.Join(runsDir, "t1-01.1", "link")); err != nil {
		t.Fatal(err)
	}
	listed := runCleanup(t, h, "--all", "--dry-run")
	kinds := map[string]int{}
	for _, l := range listed {
		kinds[l.Kind]++
		if l.Kind == "run" && l.Bytes == 0 {
			t.Errorf("%v is said to hold nothing", l)
		}
	}
	for _, want := range []string{"run", "repository", "result", "image"} {
		if kinds[want] == 0 {
			t.Errorf("nothing of kind %s: %v", want, listed)
		}
	}
	// Images are the machine's: another test's office may be at work with the
	// very same one. It is left to it here.
	gone := cleansFiles(t, h)
	if want := files(listed); !slices.Equal(gone, want) {
		t.Errorf("removed %v, listed %v", gone, want)
	}
	entries, err := os.ReadDir(runsDir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left in %s: %v, %v", runsDir, entries, err)
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "mine" {
		t.Errorf("a link was followed: %q, %v", text, err)
	}
	if repos, err := filepath.Glob(filepath.Join(h.State(), "git", "runs", "*.git")); err != nil ||
		len(repos) > 0 {
		t.Errorf("repositories left: %v, %v", repos, err)
	}
	if got := files(runCleanup(t, h, "--all", "--dry-run")); len(got) != 0 {
		t.Errorf("again: %v", got)
	}
	runAndExpect(t, h, []string{"t1", "done"}, "status")
	runAndExpect(t, h, []string{"farewell.sh"}, "diff", "t1")
	waitForSummary(t, h.Start("submit", "say goodbye"), 0) // all that went can be made again
}

// cleansFiles is cleanup --all where Docker does not answer: its containers
// and images stay, and it says so.
func cleansFiles(t testing.TB, h *testenv.House) []leftover {
	t.Helper()
	env := h.Env
	defer func() { h.Env = env }()
	h.Env = append(slices.Clone(env), "DOCKER_HOST=unix://"+filepath.Join(h.Dir, "no.sock"))
	var out struct {
		Docker bool
		Items  []leftover
	}
	h.JSON(&out, "cleanup", "--all")
	if out.Docker {
		t.Error("Docker is said to have been asked")
	}
	return out.Items
}

func files(all []leftover) []leftover {
	return slices.DeleteFunc(slices.Clone(all),
		func(l leftover) bool { return l.Kind == "image" || l.Kind == "container" })
}

// TestCleanupOfOrphans: the container of a company that died is removed by
// cleanup, the run that it was of goes on from its checkpoint (DOC-3, GIT-10). Until then
// status names it, and the journal tells what it did, for there is no transcript.
func TestCleanupOfOrphans(t *testing.T) {
	t.Parallel()
	h, p, held := atWork(t)
	p.Kill()
	held.release()
	runAndExpect(t, h, []string{"NEEDS YOU\n  ~ t1 is resting: no company is running: company resume t1\n"}, "status")
	runAndExpect(t, h, []string{"t1-01.1  worker  ", "+ write_file", "created farewell.sh"}, "logs", "--full", "t1-01.1")
	listed := runCleanup(t, h, "--dry-run")
	if len(listed) != 1 || listed[0].Kind != "container" || !strings.Contains(listed[0].Name, "t1-01.1") {
		t.Fatalf("listed: %v", listed)
	}
	if gone := runCleanup(t, h); !slices.Equal(gone, listed) {
		t.Errorf("removed %v, listed %v", gone, listed)
	}
	if left := h.Containers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
}
