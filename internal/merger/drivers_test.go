package merger_test

import (
	"os/exec"
	"reflect"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/merger"
	"company/internal/merger/mergertest"
)

// filesWithDrivers are files whose merge drivers need no program.
var filesWithDrivers = map[string]string{".gitattributes": "CHANGELOG.md merge=union\nVERSION merge=ours\n",
	"CHANGELOG.md": "# Changes\n\n- old\n", "VERSION": "1\n"}

// mergeAsPeople merges two commits in the checkout, where git reads .gitattributes and knows the driver ours, and
// returns the tree.
func mergeAsPeople(b *mergertest.Bundle, ours, theirs company.OID) company.OID {
	b.T.Helper()
	b.Project.Git("fetch", "-q", b.Project.Mirror.Dir(), string(ours))
	b.Project.Git("switch", "-q", "-C", "merged", string(ours))
	b.Project.Git("-c", "merge.ours.driver=true", "merge", "-q", "--no-ff", "-m", "merged", string(theirs))
	b.Project.Git("switch", "-q", "main")
	return b.Project.Tree(b.Project.Fetch("merged"))
}

// Two workers add a line each to a file of merge=union and change one of merge=ours: both are merged as people's git
// merges them, with no conflict for the merger agent. What is left out is recorded.
func TestMergeDriversCount(t *testing.T) {
	b := mergertest.NewOn(t, filesWithDrivers)
	b.QueueForMerge(mergertest.One, map[string]string{"CHANGELOG.md": "# Changes\n\n- one\n- old\n", "VERSION": "2\n"})
	head := b.QueueForMerge(mergertest.Two,
		map[string]string{"CHANGELOG.md": "# Changes\n\n- two\n- old\n", "VERSION": "3\n", "b.go": "package b\n"})
	first := b.MergeFront(mergertest.One)
	want := mergeAsPeople(b, first, head)
	b.AddVerdict(want)
	tested, ok := b.CarryOut(b.Merger.Test, mergertest.Two).(company.RecordMergeGate)
	if !ok || tested.Tree != want || !tested.Result.Passed {
		t.Fatalf("%T %+v, want the tree %s", tested, tested, want)
	}
	for name, text := range map[string]string{"CHANGELOG.md": "# Changes\n\n- one\n- two\n- old\n", "VERSION": "2\n"} {
		if got, err := b.Project.Mirror.ReadFile(t.Context(), tested.Tree, name); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if kept := []company.RemadeFile{{Path: "VERSION", Command: "merge=ours"}}; !reflect.DeepEqual(tested.Remade, kept) {
		t.Errorf("recorded %+v, want %+v", tested.Remade, kept)
	}
}

// The merge in a container, whose work tree has the ticket's side, keeps the same texts.
func TestMergeInAContainerKnowsTheDrivers(t *testing.T) {
	b := mergertest.NewOn(t, filesWithDrivers)
	texts := func(entry, version string) map[string]string {
		return map[string]string{"CHANGELOG.md": "# Changes\n\n- " + entry + "\n- old\n", "VERSION": version + "\n",
			"shared.go": "package a\n\nvar x = " + version + "\n"}
	}
	b.Project.Commit("onto", texts("one", "2"))
	b.Project.Commit("ticket", texts("two", "3"))
	b.Project.Git("switch", "-q", "ticket")
	command := exec.Command("sh", "-c", merger.MergeCommand("onto", false))
	command.Dir, command.Env = b.Project.Dir, gitexectest.Env(b.Project.Dir)
	if out, err := command.CombinedOutput(); err == nil {
		t.Fatalf("no conflict: %s", out)
	}
	if got := b.Project.Git("diff", "--name-only", "--diff-filter=U"); got != "shared.go" {
		t.Errorf("in conflict: %q", got)
	}
	if got := b.Project.Git("show", ":VERSION"); got != "2" {
		t.Errorf("VERSION is %q, not the integration branch's", got)
	}
}
