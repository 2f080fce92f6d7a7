package gates_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"company/internal/company"
	"company/internal/gates"
	"company/internal/gitops"
)

// rawGit is git's output, byte for byte.
func (b *bundle) rawGit(args ...string) []byte {
	b.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = b.dir
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatalf("git %v: %v", args, err)
	}
	return out
}

func (b *bundle) runShell(dir, line string) string {
	b.t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatalf("%s: %v", line, err)
	}
	return strings.TrimSpace(string(out))
}

func TestHashGates(t *testing.T) {
	a := commands("go vet ./...", "go test ./...")
	if gates.HashGates(a) != gates.HashGates(slices.Clone(a)) ||
		gates.HashGates(nil) != gates.HashGates([]company.GateCommand{}) {
		t.Error("the same gates have two names")
	}
	seen := map[company.Hash]string{}
	for name, cmds := range map[string][]company.GateCommand{
		"both": a, "none": nil, "one": a[:1], "turned round": {a[1], a[0]},
		"other command": commands("go vet ./...", "go test -short ./..."),
		"other name":    {{Name: "lint", Command: a[1].Command}},
	} {
		h := gates.HashGates(cmds)
		if was, twice := seen[h]; twice || len(h) != 64 {
			t.Errorf("%s and %s: %s", was, name, h)
		}
		seen[h] = name
	}
}

// Feature: gates, Property 1: Arguments Round-Trip
//
// A command given as a list reaches the program argument by argument (PRC-4).
func TestQuoteArgs(t *testing.T) {
	if got := gates.QuoteArgs([]string{"go", "test", "-run=A B", "./..."}); got != "exec go test '-run=A B' ./..." {
		t.Errorf("%s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.StringMatching(`[ -~\n\t]{0,12}`),
			rapid.SampledFrom([]string{"", "~", "a=b", "é", "-e", "$(x)", "`x`", "!!", "'", "\\", "auto"}))
		args := rapid.SliceOfN(word, 0, 5).Draw(t, "args")
		given := gates.QuoteArgs(append([]string{"printf", `%s\0`, "-"}, args...))
		if given == gates.Auto || given == gates.None {
			t.Fatalf("taken for a word: %s", given)
		}
		out, err := exec.Command("/bin/sh", "-c", string(given)).Output()
		if want := strings.Join(append([]string{"-"}, args...), "\x00") + "\x00"; err != nil || string(out) != want {
			t.Fatalf("%s gives %q, %v, want %q", given, out, err, want)
		}
	})
	if got := gates.QuoteArgs([]string{"none"}); got == gates.None {
		t.Error("a program called none is not a gate")
	}
}

// oneMirror is the mirror of every task.
type oneMirror struct{ m *gitops.Mirror }

func (o oneMirror) MirrorOf(context.Context, *company.Task) (*gitops.Mirror, error) { return o.m, nil }

// unwatched is a CheckWatcher that keeps nothing.
type unwatched struct{}

func (unwatched) WatchCheck(company.TaskID, company.SubtaskID, string) {}

// fakeDesk shows one state.
type fakeDecider struct{ s *company.State }

func (d fakeDecider) View() *company.State { return d.s }
func (d fakeDecider) Do(context.Context, string, company.Command) ([]company.Event, error) {
	panic("a gate decides nothing")
}

// state is an office with one task at base, whose gates are cmds.
func (b *bundle) state(base company.OID, cmds []company.GateCommand, subs ...*company.Subtask) *company.State {
	s := company.NewState()
	s.Office.Epoch = 1
	s.Tasks["t1"] = &company.Task{ID: "t1", Status: company.StatusExecuting, Head: base, Subtasks: subs,
		Prepared: &company.TaskPrepared{
			Base: company.Base{OID: base}, Gates: cmds, GateHash: gates.HashGates(cmds), Image: b.image}}
	return s
}

func (b *bundle) runEffect(s *company.State, sub company.SubtaskID) company.RecordGateResult {
	b.t.Helper()
	e := &gates.Handler{Decider: fakeDecider{s}, Runner: b.runner, Mirrors: oneMirror{b.mirror}, Watcher: unwatched{}}
	cmd, err := e.RunGates(b.ctx, company.Effect{Task: "t1", Subtask: sub})
	if err != nil {
		b.t.Fatal(err)
	}
	return cmd.(company.RecordGateResult)
}

// The gates judge the head merged onto the integration head; what does not
// merge is judged by itself and marked; what was judged is not judged again,
// unless tree, gates or image differ.
func TestGateEffects(t *testing.T) {
	t.Parallel()
	b := setup(t, nil).withDocker()
	base := b.commit("main")
	b.git("switch", "-q", "-c", "side", "main")
	b.writeFiles(map[string]string{"side": "s\n"})
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "side")
	side := b.commit("side")
	b.git("switch", "-q", "-c", "clash", "main")
	b.writeFiles(map[string]string{"README": "theirs\n"})
	b.git("commit", "-q", "-am", "clash")
	clash := b.commit("clash")
	b.git("switch", "-q", "main")
	b.writeFiles(map[string]string{"README": "ours\n", "ours": "o\n"})
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "ours")
	head := b.commit("main")

	cmds := commands("", "cat README; test -f side && test -f ours")
	sub := &company.Subtask{ID: "t1-01", Head: side, Planned: company.PlannedSubtask{Title: "side"}}
	s := b.state(base, cmds, sub)
	s.Tasks["t1"].Head = head

	merged, err := b.mirror.MergeTree(b.ctx, head, side)
	if err != nil {
		t.Fatal(err)
	}
	got := b.runEffect(s, sub.ID)
	if !got.Result.Passed || got.Conflict || got.Head != side || got.Onto != head || got.Result.Tree != merged.Tree {
		t.Errorf("%+v, want a green verdict on %s", got, merged.Tree)
	}

	sub.Head = clash
	tree, err := b.mirror.Tree(b.ctx, clash)
	if err != nil {
		t.Fatal(err)
	}
	got = b.runEffect(s, sub.ID)
	if got.Result.Passed || !got.Conflict || got.Result.Tree != tree ||
		!strings.HasPrefix(got.Result.Checks[0].Output, "theirs\n") {
		t.Errorf("%+v, want a red verdict on %s", got, tree)
	}

	// The whole task is judged at its head.
	if got = b.runEffect(s, ""); got.Head != head || got.Result.Passed ||
		!strings.HasPrefix(got.Result.Checks[0].Output, "ours\n") {
		t.Errorf("%+v", got)
	}

	started := len(b.rt.ids)
	sub.Head = side
	verdict := company.GateResult{Tree: merged.Tree, GateHash: gates.HashGates(cmds), Image: b.image, Passed: true,
		Checks: []company.GateCheck{{Name: "test", Command: cmds[0].Command, Passed: true}}}
	s.GateResults[company.GateKey(verdict.Tree, verdict.GateHash, verdict.Image)] = verdict
	if got = b.runEffect(s, sub.ID); !got.Result.Cached || !got.Result.Passed || len(b.rt.ids) != started {
		t.Errorf("judged again: %+v, %d containers", got, len(b.rt.ids)-started)
	}
	other := commands("", "false")
	s2 := b.state(base, other, sub)
	s2.Tasks["t1"].Head, s2.GateResults = head, s.GateResults
	if got = b.runEffect(s2, sub.ID); got.Result.Cached || got.Result.Passed || len(b.rt.ids) != started+2 {
		// and once more, since it is red
		t.Errorf("a verdict of other gates was used: %+v", got)
	}
}
