package view

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"company/internal/company"
)

// overviewOf is an overview for which every archive can be read.
func overviewOf(src Source, all bool) Overview {
	v, err := src.Overview(all)
	if err != nil {
		panic(err)
	}
	return v
}

// storedArchives are archives by the task that leads each, as they are read.
type storedArchives struct {
	state *company.State
	by    map[company.TaskID]*company.Archive
	read  map[company.TaskID]int
}

func (s *storedArchives) LoadArchive(id company.TaskID) (*company.Archive, error) {
	lead, _ := s.state.ArchiveHolding(id)
	a := s.by[lead]
	if a == nil {
		return nil, errors.New("no archive")
	}
	s.read[lead]++
	return a, nil
}

// keep stores the archive of a task that is about to leave the state.
func (s *storedArchives) keep(t *testing.T, lead company.TaskID) []byte {
	t.Helper()
	text, err := s.state.EncodeArchive(lead)
	if err == nil {
		s.by[lead], err = company.DecodeArchive(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// archiveEnded takes tasks that are over out of a state.
func archiveEnded(t *testing.T, s *company.State, now time.Time) *storedArchives {
	t.Helper()
	out := &storedArchives{state: s, by: map[company.TaskID]*company.Archive{}, read: map[company.TaskID]int{}}
	for _, lead := range s.SortedTasks() {
		if s.Tasks[lead.ID] == nil || s.LeadOf(lead) != lead {
			continue
		}
		text := out.keep(t, lead.ID)
		sum := sha256.Sum256(text)
		c := company.ArchiveTask{Task: lead.ID, Blob: company.Hash(hex.EncodeToString(sum[:]))}
		evs, err := company.Decide(s, company.Meta{ID: "archive", Now: now, Zone: time.Local}, c)
		if err != nil {
			continue // it is not over
		}
		for _, e := range evs {
			e.Seq = s.Seq + 1
			if err := company.Apply(s, e); err != nil {
				t.Fatal(err)
			}
		}
		s.Seq -= uint64(len(evs)) // which is shown, too
	}
	return out
}

// everythingPrinted is all that programs may read of an office, by what they ask for.
func everythingPrinted(t *testing.T, src Source, ids []string) map[string]string {
	t.Helper()
	out := map[string]string{}
	put := func(what string, v any, err error) {
		t.Helper()
		text, jsonErr := json.Marshal(v)
		if jsonErr != nil {
			t.Fatal(jsonErr)
		}
		out[what] = fmt.Sprintf("%s %v", text, err)
	}
	for _, all := range []bool{true, false} {
		v, err := src.Overview(all)
		put(fmt.Sprint("status ", all), v, err)
	}
	for name, f := range map[string]TaskFilter{
		"list": {}, "list -n 2": {Limit: 2}, "list failed": {States: []string{"failed"}},
		"list ended": {States: []string{"ended", "awaiting_input"}, Limit: 3},
		"list high":  {Priorities: []string{"high", "medium"}}, "list tagged": {Tags: []string{"api"}},
		"list paused": {States: []string{"paused"}},
	} {
		v, err := src.TaskList(f)
		put(name, v, err)
	}
	put("completion", src.IDs(), nil)
	put("pr list", src.PullRequests(), nil)
	put("projects", src.Projects(), nil)
	put("images", src.Images(), nil)
	put("agents", src.Agents(), nil)
	put("budgets", src.Budgets(), nil)
	for _, since := range []time.Time{{}, src.Now.Add(-time.Minute), src.Now.Add(-10 * time.Minute), src.Now} {
		v, err := src.Spending(since)
		put("costs since "+since.String(), v, err)
	}
	work, err := src.Work()
	put("work", work, err)
	for _, id := range ids {
		shown, err := src.Show(id)
		put("show "+id, shown, err)
		question, err := src.Question(id)
		put("answer "+id, question, err)
		changed, err := src.Range(id)
		put("diff "+id, changed, err)
		budget, err := src.Budget(id)
		put("budget "+id, budget, err)
		pull, err := src.PullRecord(id)
		put("pr show "+id, pull, err)
		work, err := src.Work(company.TaskID(id))
		put("wait "+id, work, err)
		if with, err := src.WithTarget(id); err == nil && company.TaskID(id).Valid() &&
			with.State.Tasks[company.TaskID(id)] != nil {
			if task := with.State.Tasks[company.TaskID(id)]; task.Status != company.StatusCompleted || task.PR != nil ||
				task.DryRun {
				put("the end of "+id, with.Summary(task), nil)
			}
		}
	}
	return out
}

// foldUnarchived folds a golden ledger without its archives, which are nowhere.
func foldUnarchived(t *testing.T, n int) *company.State {
	t.Helper()
	s := company.NewState()
	for _, e := range readLedger(t, filepath.Join("..", "..", "company", "testdata", fmt.Sprintf("ledger-%d.ndjson", n))) {
		if e.Kind == "task.archived" || e.Kind == "task.restored" {
			s.Seq, s.Time = e.Seq, e.Time
			continue
		}
		if err := company.Apply(s, e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// An office prints the same of its tasks after those that are over have left its state.
func TestArchivedTasksPrintTheSame(t *testing.T) {
	ledgers, err := filepath.Glob(filepath.Join("..", "..", "company", "testdata", "ledger-*.ndjson"))
	if err != nil || len(ledgers) < 3 {
		t.Fatalf("ledgers %v: %v", ledgers, err)
	}
	archived := 0
	for n := 1; n <= len(ledgers); n++ {
		s := foldUnarchived(t, n)
		src := Source{State: s, Now: s.Time.Add(90 * time.Second), Folders: Folders{Root: "/office"}, Models: defaultModels{},
			AtWork: n%2 == 0}
		ids := slices.Concat(src.IDs().All, []string{"1", "2", "#3", "99", "t99", "a99"})
		for id := range s.Approvals {
			ids = append(ids, string(id))
		}
		want := everythingPrinted(t, src, ids)
		held := archiveEnded(t, s, s.Time)
		archived += len(s.Past)
		src.Archives = held
		got := everythingPrinted(t, src, ids)
		for _, what := range slices.Sorted(maps.Keys(want)) {
			if got[what] != want[what] {
				at := commonStart(want[what], got[what])
				t.Errorf("ledger %d, %s, from byte %d on\n was: %.300s\n is:  %.300s", n, what, at, want[what][at:], got[what][at:])
			}
		}
	}
	if archived < 20 {
		t.Errorf("only %d tasks were archived", archived)
	}
}

// What is asked often reads no archive: completion, the list of pull requests, costs
// from the beginning, and of the status at most the newest.
func TestSumsReadNoArchive(t *testing.T) {
	s := foldUnarchived(t, 2)
	src := Source{State: s, Now: s.Time}
	held := archiveEnded(t, s, s.Time)
	src.Archives = held
	src.IDs()
	src.PullRequests()
	src.Projects()
	src.Images()
	if _, err := src.Spending(time.Time{}); err != nil || len(held.read) > 0 {
		t.Errorf("read: %v, %v", held.read, err)
	}
	overviewOf(src, false)
	n := 0
	for _, times := range held.read {
		n += times
	}
	if n > maxRecentTasks {
		t.Errorf("%d archives read for the status", n)
	}
	held.by = nil // lost
	if _, err := src.Show("t1"); len(s.Past) == 0 || s.Past["t1"] != nil && err == nil {
		t.Errorf("shown without its archive: %v", err)
	}
}
