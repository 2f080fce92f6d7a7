package company_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "company/internal/company"
	"company/internal/company/historytest"
	"company/internal/company/jcs"
)

var (
	writeGoldenStates = flag.Bool("golden.states", false, "write the states that the stored golden ledgers fold to")
	writeGoldenLedger = flag.Int("golden.ledger", 0,
		"make the golden ledger of this number, with its state; an existing one is never written")
)

// goldenState is what a golden ledger folded to when FoldVersion last grew.
type goldenState struct {
	Fold int    `json:"fold"` // FoldVersion
	Head Hash   `json:"head"` // of the ledger's last event
	Past string `json:"past"` // digests of the state after every 16th event, of eight digits
	End  *State `json:"end"`
}

const (
	pastDigits = 8
	pastEvents = 16
)

func goldenPath(name string, n int, ext string) string {
	return filepath.Join("testdata", fmt.Sprintf("%s-%d.%s", name, n, ext))
}

// goldenLedgers lists the numbers of the stored ledgers.
func goldenLedgers(t *testing.T) []int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "ledger-*.ndjson"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no golden ledger: %v", err)
	}
	var out []int
	for _, f := range files {
		var n int
		if _, err := fmt.Sscanf(filepath.Base(f), "ledger-%d.ndjson", &n); err != nil {
			t.Fatalf("%s is not called ledger-N.ndjson: %v", f, err)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// readGolden reads a golden ledger as the ledger stores it: canonical, chained.
func readGolden(t *testing.T, n int) []Event {
	t.Helper()
	raw, err := os.ReadFile(goldenPath("ledger", n, "ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	var out []Event
	var prev Hash
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var e Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("golden ledger %d, line %d: %v", n, len(out)+1, err)
		}
		if text, err := jcs.Marshal(e); err != nil || !bytes.Equal(text, lines.Bytes()) || e.Prev != prev {
			t.Fatalf("golden ledger %d was changed at event %d; take it back from the version control: a stored ledger is "+
				"never edited", n, e.Seq)
		}
		prev = e.Hash()
		out = append(out, e)
	}
	return out
}

// foldGolden applies a golden ledger event by event.
func foldGolden(t *testing.T, n int) goldenState {
	t.Helper()
	g := goldenState{Fold: FoldVersion, End: NewState()}
	for i, e := range readGolden(t, n) {
		if err := Apply(g.End, e); err != nil {
			t.Fatalf("golden ledger %d no longer folds at event %d (%s): %v\n%s", n, e.Seq, e.Kind, err,
				"Offices in the field hold such events. Make this version read them: what a stored kind means never changes, "+
					"a new field is optional and its zero means what held before, a new meaning is a new kind.")
		}
		g.Head = e.Hash()
		if i%pastEvents > 0 {
			continue
		}
		sum, err := HashOf(g.End)
		if err != nil {
			t.Fatal(err)
		}
		g.Past += string(sum)[:pastDigits]
	}
	return g
}

func (g goldenState) text(t *testing.T) []byte {
	t.Helper()
	raw, err := json.MarshalIndent(g, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(raw, '\n')
}

// What a stored ledger folds to changes only together with FoldVersion, so
// that a snapshot made by an older fold is never believed by a newer one.
func TestGoldenLedgersFoldAsStored(t *testing.T) {
	t.Parallel()
	if *writeGoldenLedger > 0 {
		makeGoldenLedger(t, *writeGoldenLedger)
	}
	for _, n := range goldenLedgers(t) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			got := foldGolden(t, n)
			file := goldenPath("state", n, "json")
			raw, err := os.ReadFile(file)
			if err != nil && !(os.IsNotExist(err) && *writeGoldenStates) {
				t.Fatal(err)
			}
			if bytes.Equal(raw, got.text(t)) {
				return
			}
			var want goldenState
			if err == nil {
				if err := json.Unmarshal(raw, &want); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
			}
			why := goldenDifference(t, n, want, got)
			if want.Head != "" && want.Head != got.Head {
				t.Fatalf("%s is of a ledger that ends with another event: take ledger %d back from the version control", file, n)
			}
			if want.Fold >= FoldVersion {
				t.Fatalf("golden ledger %d folds to another state than the stored one: %s\n%s", n, why, goldenAdvice)
			}
			if !*writeGoldenStates {
				t.Fatalf("FoldVersion is %d and the state of golden ledger %d is of %d. Write the states again:\n    %s",
					FoldVersion, n, want.Fold, goldenCommand)
			}
			if err := os.WriteFile(file, got.text(t), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

const goldenCommand = "go test ./internal/company -run TestGoldenLedgersFoldAsStored -golden.states"

const goldenAdvice = `
If it was not meant, mend apply: old offices would be read in another way.
If it is meant (State has another field, a fold keeps more), then in this very commit
  1. raise FoldVersion in fold.go by one; snapshots of older folds are then replayed,
  2. write the stored states again: ` + goldenCommand + `
The ledgers themselves are never rewritten, and what a stored kind means never changes:
a new field is optional and its zero means what held before, a new meaning is a new kind.
After a merge in which both sides raised FoldVersion: take one more than the higher of the two, and do 2.`

// goldenDifference says where two folds part.
func goldenDifference(t *testing.T, n int, want, got goldenState) string {
	t.Helper()
	events := readGolden(t, n)
	for i := 0; i < len(events); i += pastEvents {
		at := i / pastEvents * pastDigits
		if len(want.Past) < at+pastDigits || want.Past[at:at+pastDigits] != got.Past[at:at+pastDigits] {
			return fmt.Sprintf("they part at event %d (%s) or up to %d before", events[i].Seq, events[i].Kind, pastEvents-1)
		}
	}
	return "only how the state is written differs"
}

// The rule would be worth nothing for a kind that no golden ledger holds.
func TestGoldenLedgersHoldEveryKind(t *testing.T) {
	t.Parallel()
	held := map[string]bool{}
	for _, n := range goldenLedgers(t) {
		for _, e := range readGolden(t, n) {
			held[e.Kind] = true
		}
	}
	if missing := kindsBeyond(held); len(missing) > 0 {
		t.Errorf("no golden ledger holds these kinds of events: %v\n"+
			"Have the world of the property tests make them (worldact_test.go, worldpeople_test.go), or add them in "+
			"goldenHistory, then, with the next free number,\n"+
			"    go test ./internal/company -run TestGoldenLedgersFoldAsStored -golden.ledger=%d -golden.states", missing,
			len(goldenLedgers(t))+1)
	}
}

// The history checker accepts stored ledgers.
func TestGoldenLedgersPassTheChecker(t *testing.T) {
	t.Parallel()
	for _, n := range goldenLedgers(t) {
		if _, err := historytest.Replay(readGolden(t, n)); err != nil {
			t.Errorf("golden ledger %d: %v", n, err)
		}
	}
}

func kindsBeyond(held map[string]bool) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(EventKinds)) {
		if !held[k] {
			out = append(out, k)
		}
	}
	return out
}

// makeGoldenLedger stores the shortest of many hostile histories that holds
// every kind of today.
func makeGoldenLedger(t *testing.T, n int) {
	t.Helper()
	file := goldenPath("ledger", n, "ndjson")
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Fatalf("%s is there: a golden ledger is never rewritten; take the next number (%v)", file, err)
	}
	var best []Event
	var lacks []string
	for i := range uint64(120) {
		seed := uint64(n-1)*120 + i + 1
		whole := goldenHistory(t, seed)
		if missing := kindsMissingIn(whole); lacks == nil || len(missing) < len(lacks) {
			lacks = missing
		}
		if log := throughEveryKind(whole); log != nil && (best == nil || len(log) < len(best)) {
			best = log
			t.Logf("seed %d: %d events", seed, len(log))
		}
	}
	if best == nil {
		t.Fatalf("no history holds every kind of event; the nearest lacks %v", lacks)
	}
	var out strings.Builder
	var prev Hash
	for _, e := range best {
		e.Prev = prev
		text, err := jcs.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(text, '\n'))
		prev = e.Hash()
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func kindsMissingIn(log []Event) []string {
	held := map[string]bool{}
	for _, e := range log {
		held[e.Kind] = true
	}
	return kindsBeyond(held)
}

// throughEveryKind is a history up to the event with which it holds every
// kind, or nil: it ends with tasks under way.
func throughEveryKind(log []Event) []Event {
	held := map[string]bool{}
	for i, e := range log {
		if held[e.Kind] = true; len(held) == len(EventKinds) {
			return log[:i+1]
		}
	}
	return nil
}

// goldenHistory is one history of a company whose tasks meet a bit of
// everything.
func goldenHistory(t *testing.T, seed uint64) []Event {
	t.Helper()
	w := newWorld(t, knobs{
		Seed: seed, Calm: int(seed*37) % 120, Steps: 700, Tasks: 5, Active: 3, Gates: 2, Cap: []int64{500, 900, 2000}[seed%3],
		Settings: Settings{Plan: []Mode{Auto, Ask}[seed%2], ProtectTests: seed%3 == 0, RunRetries: 1, GateRetries: 1,
			ReviewRounds: 1, EscalateTo: []string{"big"}},
		Drop: 3, Delay: 8, Dup: 8, Lost: 2, BadPlan: 20, Question: 15, Broken: 10, Partial: 10, Escalate: 30,
		Red: 10, Finding: 10, Conflict: 15, Overlap: 40, Protected: 8, Greedy: 25, GiveUp: 15, Reject: 12,
		Restart: 20, Stop: 20, Pause: 20, Cancel: 15, Deps: 25, Refused: 10, Unwritten: 90, Fails: 8, Sleep: 50, RedBase: 20,
		Absent: 20, Crowd: 50,
	})
	w.addProjects()
	w.must(Company,
		SetOfficeCaps{OfficeCaps{Day: Amount{MicroUSD: 100_000, Tokens: NoCap},
			Office: Amount{MicroUSD: 200_000, Tokens: NoCap}}})
	w.must(President, RaiseOfficeBudget{Scope: ScopeDay, By: Amount{MicroUSD: 5}})
	w.live()
	w.tellWorker()
	w.pauseSubtask()
	w.undoRun()
	w.goWell()
	w.mergeStacks()
	w.followPulls()
	w.pushes = 1
	w.goWell()
	w.reopenTask()
	w.archiveTasks()
	w.kind = false
	w.splitStuck()
	w.missServices()
	w.leaveConflict()
	for range 60 {
		w.step()
	}
	local := []ModelUse{{Adapter: "ollama", Model: "llama3", Host: "127.0.0.1:11434"}}
	w.must(Company, NoteAgents{Agents: []AgentModels{{Agent: "manager", Models: local}, {Agent: "worker", Models: local}}})
	w.must(Company,
		NoteAgents{
			Agents: []AgentModels{{Agent: "worker",
				Models: append(local, ModelUse{Adapter: "openai", Model: "gpt-5", Host: "api.openai.com"})}}})
	w.must(Company, RecordCleanup{Before: w.s.Time})
	return w.log
}

// addProjects does what the world's president never does.
func (w *world) addProjects() {
	w.t.Helper()
	side := Project{ID: "side", Path: "/side"}
	w.must(President, AddProject{Project: side, Name: "beside"})
	w.must(President, AddProject{Project: Project{ID: "p", Path: "/p"}, Name: "first"})
	w.must(President, RemoveProject{ID: side.ID})
}

// splitStuck has the manager plan a stuck subtask again, of a task that is new.
func (w *world) splitStuck() {
	w.t.Helper()
	w.submitUntil("do two things", "subtask.replanned", func(k *knobs) { k.Replan, k.GiveUp, k.Escalate = 100, 0, 60 })
}

// missServices has a check of a new task's base look for a server in vain.
func (w *world) missServices() {
	w.t.Helper()
	w.submitUntil("do a third thing", "task.services_required", func(k *knobs) { k.Services = 100 })
}

// leaveConflict has a new task meet a conflict that no agent resolves.
func (w *world) leaveConflict() {
	w.t.Helper()
	w.submitUntil("do what conflicts", "conflict.summarized", func(k *knobs) {
		k.Conflict, k.GiveUp, k.Broken, k.Escalate, k.Finding, k.Red = 100, 100, 30, 100, 0, 0
	})
}

// submitUntil submits a task, and lives with other knobs until an event of that kind comes.
func (w *world) submitUntil(instruction, kind string, change func(*knobs)) {
	w.t.Helper()
	w.must(President,
		Submit{Instruction: instruction, Project: Project{ID: "p", Path: "/p"},
			Settings: Settings{Cap: Amount{MicroUSD: 100_000, Tokens: NoCap}}})
	before := w.k
	change(&w.k)
	w.k.Stop = 0
	for range 600 {
		if w.step(); w.log[len(w.log)-1].Kind == kind {
			break
		}
	}
	w.k = before
}

// tellWorker has the president say something to the first worker that is at a subtask.
func (w *world) tellWorker() {
	w.t.Helper()
	for range 200 {
		for _, id := range w.s.Open {
			for _, sub := range w.s.Tasks[id].Subtasks {
				if sub.Status == SubtaskAssigned || sub.Status == SubtaskRunning {
					w.must(President, Tell{Subtask: sub.ID, Text: "use the other one"})
					return
				}
			}
		}
		w.step()
	}
}

// pauseSubtask pauses a subtask that is not merged.
func (w *world) pauseSubtask() {
	w.t.Helper()
	for _, id := range w.s.Open {
		for _, sub := range w.s.Tasks[id].Subtasks {
			if _, err := Decide(w.s, Meta{ID: "trial", Actor: President, Now: w.s.Time},
				PauseSubtask{Subtask: sub.ID}); err == nil && !sub.Paused {
				w.must(President, PauseSubtask{Subtask: sub.ID})
				return
			}
		}
	}
}

// undoRun undoes the changes of a run, if those of any can be undone.
func (w *world) undoRun() {
	w.t.Helper()
	for _, t := range w.s.SortedTasks() {
		for _, id := range slices.Sorted(maps.Keys(t.Runs)) {
			if events, err := Decide(w.s, Meta{ID: "trial", Actor: President, Now: w.s.Time},
				RollBack{Run: id}); err == nil && len(events) > 0 {
				w.must(President, RollBack{Run: id})
				return
			}
		}
	}
}

// mergeStacks has tasks whose tickets wait for one another before they are merged; one
// stack of three is red.
func (w *world) mergeStacks() {
	w.t.Helper()
	w.gather, w.spoil = true, 1
	for range 3 {
		w.must(President,
			Submit{Instruction: "do much", Project: Project{ID: "p", Path: "/p"},
				Settings: Settings{Cap: Amount{MicroUSD: 100_000, Tokens: NoCap}}})
	}
	w.goWell()
	w.gather, w.spoil = false, 0
}

// reopenTask reopens a task that was given up, and gives it up again.
func (w *world) reopenTask() {
	w.t.Helper()
	for _, t := range w.s.SortedTasks() {
		if _, err := Decide(w.s, Meta{ID: "trial", Actor: President, Now: w.s.Time}, Retry{Task: t.ID}); err == nil {
			w.must(President, Retry{Task: t.ID})
			w.must(President, Cancel{Task: t.ID, Why: "no, not needed"})
			return
		}
	}
}

// archiveTasks has tasks that are over leave the state, and one of them come back.
func (w *world) archiveTasks() {
	w.t.Helper()
	for _, t := range w.s.SortedTasks() {
		if w.s.Tasks[t.ID] == t && w.s.LeadOf(t) == t {
			w.archive(t.ID)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.s.Past)) {
		t := w.task(id)
		if _, err := Decide(w.s, Meta{ID: "trial", Actor: President, Now: w.s.Time},
			w.withArchives(Retry{Task: id})); err == nil && t.Status == StatusCancelled {
			w.must(President, Retry{Task: id})
			w.must(President, Cancel{Task: id, Why: "no, as before"})
			return
		}
	}
}

// followPulls settles one pull request, has another one followed up, and sees a
// person change a branch.
func (w *world) followPulls() {
	w.t.Helper()
	var leads []TaskID
	for _, by := range w.forge {
		if pr := w.task(by).PR; pr != nil && pr.State == PROpen { // the answer may have been lost, and the task given up
			leads = append(leads, by)
		}
	}
	slices.Sort(leads)
	for i, id := range leads {
		set := w.task(id).Settings
		switch i {
		case 0:
			w.must(Company,
				RecordPRFeedback{Task: id, Settings: set,
					Items: []FeedbackItem{{ID: "r99", Kind: FeedbackComment, Author: "ann", Text: "rename it"}}})
			head := w.delivered(id)[0]
			w.must(Company,
				RecordPRFeedback{Task: id,
					Branch: &BranchChange{Kind: BranchAhead, Delivered: head, Now: w.oid(), Commits: 2, By: []string{"ann"},
						People: 1}})
			w.must(Company,
				RecordPRFeedback{Task: id, Branch: &BranchChange{Kind: BranchAsDelivered, Delivered: head, Now: head}})
		case 1:
			w.must(President, SettlePR{Task: id, State: PRMerged})
		case 2:
			w.must(President, Submit{Instruction: "one more", Project: w.task(id).Project, Settings: set, Follows: id})
			w.must(President, Cancel{Task: NewTaskID(w.s.LastTask), Why: "not needed"})
		}
	}
}
