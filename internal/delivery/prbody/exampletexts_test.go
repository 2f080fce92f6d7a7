package prbody

import (
	"os"
	"strings"
	"testing"

	"company/internal/company"
)

// exampleTexts is the page that shows what pull requests look like.
const exampleTexts = "testdata/examples/texts.md"

// smallRepair is a repair of one ticket, as of a library: what failed before is named by its test.
func smallRepair() *company.Task {
	t := oneSubtask()
	t.Instruction = "Encoding a value whose fields point to each other overflows the stack. It has to return an error " +
		"that names the type."
	t.Plan = company.Planning{Accepted: "t12-plan.1", Title: "Refuse values that contain themselves when encoding"}
	sub := t.Subtasks[0]
	sub.Planned.Title, sub.Planned.Description = "Refuse values that contain themselves",
		"Encoder.Encode follows pointers without an end."
	sub.Planned.AcceptanceCriteria = []string{"a value that contains itself gives an error that names its type",
		"values that share a pointer are encoded as before"}
	sub.Changes = []company.Change{{Path: "CHANGELOG.md", Action: "modified", Lines: 3},
		{Path: "encode.go", Action: "modified", Lines: 31}, {Path: "encode_test.go", Action: "modified", Lines: 58},
		{Path: "errors.go", Action: "modified", Lines: 9}}
	review := &company.ReviewRecorded{Head: t.Head, Verdict: company.Approve, Whole: true,
		Evidence: []string{"ran `go test -run TestEncodeCycle .`", "TestEncodeShared, in the diff"}}
	t.Review.Last, sub.Review.Last = review, review
	t.Gate.Result.Checks[1].Counts = &company.TestCounts{Passed: 2179}
	t.Gate.Result.RedGreen = &company.RedGreen{Files: 1, Fresh: 3, Shown: 2,
		Proof: []string{"example.com/enc TestEncodeCycle", "example.com/enc TestEncodeCycleInMap"},
		Idle:  []string{"example.com/enc TestEncodeShared"}}
	runsOf(t, ended("t12-01", company.Worker, 1, 9, 200_000, func(r *company.Run) {
		r.Problem = "Encode follows pointers without an end: a struct whose field points back to it ends the program with " +
			"a stack overflow, which no caller can recover from."
		r.Summary = "The encoder remembers the pointers on its way down and returns a CycleError with the type when it " +
			"meets one again. Only the way down counts, so that a value used twice is still encoded twice. The check begins " +
			"at a depth of 100, as flat values should not pay for it."
		r.Risks = "A chain of more than 100 pointers costs one map entry each; the benchmark of flat values is unchanged."
	}))
	return t
}

// threeTickets is a feature of three tickets, with a package that is new.
func threeTickets() *company.Task {
	t := manySubtasks()
	t.Instruction = "The store keeps all in memory and loses it at each restart. Put it behind an interface and add one " +
		"that keeps its entries on disk, chosen by STORE_DIR."
	t.Subtasks[0].Changes = []company.Change{{Path: "store/store.go", Action: "created", Lines: 40}}
	t.Subtasks[1].Changes = []company.Change{{Path: "store/memory.go", Action: "created", Lines: 85},
		{Path: "api/server.go", Action: "modified", Lines: 12}, {Path: "store/memory_test.go", Action: "created", Lines: 60}}
	t.Subtasks[2].Changes = []company.Change{{Path: "store/disk.go", Action: "created", Lines: 140},
		{Path: "store/disk_test.go", Action: "created", Lines: 120}, {Path: "README.md", Action: "modified", Lines: 9},
		{Path: "go.sum", Action: "modified", Lines: 4}}
	t.Dependencies = []company.Dependency{{Ecosystem: "go", Name: "golang.org/x/sys", Version: "v0.30.0"}}
	t.Plan.Decisions = []string{
		"Without STORE_DIR the store in memory stays, as nothing may change for who does not set it."}
	t.Gate.Result.RedGreen = &company.RedGreen{Files: 2, Fresh: 5, Shown: 5,
		Proof: []string{"example.com/app/store TestDisk", "example.com/app/store TestDisk/slash",
			"example.com/app/store TestDisk/restart", "example.com/app/store TestMemory", "example.com/app/store TestStoreDir"}}
	return t
}

// The page of example texts holds what the product writes now, and each text keeps its bounds.
func TestExampleTexts(t *testing.T) {
	untested := smallRepair()
	untested.Gate.Result.RedGreen = &company.RedGreen{}
	untested.Prepared.Unrun = []company.UnrunCheck{
		{Command: "make e2e", At: ".github/workflows/ci.yml:31", Why: "it needs a login", OfCI: true}}
	untested.Subtasks[0].Changes = untested.Subtasks[0].Changes[1:2]
	o := PROptions{Pushed: true, ClosingLines: []string{"Closes #12"}}
	after := PROptions{Pushed: true, EarlierTasks: []*company.Task{oneSubtask()}}
	var b strings.Builder
	b.WriteString("# Texts of pull requests\n\nSix texts as the product writes them, of tasks that are made up after " +
		"real ones: the open part as it stands, and what each folds below it. They are rewritten by `go test " +
		"./internal/delivery/prbody -golden`.\n")
	for _, c := range []struct {
		name string
		task *company.Task
		PROptions
	}{
		{"A small repair", smallRepair(), o}, {"A feature of three tickets", threeTickets(), o},
		{"A part is missing", partialFailure(), o},
		{"Red on the base, and waived", excusedGates(), o}, {"A follow-up", followUp(), after},
		{"A check that cannot be run", untested, o},
	} {
		text := PRBody(c.task, c.PROptions)
		checkBounds(t, text)
		open, _ := splitOpen(text)
		b.WriteString("\n## " + c.name + "\n\n````markdown\n" + strings.TrimSpace(blankLines.ReplaceAllString(open, "\n\n")) +
			"\n````\n\nFolded below it:\n\n")
		for line := range strings.Lines(text) {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), "<details><summary>"); ok {
				b.WriteString("- " + strings.TrimSuffix(name, "</summary>") + "\n")
			}
		}
	}
	if *writeGolden {
		if err := os.WriteFile(exampleTexts, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(exampleTexts)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s is another one now; rewrite it with -golden", exampleTexts)
	}
}
