package strangers

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/feed"
	"company/internal/hosttest"
	"company/test/testenv"
)

var (
	all   = flag.Bool("all", false, "run every stranger, not two of each kind")
	table = flag.String("table", "", "write the table to this file")
)

// most is how long one stranger may take, its image prepared from nothing
// included.
const most = 20 * time.Minute

// Real input: repositories that nobody here wrote, and projects in the shapes
// that people have, with nothing configured but the model.
func TestStrangers(t *testing.T) {
	hosttest.NeedsDocker(t)
	var mu sync.Mutex
	var rows []Row
	list := slices.Concat(Modules, Fixtures)
	t.Run("walk", func(t *testing.T) {
		for _, s := range list {
			if !*all && !s.Short {
				continue
			}
			t.Run(strings.ReplaceAll(s.Name, "/", "-"), func(t *testing.T) {
				t.Parallel()
				row := walk(t, s)
				mu.Lock()
				defer mu.Unlock()
				rows = append(rows, row)
			})
		}
	})
	order := func(r Row) int { return slices.IndexFunc(list, func(s Stranger) bool { return s.Name == r.Name }) }
	slices.SortFunc(rows, func(a, b Row) int { return order(a) - order(b) })
	complete := map[bool]int{}
	for _, r := range rows {
		t.Logf("%+v", r)
		if r.Result == "COMPLETE" {
			complete[r.Kind == "go"]++
		} else if r.Why == "" {
			t.Errorf("%s is not complete, and says no word why", r.Name)
		}
	}
	wantGo, wantShapes := 2, 2
	if *all {
		wantGo, wantShapes = len(Modules)-1, len(Fixtures)
	}
	if complete[true] < wantGo || complete[false] < wantShapes {
		t.Errorf("%d Go modules (of at least %d) and %d fixtures (of %d) are complete", complete[true], wantGo, complete[false], wantShapes)
	}
	if *table != "" {
		if err := os.WriteFile(*table, []byte(page(rows)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// walk takes one stranger the whole way, and sees with its own eyes that the
// change is at the remote.
func walk(t *testing.T, s Stranger) Row {
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	var files map[string]string
	if s.Module != "" {
		s, files, err = s.module(t.Context(), root)
	} else {
		files, err = s.fixture(root)
	}
	if err != nil {
		t.Fatal(err)
	}
	row := Row{Name: s.Name, Version: s.Version, Kind: s.Kind, Files: len(files)}
	for _, f := range s.Change {
		if _, there := files[f.Path]; there {
			t.Fatalf("%s is there already", f.Path)
		}
	}
	h := testenv.New(t, scripted.BrainFunc(s.reply), files)
	start := time.Now()
	p := h.Start("submit", "Add what is missing, with a test.")
	r := p.Wait(most)
	row.Total = time.Since(start)
	row.Prepare, row.Baseline = prepared(p.Items())
	var sum struct {
		Result, Why, Head string
		PR                *int
	}
	if err := json.Unmarshal([]byte(r.Stdout), &sum); err != nil {
		t.Fatalf("exit %d, %v\n%s\n%s", r.Code, err, r.Stdout, p.Tell())
	}
	row.Result, row.Why = sum.Result, sum.Why
	if sum.Result != "COMPLETE" {
		t.Logf("%s\n%s", r.Stdout, p.Tell())
		return row
	}
	if sum.PR == nil || *sum.PR != 1 {
		t.Errorf("complete, without its pull request: %s", r.Stdout)
	}
	row.prove(t, h)
	branch := "develop-t1-" + h.OfficeID()
	var want []string
	for _, f := range s.Change {
		want = append(want, "A\t"+f.Path)
		if got := h.Git(h.Origin, "show", branch+":"+f.Path); got != strings.TrimRight(f.Text, "\n") {
			t.Errorf("%s at the remote:\n%s", f.Path, got)
		}
	}
	slices.Sort(want)
	if got := strings.Split(h.Git(h.Origin, "diff", "--no-renames", "--name-status", "main", branch), "\n"); !slices.Equal(got, want) {
		t.Errorf("changed %q, want %q", got, want)
	}
	return row
}

// prove reads what the gates have shown of themselves: each of these projects
// has tests, so that they must look at every change.
func (r *Row) prove(t *testing.T, h *testenv.House) {
	var got struct {
		Subtask struct {
			Gate struct {
				Checks []struct {
					Name   string
					TookMS int64 `json:"took_ms"`
					Canary *company.Canary
				}
			}
		}
	}
	h.JSON(&got, "show", "t1-01")
	for _, c := range got.Subtask.Gate.Checks {
		if !strings.HasPrefix(c.Name, "test") {
			continue
		}
		r.Check += time.Duration(c.TookMS) * time.Millisecond
		if k := c.Canary; k != nil {
			r.Canary += k.Took
			r.Proven = append(r.Proven, k.Proven...)
			if len(k.Blind) > 0 || k.Reason != "" {
				t.Errorf("%s: %+v", c.Name, k)
			}
		}
	}
	if len(r.Proven) == 0 {
		t.Errorf("no test has shown that it looks at the change: %+v", got)
	}
}

// reply plays the staff: one ticket, done as it stands in the list.
func (s Stranger) reply(x scripted.Exchange) scripted.Reply {
	type m = map[string]any
	call := func(tool string, args any) scripted.Reply {
		return scripted.Reply{Calls: []scripted.Call{{Tool: tool, Args: args}}}
	}
	switch x.Header.Role {
	case company.Manager:
		if _, _, _, n, err := x.Header.Run.Split(); err == nil && n > 1 {
			return call("give_up", m{"reason": "the one change that there is does not pass"})
		}
		var writes []string
		for _, f := range s.Change {
			writes = append(writes, f.Path)
		}
		return call("submit_plan", m{"why": "one change", "waves": []m{{"subtasks": []m{{
			"title": "Add what is missing", "description": "Add it, with a test, in files of its own.",
			"acceptance_criteria": []string{"the new test passes"}, "write_set": writes, "effort": "small",
		}}}}})
	case company.Worker:
		if x.Turn < len(s.Change) {
			f := s.Change[x.Turn]
			return call("write_file", m{"path": f.Path, "content": f.Text})
		}
		switch x.Turn - len(s.Change) {
		case 0:
			return call("run_command", m{"command": s.Check, "timeout_s": 600})
		case 1:
			if said, _ := x.LastResult("run_command"); !strings.Contains(said, "exit code 0") {
				return call("escalate", m{"reason": "the new test does not pass: " + said})
			}
			return call("git_commit", m{"message": "Add what is missing"})
		case 2:
			return call("finish", m{"summary": "added and tested"})
		}
	case company.Reviewer:
		return call("submit_review", m{"verdict": "approve", "findings": []m{}, "evidence": []string{"the checks ran", "they are new"}})
	}
	return scripted.Reply{Err: fmt.Sprintf("nobody expected turn %d of %s", x.Turn, x.Header.Run)}
}

// prepared reads from the feed how long preparation took and what the checks
// said of the base.
func prepared(items []feed.Item) (took time.Duration, baseline string) {
	var from time.Time
	for _, it := range items {
		switch it.Kind {
		case "task.submitted":
			from = it.Time
		case "task.prepared":
			took = it.Time.Sub(from)
		case "task.baseline":
			baseline = it.Text
		}
	}
	return took, baseline
}

func page(rows []Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Strangers

`+"`make strangers`"+` runs the company on repositories that it was not made for, with
nothing configured but the model: Go modules of our own dependency graph, copied
out of the module cache into fresh git repositories, and seven projects in the
shapes that people have ([test/fixtures](../test/fixtures/README.md)). Each goes
the whole way: the image is prepared, the checks are found and run on the base in
a locked, offline container, one change with its test is merged, and a pull
request is made. The model is scripted, all else is real.

Measured %s on %d processors, two at a time, with what earlier runs had left of image layers.

| repository | version | kind | files | checks of the base | result | prepared in | whole | tests of the ticket | the canary beside them |
|---|---|---|---|---|---|---|---|---|---|
`, time.Now().Format("2006-01-02"), runtime.NumCPU())
	for _, r := range rows {
		result := r.Result
		if r.Why != "" && r.Result != "COMPLETE" {
			result += ": " + strings.ReplaceAll(r.Why, "|", `\|`)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s | %s | %.1f s | %.1f s | %.1f s | %.1f s |\n", r.Name, r.Version, r.Kind, r.Files,
			strings.ReplaceAll(clip(r.Baseline), "|", `\|`), result, r.Prepare.Seconds(), r.Total.Seconds(), r.Check.Seconds(), r.Canary.Seconds())
	}
	return b.String()
}

// clip keeps a long list of what is red from filling the page.
func clip(s string) string {
	const most = 120
	if r := []rune(s); len(r) > most {
		return strings.TrimRight(string(r[:most]), " ,") + " …"
	}
	return s
}

// Two walks at a time: two processors.
func TestMain(m *testing.M) {
	flag.Parse()
	if *table != "" && !filepath.IsAbs(*table) {
		root, err := testenv.Root()
		if err != nil {
			panic(err)
		}
		*table = filepath.Join(root, *table)
	}
	if err := flag.Set("test.parallel", "2"); err != nil {
		panic(err) // the testing package has this flag
	}
	os.Exit(m.Run())
}
