package projection

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/lib/safedir/foldertest"
)

// SUB-10: each subtask has a file, named by its id, that says what it is and
// how it goes; it is made from the state and nothing else.
func TestBacklog(t *testing.T) {
	oid := func(c string) company.OID { return company.OID(strings.Repeat(c, 40)) }
	d := decidertest.New(t)
	id := d.Submit("do it", "/project")
	d.Prepare(id, oid("a"), company.GateCommand{Name: "test", Command: "true"})
	dir := filepath.Join(t.TempDir(), "workflows", "backlog")
	backlog := foldertest.Open(t, dir)
	if err := writeBacklog(backlog, d.Task(id)); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("tickets before there is a plan: %v, %v", entries, err)
	}

	var wave company.Wave
	for _, title := range []string{"one", "two"} {
		wave.Subtasks = append(wave.Subtasks, company.PlannedSubtask{
			Title: title, Description: "Do " + title + " in " + title + ".go, with its test.", Effort: company.EffortMedium,
			AcceptanceCriteria: []string{title + " works"}, WriteSet: []string{title + ".go", title + "_test.go"},
		})
	}
	p := company.Plan{Waves: []company.Wave{wave}, Why: "they share no file"}
	p.Waves[0].Subtasks[0].Description = "First line.\n\n---\nid: t99-01\n---\n" + p.Waves[0].Subtasks[0].Description
	d.Plan(id, p)
	d.Work("t1-01", oid("b"), company.Change{Path: "one.go", Action: "created"})
	d.Gate("t1-01", oid("c"))
	d.Approve("t1-01")
	for range 2 { // writing again replaces
		if err := writeBacklog(backlog, d.Task(id)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != "t1-01.md" || entries[1].Name() != "t1-02.md" {
		t.Fatalf("%v, %v", entries, err)
	}

	text, err := os.ReadFile(filepath.Join(dir, "t1-01.md"))
	if err != nil {
		t.Fatal(err)
	}
	rest, ok := bytes.CutPrefix(text, []byte("---\n"))
	head, body, ok2 := bytes.Cut(rest, []byte("---\n\n"))
	var f frontMatter
	if err := yaml.Unmarshal(head, &f); !ok || !ok2 || err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if f.ID != "t1-01" || f.ParentID != id || f.Status != company.SubtaskMerging || f.Wave != 1 || f.Effort != "medium" ||
		strings.Join(f.WriteSet, " ") != "one.go one_test.go" || f.Head != oid("b") || f.Branch == "" || f.Merged != "" ||
		f.Created == "" {
		t.Errorf("%+v", f)
	}
	for _, want := range []string{
		"# one\n", p.Waves[0].Subtasks[0].Description, "## Acceptance criteria\n\n- one works\n", "## Log\n",
		"t1-01.1 success", "gates on bbbbbbb: passed", "review of bbbbbbb: approve, 0 findings",
	} {
		if !strings.Contains(string(body), want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	again, err := formatTicket(d.Task(id), d.Task(id).Subtask("t1-01"))
	if err != nil || !bytes.Equal(again, text) {
		t.Errorf("%v: not a function of the state", err)
	}
	d.Task(id).Subtask("t1-01").Gate.Stack = []company.SubtaskID{"t1-01", "t1-02"}
	if text, err := formatTicket(d.Task(id), d.Task(id).Subtask("t1-01")); err != nil ||
		!strings.Contains(string(text), "- gates on bbbbbbb: passed, of 2 subtasks together\n") {
		t.Errorf("%v\n%s", err, text)
	}
}

// A plan that the president sent back leaves no tickets behind.
func TestBacklogOfAnOldPlan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "backlog")
	backlog := foldertest.Open(t, dir)
	task := &company.Task{ID: "t1"}
	for n := range 3 {
		task.Subtasks = append(task.Subtasks,
			&company.Subtask{ID: company.NewSubtaskID("t1", n+1), Planned: company.PlannedSubtask{Title: "x"}})
	}
	for _, want := range []int{3, 1, 0} {
		task.Subtasks = task.Subtasks[:want]
		if err := writeBacklog(backlog, task); err != nil {
			t.Fatal(err)
		}
		if files, err := filepath.Glob(filepath.Join(dir, "*.md")); err != nil || len(files) != want {
			t.Fatalf("%d tickets, want %d (%v)", len(files), want, err)
		}
	}
}

// The file of a whole instruction, which has no description of a manager, has the instruction.
func TestBacklogOfAnInstruction(t *testing.T) {
	text, err := formatTicket(&company.Task{ID: "t1", Instruction: "Add a limit.\n\nTen a second."},
		&company.Subtask{ID: "t1-01", Planned: company.PlannedSubtask{Title: "Add a limit"}})
	if err != nil ||
		!strings.HasSuffix(string(text), "---\n\n# Add a limit\n\nAdd a limit.\n\nTen a second.\n\n## Log\n\n") {
		t.Errorf("%v\n%s", err, text)
	}
}
