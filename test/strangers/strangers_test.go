package strangers

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
	"company/test/testenv"
)

var (
	all    = flag.Bool("all", false, "run every stranger and its suite outside, not two of each kind")
	resume = flag.Bool("resume", false, "take the rows of an earlier run that are right, and run the others")
	kept   = flag.Bool("kept", false, "run nothing: the table is made of the rows of earlier runs")
	only   = flag.String("only", "", "run those of these names, with commas between, outside too")
	table  = flag.String("table", "", "write the table to this file")
)

const (
	// mostWalk is how long one stranger may take, its image prepared from nothing
	// included.
	mostWalk = 30 * time.Minute
	// leastRight is how many strangers that are not ours have to be right in all.
	leastRight = 22
)

// Real input: repositories that nobody here wrote, and projects in the shapes
// that people have, with nothing configured but the model.
func TestStrangers(t *testing.T) {
	if *only == "" && !*all {
		hosttest.Long(t, "repositories of others are fetched, and their packages")
	}
	hosttest.NeedsDocker(t)
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var rows []Row
	list := listStrangers(root)
	t.Run("walk", func(t *testing.T) {
		for _, s := range list {
			if named := slices.Contains(strings.Split(*only, ","), s.Name); *only != "" && !named ||
				*only == "" && !*all && !s.Short {
				continue
			}
			if *kept {
				if row, there := readRow(t, s); there {
					rows = append(rows, row)
				}
				continue
			}
			t.Run(strings.ReplaceAll(s.Name, "/", "-"), func(t *testing.T) {
				t.Parallel()
				row, there := readRow(t, s)
				if !there {
					row = walk(t, s)
					if !t.Failed() {
						writeRow(t, s, row)
					}
				}
				mu.Lock()
				defer mu.Unlock()
				rows = append(rows, row)
			})
		}
	})
	order := func(r Row) int { return slices.IndexFunc(list, func(s Stranger) bool { return s.Name == r.Name }) }
	slices.SortFunc(rows, func(a, b Row) int { return order(a) - order(b) })
	right, foreign := 0, 0
	for _, r := range rows {
		t.Logf("%+v", r)
		if r.Foreign {
			foreign++
			if r.IsRight() {
				right++
			}
		}
		switch {
		case r.Result != "COMPLETE" && r.Why == "":
			t.Errorf("%s is not complete, and says no word why", r.Name)
		case !r.Foreign && r.Untrue != "":
			t.Errorf("%s: %s", r.Name, r.Untrue)
		case r.Result != "COMPLETE" && (!*all || !r.Foreign):
			t.Errorf("%s is not complete: %s", r.Name, r.Why)
		case !*all && !(r.IsRight() || *only == "" && r.Untrue == "" && len(r.Lacking) == 0):
			t.Errorf("%s is not right: %s", r.Name, r.explainWrong())
		}
	}
	if *all && right < leastRight {
		t.Errorf("%d of %d strangers are right in all, %d should be", right, foreign, leastRight)
	}
	if *table != "" {
		var missing []string
		for _, s := range list {
			if !slices.ContainsFunc(rows, func(r Row) bool { return r.Name == s.Name }) {
				missing = append(missing, s.Name)
			}
		}
		if err := os.WriteFile(*table, []byte(writePage(rows, missing)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// listStrangers is all of them, quick ones before slow ones of their kind.
func listStrangers(root string) []Stranger {
	return slices.Concat(listPackages(root), DebianSources, Modules, listFixtures(root))
}

// rowFile is where the row of a stranger is kept for -resume.
func rowFile(t *testing.T, s Stranger) string {
	dir, err := cacheDir("rows")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, strings.ReplaceAll(s.Name, "/", "-")+"@"+s.Version+".json")
}

func readRow(t *testing.T, s Stranger) (r Row, there bool) {
	if !*resume && !*kept {
		return r, false
	}
	text, err := os.ReadFile(rowFile(t, s))
	if errors.Is(err, fs.ErrNotExist) {
		return r, false
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r, *kept || r.IsRight() || !r.Foreign && r.Result == "COMPLETE"
}

func writeRow(t *testing.T, s Stranger, r Row) {
	if !*all && *only == "" {
		return // the short form has no suite outside
	}
	text, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(rowFile(t, s), text, 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

// walk takes one stranger the whole way, sees with its own eyes that the change is
// at the remote, and asks the suite outside whether the base's verdict is true.
func walk(t *testing.T, s Stranger) Row {
	from, err := s.From.Fetch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if s.Change == nil {
		if s, err = s.addGoChange(from); err != nil {
			t.Fatal(err)
		}
	}
	_, ours := s.From.(Fixture)
	row := Row{Name: s.Name, Version: s.Version, Kind: s.Kind, Foreign: !ours, Unproven: s.Blind,
		Measured: time.Now().UTC()}
	if row.Files, err = countFiles(from.Dir); err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Change {
		if _, err := os.Lstat(filepath.Join(from.Dir, filepath.FromSlash(f.Path))); err == nil {
			t.Fatalf("%s is there already", f.Path)
		}
	}
	for _, c := range s.Checks {
		if err := c.findStatement(from); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	h := testenv.NewFilled(t, scripted.BrainFunc(s.reply), func(h *testenv.House) {
		if err := copyTree(h.Repo, from.Dir); err != nil {
			t.Fatal(err)
		}
		h.Git(h.Repo, "add", "-A", "-f") // an archive has what its repository ignores
	})
	h.LetManagerPlan() // the base is judged before a worker begins, and its row says how
	row.Commit = readCommit(t, h)
	start := time.Now()
	p := h.Start("submit", "Add what is missing, with a test.")
	r := p.Wait(mostWalk)
	row.Total = time.Since(start)
	row.Prepare, row.Baseline = prepared(p.Items())
	var sum struct {
		Result, Why, Head string
		PR                *int
	}
	if err := json.Unmarshal([]byte(r.Stdout), &sum); err != nil {
		row.Result, row.Why = "FAILED", strings.TrimSpace(r.Stderr) // it did not begin
		if row.Why == "" {
			t.Errorf("exit %d, %v\n%s\n%s", r.Code, err, r.Stdout, p.Tell())
		}
		return row
	}
	row.Result, row.Why = sum.Result, sum.Why
	row.judge(t, s, from, h)
	if sum.Result != "COMPLETE" {
		t.Logf("%s\n%s", r.Stdout, p.Tell())
		return row
	}
	if sum.PR == nil || *sum.PR != 1 {
		t.Errorf("complete, without its pull request: %s", r.Stdout)
	}
	row.prove(t, s, h)
	branch := "develop-t1-" + h.OfficeID()
	var want []string
	for _, f := range s.Change {
		want = append(want, "A\t"+f.Path)
		if got := h.Git(h.Origin, "show", branch+":"+f.Path); got != strings.TrimRight(f.Text, "\n") {
			t.Errorf("%s at the remote:\n%s", f.Path, got)
		}
	}
	slices.Sort(want)
	if got := strings.Split(h.Git(h.Origin, "diff", "--no-renames", "--name-status", "main", branch), "\n"); !slices.Equal(
		got, want) {
		t.Errorf("changed %q, want %q", got, want)
	}
	return row
}

// readCommit asks the program which commit it was built from. Where a host has the go
// command leave that out, it is the commit of the tree from which the tests build it.
func readCommit(t *testing.T, h *testenv.House) string {
	t.Helper()
	var program struct{ Commit string }
	h.JSON(&program, "version")
	if program.Commit != "" {
		return program.Commit
	}
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil {
		return "" // an archive of the sources
	}
	commit := h.Git(root, "rev-parse", "HEAD")
	if h.Git(root, "status", "--porcelain", "--untracked-files=no") != "" {
		commit += "-dirty"
	}
	return commit
}

// judge compares our checks with the maintainers', and the base's verdict with that of
// their suite outside.
func (r *Row) judge(t *testing.T, s Stranger, from Checkout, h *testenv.House) {
	var shown struct {
		Task struct{ Gates, Baseline []baseGate }
	}
	h.JSON(&shown, "show", "t1")
	task := shown.Task
	for i, g := range task.Baseline {
		for _, pinned := range task.Gates {
			if pinned.Name == g.Name {
				task.Baseline[i].Dir = pinned.Dir
			}
		}
	}
	ours := task.Baseline
	if len(ours) == 0 {
		ours = task.Gates // it did not come to the baseline
	}
	r.compareChecks(s, ours)
	if len(task.Baseline) == 0 || !*all && *only == "" {
		return
	}
	if err := r.compareVerdicts(t.Context(), s, from, task.Baseline); err != nil {
		t.Errorf("the suite of %s outside: %v", s.Name, err)
	}
}

// prove reads what the gates have shown of themselves: those with
// tests into which a failing one can be planted must look at every change.
func (r *Row) prove(t *testing.T, s Stranger, h *testenv.House) {
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
			if s.Blind == "" && (len(k.Blind) > 0 || k.Reason != "") {
				r.addUntrue(fmt.Sprintf("%s does not look at the change (%s%s)", c.Name, strings.Join(k.Blind, ", "), k.Reason))
			}
		}
	}
	if len(r.Proven) == 0 && s.Blind == "" {
		r.addUntrue("no test has shown that it looks at the change")
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
		case 2, 3: // where the file of the test is not known for one, it is asked for a test, once
			return call("finish", m{"summary": "added and tested"})
		}
	case company.Reviewer:
		return call(
			"submit_review",
			m{"verdict": "approve", "findings": []m{},
				"evidence": []string{"the diff; the checks ran", "the diff: they are new"}})
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

// Two walks at a time: two processors.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == offlineShell {
		fmt.Fprintln(os.Stderr, becomeShell(os.Args[2]))
		os.Exit(125)
	}
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
