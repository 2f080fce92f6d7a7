package company_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	. "company/internal/company"
)

// archiveAll takes what is over out of a copy of a state, and gives the copy and the
// archives by the task that leads each.
func archiveAll(t tester, s *State, now time.Time) (*State, map[TaskID]*Archive) {
	t.Helper()
	c := NewState()
	if err := json.Unmarshal(asJSON(t, s), c); err != nil {
		t.Fatalf("the state does not read: %v", err)
	}
	archives := map[TaskID]*Archive{}
	for _, lead := range c.SortedTasks() {
		if c.Tasks[lead.ID] == nil || c.LeadOf(lead) != lead {
			continue
		}
		text, err := c.EncodeArchive(lead.ID)
		if err != nil {
			t.Fatalf("%v", err)
		}
		evs, err := Decide(c, Meta{ID: "archive", Actor: Company, Now: now}, ArchiveTask{Task: lead.ID, Blob: blobHash(text)})
		if err != nil {
			continue // it is not over
		}
		if archives[lead.ID], err = DecodeArchive(text); err != nil {
			t.Fatalf("%v", err)
		}
		for _, e := range evs {
			e.Seq = c.Seq + 1
			if err := Apply(c, e); err != nil {
				t.Fatalf("%v", err)
			}
		}
	}
	return c, archives
}

// everything are commands about each task, subtask, run and question there is.
func everything(s *State) []Command {
	out := []Command{
		ScaleWorkers{By: 1}, EnforceDeadlines{}, RemoveProject{ID: "p"},
		AddProject{Project: Project{ID: "p", Path: "/p"}, Name: "other"}, AddProject{Project: Project{ID: "z", Path: "/p"}},
		RaiseOfficeBudget{Scope: ScopeDay, By: Amount{MicroUSD: 5}}, Retry{Task: "t99"},
		Answer{Approval: "a99", Option: OptApprove},
	}
	for _, t := range s.SortedTasks() {
		id := t.ID
		out = append(
			out, Retry{Task: id}, WorkOnPlan{Task: id}, Cancel{Task: id}, Pause{Task: id},
			RaiseBudget{Task: id, By: Amount{MicroUSD: 5}},
			SettlePR{Task: id, State: PRMerged}, SettlePR{Task: id, State: PRClosed}, IntendDelivery{Task: id},
			RecordFileWrite{Task: id, File: "x", Why: "full"},
			Submit{Instruction: "more", Project: t.Project, Settings: t.Settings, Follows: id},
			RecordPRFeedback{Task: id, Settings: t.Settings,
				Items: []FeedbackItem{{ID: "r1", Kind: FeedbackComment, Text: "x"}}},
			OpenApproval{PendingQuestion{Key: "trouble " + string(id), Kind: AskTrouble, Task: id, Question: "?"}},
			ReportEffectFailure{Task: id, Key: "x", EffectFailed: EffectFailed{Error: "x"}},
		)
		for _, sub := range t.Subtasks {
			out = append(out, Retry{Task: id, From: sub.ID}, Tell{Subtask: sub.ID, Text: "x"}, PauseSubtask{Subtask: sub.ID})
		}
		for _, r := range t.SortedRuns() {
			out = append(out, SettleRun{Run: r.ID, Outcome: RunEnded{Spent: Amount{Tokens: 1}}}, Offer{Run: r.ID},
				Release{Run: r.ID, Fence: r.Fence}, RecordRefusedAccess{Run: r.ID, Kind: "path", What: "x", Times: 1})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.Approvals)) {
		out = append(out, Answer{Approval: id, Option: OptApprove}, Answer{Approval: id, Option: OptReject, Text: "no"})
	}
	return out
}

// Feature: core, Property 7: Archiving Changes Nothing
//
// Whatever of a company is over can leave its state at any
// moment, and the company goes on as if it had stayed: the same is due, and every
// command is decided as before, with the archive of what it is about (STA-1, STA-14).
func TestRandomArchivesChangeNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := drawKnobs(t, 150)
		k.Archive = 0
		w := newWorld(t, k)
		w.live()
		if rapid.Bool().Draw(t, "to the end") {
			w.goWell()
		}
		whole := w.s
		less, archives := archiveAll(t, whole, w.now)
		if got, want := Due(less, w.now, 1<<20), Due(whole, w.now, 1<<20); !reflect.DeepEqual(keysOf(got), keysOf(want)) {
			t.Fatalf("with an archive is due\n%v\nwithout\n%v", keysOf(got), keysOf(want))
		}
		var a Agenda
		a.Update(less, w.now)
		if got, want := keysOf(a.Due(k.Active)), keysOf(Due(whole, w.now, k.Active)); !slices.Equal(got, want) ||
			!a.Next().Equal(NextDue(whole, w.now)) {
			t.Fatalf("the agenda has %v until %s, due is %v until %s", got, a.Next(), want, NextDue(whole, w.now))
		}
		if got, want := string(asJSON(t, less.Projects())), string(asJSON(t, whole.Projects())); got != want {
			t.Fatalf("the projects are\n%s\nwithout an archive\n%s", got, want)
		}
		for _, c := range everything(whole) {
			m := Meta{ID: "later", Actor: President, Now: w.now.Add(time.Second)}
			want, wantErr := Decide(whole, m, c)
			with := RestoreArchived{Command: c, Archives: map[TaskID]*Archive{}}
			for _, id := range ArchivedTargets(less, c) {
				with.Archives[id] = archives[id]
			}
			got, err := Decide(less, m, with)
			back := 0
			for back < len(got) && got[back].Kind == "task.restored" {
				back++
			}
			if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() ||
				!reflect.DeepEqual(append([]Event{}, got[back:]...), append([]Event{}, want...)) {
				t.Fatalf("%T %+v is decided as\n%v %v\nwithout an archive\n%v %v", c, c, got, err, want, wantErr)
			}
		}
	})
}

