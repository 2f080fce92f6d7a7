// Package realrepos does the company's main job on a foreign project:
// spf13/pflag, copied out of the module cache, with its own test suite
// as the gate. What it asserts, it sees with its own eyes: on the origin, in a
// clone of its own, and in Docker's events.
package realrepos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"company/internal/adapters/scripted"
	"company/internal/lib/hosttest"
	"company/test/testenv"
	"company/test/together"
)

const module = "github.com/spf13/pflag"

// TestPflag shows SUB-17, GAT-1, REV-1 and REV-3 on real input: two subtasks
// in parallel, gated by pflag's own tests, reviewed, merged and delivered.
func TestPflag(t *testing.T) {
	hosttest.Long(t, "the demo's work on a repository of others; test/strangers has one of each kind")
	files := moduleFiles(t)
	h := testenv.New(t, together.Brain(scripted.BrainFunc(reply), len(features), 5*time.Minute), files)
	// Without warm ones, each container says by its labels whose it is.
	h.Config("workers: {max: 2, warm: 0}\n")
	base := h.Git(h.Origin, "rev-parse", "main")
	before := passed(t, h.Repo) // also: the suite is green where we start

	watched := watchDocker(t)
	r := h.Run(8*time.Minute, "submit", "-o", "json",
		"Give FlagSet a choice flag, and a way to list the flags that were set.")
	if r.Code != 0 {
		t.Fatalf("exit %d\n%s\n%s", r.Code, r.Stdout, shown(r.Stderr))
	}
	t.Run("workers overlapped", func(t *testing.T) {
		claimed, ended := times(t, r.Stderr, "run.claimed"), times(t, r.Stderr, "run.ended")
		for _, pair := range [][2]string{{"t1-01.1", "t1-02.1"}, {"t1-02.1", "t1-01.1"}} {
			if a, b := claimed[pair[0]], ended[pair[1]]; a.IsZero() || !a.Before(b) {
				t.Errorf("%s was claimed at %s, after %s ended at %s", pair[0], a, pair[1], b)
			}
		}
		lives := watched(h.OfficeID(), "worker", len(features))
		if len(lives) != len(features) {
			t.Fatalf("%d worker containers, want %d: %v", len(lives), len(features), lives)
		}
		if !lives[0].overlaps(lives[1]) {
			t.Errorf("the workers did not run at the same time: %v", lives)
		}
	})

	branch := "develop-t1-" + h.OfficeID()
	if got := h.Git(h.Origin, "rev-parse", "main"); got != base {
		t.Errorf("main moved from %s to %s", base, got)
	}
	if got := h.Git(h.Repo, "status", "--porcelain"); got != "" {
		t.Errorf("the president's checkout was touched:\n%s", got)
	}
	clone := filepath.Join(h.Dir, "clone")
	h.Git("", "clone", "-q", "--branch", branch, h.Origin, clone)
	head := h.Git(clone, "rev-parse", "HEAD")

	t.Run("the pushed commit", func(t *testing.T) {
		var want []string
		for _, f := range features {
			want = append(want, "A\t"+f.file, "A\t"+f.testFile)
		}
		slices.Sort(want)
		if got := strings.Split(h.Git(clone, "diff", "--no-renames", "--name-status", base, head), "\n"); !slices.Equal(
			got, want) {
			t.Errorf("changed %q, want %q", got, want)
		}
		if out, err := goTool(clone, "vet", "./..."); err != nil {
			t.Errorf("go vet: %v\n%s", err, out)
		}
		after := passed(t, clone)
		for name := range before {
			if !after[name] {
				t.Errorf("%s passed on the base and does not on the pushed commit", name)
			}
		}
		for _, f := range features {
			for _, name := range f.tests {
				if !after[name] || before[name] {
					t.Errorf("%s: passed before %v, after %v", name, before[name], after[name])
				}
			}
		}
	})

	for _, f := range features {
		t.Run("red without "+f.file, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "red")
			h.Git("", "clone", "-q", "--branch", "main", h.Origin, dir)
			test := h.Git(clone, "show", head+":"+f.testFile)
			if err := os.WriteFile(filepath.Join(dir, f.testFile), []byte(test+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := goTool(dir, "test", "./...")
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				t.Fatalf("the new test passes without the change: %v\n%s", err, out)
			}
			if !strings.Contains(out, f.undefined) {
				t.Errorf("red for another reason than the missing %s:\n%s", f.undefined, out)
			}
		})
	}

	t.Run("results fit their schema", func(t *testing.T) { checkResults(t, h.Repo) })

	t.Run("what company says", func(t *testing.T) {
		feed := events(t, r.Stderr)
		t.Log(shown(r.Stderr))
		for _, want := range []string{"go vet ./...", "go test ./..."} {
			if !strings.Contains(feed["task.based"][0], want) {
				t.Errorf("%q does not name the gate %s", feed["task.based"][0], want)
			}
		}
		if n := len(feed["merge.done"]); n != len(features) {
			t.Errorf("%d merges, want %d", n, len(features))
		}
		// The manager, and for each feature and the whole at least one review;
		// the workers.
		if n := len(feed["run.claimed"]); n < 2+2*len(features) {
			t.Errorf("%d claims: %q", n, feed["run.claimed"])
		}
		var sum struct {
			Result, Head string
			PR           int
		}
		if err := json.Unmarshal([]byte(r.Stdout), &sum); err != nil {
			t.Fatal(err)
		}
		if sum.Result != "COMPLETE" || sum.PR != 1 || sum.Head != head {
			t.Errorf("%+v, want COMPLETE, pull request 1 and the pushed %s", sum, head)
		}
	})
}

