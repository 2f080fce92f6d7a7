package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

const run = company.RunID("t1-01.1")

// bundle is a sandbox whose container is gone, with what it left in the
// quarantine.
type bundle struct {
	*Sandbox
	t *testing.T
	p *gitopstest.Project
}

func setup(t *testing.T) *bundle {
	t.Helper()
	p := gitopstest.New(t, map[string]string{"a.txt": "one\n"})
	q, err := p.Store.Quarantine(t.Context(), p.Mirror, run, p.Base, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &bundle{t: t, p: p, Sandbox: &Sandbox{
		factory: &Factory{Config: Config{Logger: slog.New(slog.DiscardHandler),
			Author: gitops.Person{Name: "agent", Email: "a@example.org"}}}, quarantine: q, lastChange: 1,
		spec: Spec{Mirror: p.Mirror, Run: run, Base: p.Base, Start: p.Base, Branch: "agent/t1-01-x"},
	}}
}

// push pushes a commit of the checkout as the container would.
func (b *bundle) push(commit, ref string) {
	b.t.Helper()
	b.p.Git("-c", "protocol.file.allow=always", "push", "-q", "-f", "file://"+b.quarantine.Dir(), commit+":"+ref)
}

// commit makes a commit on top of another, on no branch.
func (b *bundle) commit(on, name, text string) string {
	b.t.Helper()
	b.p.Git("checkout", "-q", "--detach", on)
	b.p.Write(map[string]string{name: text})
	b.p.Git("add", "-A")
	b.p.Git("commit", "-q", "-m", "[t1-01] "+name)
	id := b.p.Git("rev-parse", "HEAD")
	b.p.Git("checkout", "-q", "main")
	return id
}

func (b *bundle) conclude(end agent.End, final any) company.RunEnded {
	b.t.Helper()
	out := agent.Outcome{End: end, Messages: []adapters.Message{{Role: adapters.Assistant, Content: "my last words"}}}
	if final != nil {
		raw, err := json.Marshal(final)
		if err != nil {
			b.t.Fatal(err)
		}
		out.Final = raw
	}
	c, err := b.Finish(b.t.Context(), out, b.p.Base)
	if err != nil {
		b.t.Fatal(err)
	}
	if h := c.Outcome.Head; h != "" {
		if at, err := b.p.Mirror.Ref(b.t.Context(), gitops.ResultRef(run)); err != nil || at != h {
			b.t.Fatalf("the mirror keeps %s (%v), the run ended at %s", at, err, h)
		}
	}
	return c.Outcome
}

func (b *bundle) read(at company.OID, name string) string {
	b.t.Helper()
	text, err := b.p.Mirror.ReadFile(b.t.Context(), at, name)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// A run got on when its work tree changed within its last turns, or before it
// was taken up.
func TestChangedRecently(t *testing.T) {
	for _, c := range []struct {
		last, turns  int
		dirty, moved bool
		want         bool
	}{
		{0, 30, false, false, false},
		{0, 30, true, false, true},
		{0, 30, false, true, true},
		{1, 30, false, false, true},
		{1, 31, true, true, false},
		{70, 80, false, false, true},
	} {
		b := &Sandbox{lastChange: c.last, spec: Spec{Start: "1111"}}
		if b.Prepared.Dirty, b.Prepared.Head = c.dirty, "1111"; c.moved {
			b.Prepared.Head = "2222"
		}
		if got := b.changedRecently(c.turns); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

var finished = map[string]string{"summary": "did it"}

// A run is done only with a commit that the host finds: what the container
// said to the finish tool is not believed.
func TestDoneNeedsACommit(t *testing.T) {
	b := setup(t)
	if got := b.conclude(agent.EndFinal, finished); got.Status != company.RunError || got.Head != "" ||
		!strings.Contains(got.Error, "no commit") {
		t.Fatalf("nothing was pushed: %+v", got)
	}
	b.push(string(b.p.Base), "refs/heads/agent/t1-01-x") // a branch, and no work on it
	if got := b.conclude(agent.EndFinal, finished); got.Status != company.RunError || got.Head != "" ||
		!strings.Contains(got.Error, "no commit") {
		t.Fatalf("the start was pushed: %+v", got)
	}
	head := b.commit("main", "b.txt", "b\n")
	b.push(head, "refs/heads/agent/t1-01-x")
	got := b.conclude(agent.EndFinal, finished)
	if got.Status != company.RunSuccess || string(got.Head) != head || got.Branch != "agent/t1-01-x" ||
		listChanges(got.Changes) != "b.txt created 1" {
		t.Fatalf("%+v", got)
	}
}

// A run out of turns keeps its uncommitted work, as a commit under the
// ticket's name on top of what it had committed, pushed or not (CTR-6).
func TestOutOfTurnsKeepsTheWork(t *testing.T) {
	checkpoint := gitops.CheckpointRef(run)
	for _, tt := range []struct {
		name           string
		pushed, local  bool // a commit that was pushed; one that was not
		saved, ignored bool // a checkpoint on top; it is older than what was pushed
	}{
		{name: "nothing"},
		{name: "pushed", pushed: true},
		{name: "only saved", saved: true},
		{name: "pushed and saved", pushed: true, saved: true},
		{name: "committed, not pushed, saved", pushed: true, local: true, saved: true},
		{name: "the commit is newer", pushed: true, saved: true, ignored: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := setup(t)
			at := string(b.p.Base)
			if tt.ignored {
				b.push(b.commit(at, "wip.txt", "w\n"), checkpoint)
			}
			if tt.pushed {
				at = b.commit(at, "pushed.txt", "p\n")
				b.push(at, "refs/heads/agent/t1-01-x")
			}
			if tt.local {
				at = b.commit(at, "local.txt", "l\n")
			}
			if tt.saved && !tt.ignored {
				b.push(b.commit(at, "wip.txt", "w\n"), checkpoint)
			}
			got := b.conclude(agent.EndTurns, nil)
			if got.Status != company.RunPartial || got.Summary != "my last words" || !got.Progress ||
				(got.Subject != "") != (tt.pushed || tt.local) || got.Subject == unfinishedSubject {
				t.Fatalf("%+v", got)
			}
			if !tt.pushed && !tt.saved {
				if got.Head != "" {
					t.Fatalf("head %s of nothing", got.Head)
				}
				return
			}
			if tt.saved && !tt.ignored {
				commits, err := b.p.Mirror.Log(t.Context(), b.p.Base, got.Head, 10)
				if err != nil || commits[0].Subject() != "[t1-01] Work so far, not finished" ||
					string(commits[0].Parents[0]) != at || b.read(got.Head, "wip.txt") != "w\n" {
					t.Fatalf("%+v, %v", commits, err)
				}
				// A conversation that outgrew its context keeps the same.
				if again := b.conclude(agent.EndFull, nil); again.Head != got.Head || again.Status != company.RunPartial ||
					again.Hint == "" {
					t.Fatalf("taken again it is %+v, was %s", again, got.Head)
				}
			} else if string(got.Head) != at {
				t.Fatalf("head %s, want %s", got.Head, at)
			}
			if want := map[bool]int{true: 1}[tt.pushed] + map[bool]int{true: 1}[tt.local] +
				map[bool]int{true: 1}[tt.saved && !tt.ignored]; len(got.Changes) != want {
				t.Fatalf("changes %v, want %d", got.Changes, want)
			}
		})
	}
}

// Who gives up does not throw away what was pushed.
func TestEscalatedKeepsWhatWasPushed(t *testing.T) {
	b := setup(t)
	head := b.commit("main", "b.txt", "b\n")
	b.push(head, "refs/heads/agent/t1-01-x")
	got := b.conclude(agent.EndEscalated, agent.Escalation{Reason: "it contradicts itself"})
	if got.Status != company.RunError || !got.Escalate || got.Error != "it contradicts itself" ||
		string(got.Head) != head {
		t.Fatalf("%+v", got)
	}
	if got = b.conclude(agent.EndStuck, nil); !got.Escalate || string(got.Head) != head {
		t.Fatalf("%+v", got)
	}
}

// A worker that gives up asks the manager, and then the president. Its question holds its last failed
// call, so that they read what it could not do.
func TestGivingUpNamesTheFailedCall(t *testing.T) {
	b := setup(t)
	failed := agent.TranscriptCall{Name: "run_command", Arguments: `{"command":"make"}`, Failure: "exit code 2",
		Result: "exit code 2 after 1s\nno rule\n"}
	const says = ". Its last failed call: run_command make: exit code 2; no rule"
	for name, c := range map[string]struct {
		out  agent.Outcome
		want string
	}{
		"repeats": {agent.Outcome{End: agent.EndStuck}, "it repeats itself" + says},
		"asks": {agent.Outcome{End: agent.EndEscalated, FinalTool: "escalate",
			Final: json.RawMessage(`{"reason":"no idea"}`)}, "no idea" + says},
		"was refused": {agent.Outcome{End: agent.EndEscalated, FinalTool: "read_file",
			Final: json.RawMessage(`{"reason":"3 refused accesses"}`)}, "3 refused accesses"},
		"calls no tool": {agent.Outcome{End: agent.EndNoTools}, "the model answers without using its tools" + says},
	} {
		c.out.Transcript.ToolCalls = []agent.TranscriptCall{failed, {Name: "escalate"}}
		end, err := b.Finish(t.Context(), c.out, b.p.Base)
		if err != nil || end.Outcome.Error != c.want {
			t.Errorf("%s: %q (%v), want %q", name, end.Outcome.Error, err, c.want)
		}
	}
}

// The notes of an agent go with the end of its run, whatever that is.
func TestNotesOfARun(t *testing.T) {
	b := setup(t)
	out := agent.Outcome{End: agent.EndStuck}
	out.Transcript.ToolCalls = []agent.TranscriptCall{
		{Name: "note", Arguments: `{"text":"make test needs -short"}`, Result: "noted"}}
	end, err := b.Finish(t.Context(), out, b.p.Base)
	if err != nil || !slices.Equal(end.Outcome.Notes, []string{"make test needs -short"}) {
		t.Errorf("%q, %v", end.Outcome.Notes, err)
	}
}

// ART-1: a result names each commit of its run, and none of those that the run began with.
func TestCommitsOfARun(t *testing.T) {
	b := setup(t)
	merged := b.p.Commit("other", map[string]string{"other.txt": "o\n"})
	b.spec.Extra = []company.OID{merged}
	first := b.commit("main", "b.txt", "b\n")
	second := b.commit(first, "c.txt", "c\n")
	b.p.Git("checkout", "-q", "--detach", second)
	b.p.Git("merge", "-q", "--no-ff", "--no-edit", string(merged))
	head := b.p.Git("rev-parse", "HEAD")
	b.p.Git("checkout", "-q", "main")
	b.push(head, "refs/heads/agent/t1-01-x")
	var log bytes.Buffer
	b.spec.Log = gitops.NewOpLog(&log)
	end := b.conclude(agent.EndFinal, finished)
	for _, line := range []string{`"op":"commit","exit":0,"took_us":0,"args":["` + first + `","[t1-01] b.txt"]`,
		second + `","[t1-01] c.txt"`, head} {
		// GIT-3
		if !strings.Contains(log.String(), line) {
			t.Errorf("git.log lacks %s:\n%s", line, log.String())
		}
	}
	got, err := b.ListCommits(t.Context(), end.Head)
	if want := fmt.Sprint([]string{first, second, head}); err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
	if got, err := b.ListCommits(t.Context(), b.p.Base); err != nil ||
		fmt.Sprint(got) != fmt.Sprint([]company.OID{b.p.Base}) {
		t.Errorf("work that was handed in as it was: %v, %v", got, err)
	}
}

// What a branch took in from the integration branch is not its change (ART-2). A change has the hash of its content, so
// a run, a path and a hash name one artifact.
func TestChangesAreTheBranchsOwn(t *testing.T) {
	b := setup(t)
	onto := b.p.Commit("other", map[string]string{"other.txt": "o\n"})
	own := b.commit("main", "b.txt", "b\n")
	b.p.Git("checkout", "-q", "--detach", own)
	b.p.Git("merge", "-q", "--no-ff", "--no-edit", string(onto))
	head := b.p.Git("rev-parse", "HEAD")
	b.p.Git("checkout", "-q", "main")
	b.push(head, "refs/heads/agent/t1-01-x")
	out := agent.Outcome{End: agent.EndFinal, Final: json.RawMessage(`{"summary":"merged"}`)}
	c, err := b.Finish(t.Context(), out, onto)
	if err != nil || len(c.Outcome.Changes) != 1 || c.Outcome.Changes[0] != (company.Change{
		Path: "b.txt", Action: "created", Lines: 1, Hash: company.OID(b.p.Git("rev-parse", head+":b.txt"))}) {
		t.Fatalf("%+v, %v", c.Outcome, err)
	}
}

// listChanges lists changes by path, action and number of lines.
func listChanges(changes []company.Change) string {
	var list []string
	for _, change := range changes {
		list = append(list, fmt.Sprint(change.Path, " ", change.Action, " ", change.Lines))
	}
	return strings.Join(list, ", ")
}