// A task that is not over stays in the state, and an archive is of the task as it is.
func TestArchiveRefusals(t *testing.T) {
	t.Parallel()
	refused := func(w *bench, id TaskID, code Code, why string) {
		t.Helper()
		text, err := w.s.EncodeArchive(id)
		if err == nil {
			_, err = w.do(Company, ArchiveTask{Task: id, Blob: blobHash(text)})
		}
		if CodeOf(err) != code || !strings.Contains(err.Error(), why) {
			t.Errorf("archiving %s: %v", id, err)
		}
	}
	w := delivered(t)
	if _, err := w.do(Company, ArchiveTask{Task: "t1", Blob: blobHash([]byte("of another"))}); CodeOf(err) != EStale {
		t.Errorf("another archive: %v", err)
	}
	w.must(President,
		Submit{Instruction: "more", Project: Project{ID: "p", Path: "/p"}, Settings: w.s.Tasks["t1"].Settings, Follows: "t1"})
	refused(w.bench, "t1", EConflict, "t2 has not ended")
	w.must(President, Cancel{Task: "t2"})
	refused(w.bench, "t2", EInvalid, "archived with the task that it follows")
	refused(w.bench, "t3", ENotFound, "no task t3")
	if !w.archive("t1") || len(w.s.Tasks) != 0 || len(w.s.Past) != 2 || w.s.Past["t2"].Lead != "t1" {
		t.Fatalf("tasks %v, archived %v", w.s.Tasks, w.s.Past)
	}
	if evs := w.must(Company, ArchiveTask{Task: "t1"}); len(evs) != 0 {
		t.Errorf("archived twice: %v", evs)
	}
	if _, err := w.s.Task("t1"); CodeOf(err) != ENotFound {
		t.Errorf("found in the state: %v", err)
	}
}

// A run that was cut off with its task is settled before the task leaves the state: what
// it spent would be lost to the books.
func TestOpenBooksAreNotArchived(t *testing.T) {
	t.Parallel()
	w := newWorld(t, knobs{Seed: 5, Tasks: 1, Active: 1, Gates: 1, Cap: 100_000})
	w.kind = true
	var held *Run
	for held == nil {
		w.step()
		for _, r := range w.s.Tasks["t1"].SortedRuns() {
			if r.Held && r.Reserved != (Amount{}) {
				held = r
			}
		}
	}
	w.must(President, Cancel{Task: "t1"})
	if w.archive("t1") {
		t.Fatal("archived with a run that is held")
	}
	w.must(Company, StartOffice{Office: "k3fq", Workers: 3}) // its holder is gone
	if w.archive("t1") || len(w.s.Archivable(w.now.Add(1000*time.Hour))) > 0 {
		t.Fatal("archived with a run that is not settled")
	}
	w.must(Company, SettleRun{Run: held.ID, Outcome: RunEnded{Spent: Amount{MicroUSD: 7}}})
	if !w.archive("t1") || w.s.Past["t1"].Spent.MicroUSD != 7 || w.s.Spending.Total.MicroUSD != 7 {
		t.Errorf("archived %+v, the office has spent %s", w.s.Past["t1"], w.s.Spending.Total)
	}
	w.settle()
}