// checkResults holds the result.json of every run against the schema that is
// shipped for other programs (ART-1, ART-2).
func checkResults(t *testing.T, repo string) {
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(root, "docs", "schemas", "execution-result.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	workers := 0
	err = filepath.WalkDir(filepath.Join(repo, ".company"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "result.json" {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return err
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v\n%s", p, err, text)
		}
		var r struct {
			AgentID      string `json:"agent_id"`
			Status       string
			Artifacts    []struct{ Path, Action string }
			QualityGates *struct{ Overall bool } `json:"quality_gates"`
		}
		if err := json.Unmarshal(text, &r); err != nil {
			return err
		}
		if len(r.Artifacts) > 0 {
			workers++
			if r.Status != "success" || len(r.Artifacts) != 2 || r.Artifacts[0].Action != "created" || r.QualityGates == nil ||
				!r.QualityGates.Overall {
				t.Errorf("%s: %s", p, text)
			}
		}
		return nil
	})
	if err != nil || workers != len(features) {
		t.Errorf("%d results with artifacts, want %d; %v", workers, len(features), err)
	}
}

// events are the texts of a feed by their kind.
func events(t *testing.T, feed string) map[string][]string {
	t.Helper()
	by := map[string][]string{}
	for line := range strings.Lines(feed) {
		var item struct{ Kind, Text string }
		if err := json.Unmarshal([]byte(line), &item); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		by[item.Kind] = append(by[item.Kind], item.Text)
	}
	return by
}

// times are when the runs of a feed had this event.
func times(t *testing.T, feed, kind string) map[string]time.Time {
	t.Helper()
	at := map[string]time.Time{}
	for line := range strings.Lines(feed) {
		var item struct {
			Kind, Run string
			Time      time.Time
		}
		if err := json.Unmarshal([]byte(line), &item); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if item.Kind == kind {
			at[item.Run] = item.Time
		}
	}
	return at
}

// shown is what a person would see of a feed.
func shown(feed string) string {
	var b strings.Builder
	for line := range strings.Lines(feed) {
		if !strings.Contains(line, `"quiet":true`) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// moduleFiles are the files of the module that this program itself was built
// with.
func moduleFiles(t *testing.T) map[string]string {
	t.Helper()
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Dir, Version string }
	out, err := goTool(root, "list", "-m", "-json", module)
	if err == nil {
		err = json.Unmarshal([]byte(out), &m)
	}
	if err == nil && m.Dir == "" { // known by version, not in the cache yet
		if out, err = goTool(root, "mod", "download", "-json", module); err == nil {
			err = json.Unmarshal([]byte(out), &m)
		}
	}
	if err != nil || m.Dir == "" {
		t.Fatalf("find %s: %v\n%s", module, err, out)
	}
	files := map[string]string{}
	err = filepath.WalkDir(m.Dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(m.Dir, p)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(p)
		files[rel] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s %s: %d files", module, m.Version, len(files))
	return files
}

// goTool runs the go command with this machine's cache, and no network.
func goTool(dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if args[0] == "test" || args[0] == "vet" {
		cmd.Env = append(cmd.Env, "GOPROXY=off")
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	return string(out) + errs.String(), err
}

var passLine = regexp.MustCompile(`(?m)^--- PASS: (\S+)`)

// passed runs the tests of a folder, which must be green, and names those that
// passed.
func passed(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out, err := goTool(dir, "test", "-count=1", "-v", "./...")
	if err != nil {
		t.Fatalf("go test in %s: %v\n%s", dir, err, out)
	}
	names := map[string]bool{}
	for _, m := range passLine.FindAllStringSubmatch(out, -1) {
		names[m[1]] = true
	}
	if len(names) < 100 {
		t.Fatalf("only %d tests passed: this is not pflag's suite", len(names))
	}
	return names
}