// Questions leave with their task, and come back with it.
func TestArchiveTakesQuestionsAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t, knobs{Seed: 5, Tasks: 1, Active: 1, Gates: 1, Cap: 100_000, Settings: Settings{Plan: Ask}})
	w.kind = true
	for len(w.s.Approvals) == 0 {
		w.step()
	}
	w.must(President, Cancel{Task: "t1"})
	for _, r := range w.s.Tasks["t1"].SortedRuns() {
		if !r.Ended && r.Fence > 0 {
			w.must(string(r.ID), Release{Run: r.ID, Fence: r.Fence})
			w.must(Company, SettleRun{Run: r.ID})
		}
	}
	if !w.archive("t1") || len(w.s.Approvals) != 0 || len(w.s.ByKey) != 0 || w.s.TaskAskedBy("a1") != "t1" ||
		w.s.TaskAskedBy("a99") != "" {
		t.Fatalf("questions %v by %v, a1 is of %q", w.s.Approvals, w.s.ByKey, w.s.TaskAskedBy("a1"))
	}
	if _, err := w.do(President, Answer{Approval: "a1", Option: OptApprove}); CodeOf(err) != EConflict {
		t.Errorf("answered in the archive: %v", err)
	}
	w.must(President,
		Submit{Instruction: "another", Project: Project{ID: "p", Path: "/p"}, Settings: w.task("t1").Settings})
	for len(w.s.Approvals) == 0 {
		w.step()
	}
	if w.s.Approvals["a2"] == nil {
		t.Errorf("the next question is one of %v", w.s.Approvals)
	}
	w.must(President, Retry{Task: "t1"})
	if w.s.Approvals["a1"] == nil || w.s.Approvals["a1"].Task != "t1" {
		t.Errorf("a1 is not back: %v", w.s.Approvals)
	}
}

// A follow-up of an archived task takes it back, with the others of its pull request, and
// a question that is asked then has a new id.
func TestArchivedTaskComesBack(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	settings := w.s.Tasks["t1"].Settings
	before := string(asJSON(t, w.s.Tasks["t1"]))
	if !w.archive("t1") {
		t.Fatal("not archived")
	}
	evs := w.must(
		President, Submit{Instruction: "more", Project: Project{ID: "p", Path: "/p"}, Settings: settings, Follows: "t1"})
	if len(evs) != 2 || evs[0].Kind != "task.restored" || evs[0].Task != "t1" || len(w.s.Past) != 0 {
		t.Fatalf("%v, archived %v", evs, w.s.Past)
	}
	back := *w.s.Tasks["t1"]
	back.Updated = w.s.Tasks["t1"].Ended
	var was Task
	if err := json.Unmarshal([]byte(before), &was); err != nil {
		t.Fatal(err)
	}
	was.Updated = back.Updated
	if got, want := string(asJSON(t, &back)), string(asJSON(t, &was)); got != want {
		t.Errorf("it is back as\n%s\nand left as\n%s", got, want)
	}
	w.goWell()
	if lead := w.s.LeadOf(w.s.Tasks["t2"]); lead.ID != "t1" || w.s.Tasks["t2"].PR.Number != lead.PR.Number {
		t.Errorf("t2 is delivered to %+v", w.s.Tasks["t2"].PR)
	}
	w.archive("t1")
	w.must(President, SettlePR{Task: "t2", State: PRMerged})
	if pr := w.s.Tasks["t1"].PR; pr.State != PRMerged || w.s.Tasks["t2"] == nil {
		t.Errorf("settled by its follow-up: %+v", pr)
	}
	w.settle()
}

// A task stays for an hour after its end, and for a week where its own page waits for a
// person or a file of it is missing.
func TestArchivableAfterAWhile(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	at := w.s.Tasks["t1"].Updated
	check := func(want bool, after time.Duration) {
		t.Helper()
		if got := w.s.Archivable(at.Add(after)); (len(got) == 1) != want {
			t.Errorf("after %s %v may leave", after, got)
		}
	}
	check(false, 7*24*time.Hour-1)
	check(true, 7*24*time.Hour)
	w.must(President, SettlePR{Task: "t1", State: PRMerged})
	at = w.s.Tasks["t1"].Updated
	check(false, time.Hour-1)
	check(true, time.Hour)
	w.must(Company, RecordFileWrite{Task: "t1", File: "x", Why: "full"})
	at = w.s.Tasks["t1"].Updated
	check(false, 7*24*time.Hour-1)
	check(true, 7*24*time.Hour)
}

// A pull request at a forge is asked about as long as it is open, so its task stays.
func TestOpenPullAtForgeStays(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	w.s.Tasks["t1"].PR.URL, w.shadow.Tasks["t1"].PR.URL, w.thawed.Tasks["t1"].PR.URL = "https://forge/1",
		"https://forge/1", "https://forge/1"
	if got := w.s.Archivable(w.now.Add(1000 * time.Hour)); len(got) != 0 {
		t.Errorf("%v may leave", got)
	}
	if w.archive("t1") {
		t.Error("archived")
	}
}

// The submissions that are remembered are the newest.
func TestCommandsAreBounded(t *testing.T) {
	t.Parallel()
	s := NewState()
	for n := range 3 * MaxCommands {
		s.NoteCommand(string(rune('a'+n%26))+time.Duration(n).String(), NewTaskID(n+1))
	}
	if len(s.Commands) != MaxCommands || len(s.CommandOrder) != MaxCommands ||
		s.Commands[s.CommandOrder[MaxCommands-1]] != NewTaskID(3*MaxCommands) {
		t.Errorf("%d remembered, %d in order, the newest %s", len(s.Commands), len(s.CommandOrder),
			s.Commands[s.CommandOrder[MaxCommands-1]])
	}
}
