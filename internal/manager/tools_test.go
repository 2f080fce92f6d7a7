package manager

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"company/internal/agent"
	"company/internal/agent/agenttest"
	"company/internal/agentrun/agenttools"
	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
	"company/internal/toolbox/toolproto"
)

type args = map[string]any

func newReading(t *testing.T, files map[string]string) []agent.Tool {
	t.Helper()
	return readingOf(t, files).list()
}

func readingOf(t *testing.T, files map[string]string) *readTools {
	t.Helper()
	p := gitopstest.New(t, files)
	return &readTools{mirror: p.Mirror, at: p.Base}
}

func TestReadFile(t *testing.T) {
	var long strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	tools := newReading(t, map[string]string{
		"a.txt": "one\r\ntwo\nthree", "long.txt": long.String(), "wide.txt": strings.Repeat("ö", 10_000) + "\nnext\n",
		"binary": "ELF\x00\x01", "dir/x": "x\n", "blank": "\n", "cafe\u0301.txt": "nfd\n", "wide.ps1": "\xff\xfe\xe9\x00\n\x00",
	})
	for _, c := range []struct {
		name    string
		args    args
		want    string
		isError bool
	}{
		{"whole", args{"path": "a.txt"}, "1: one\n2: two\n3: three\n", false},
		{"a part", args{"path": "a.txt", "offset": 2, "limit": 1}, "2: two\n(more; use offset=3)\n", false},
		{"behind the end", args{"path": "a.txt", "offset": 9}, "", false},
		{"one empty line", args{"path": "blank"}, "1: \n", false},
		{"binary", args{"path": "binary"}, "binary is a binary file", true},
		{"missing", args{"path": "no.txt"}, "there is no file no.txt; did you mean a.txt?", true},
		{"another spelling", args{"path": "caf\u00e9.txt"}, "1: nfd\n", false},
		{"UTF-16", args{"path": "wide.ps1"}, "1: é\n", false},
		{"a folder", args{"path": "dir"}, "dir is a folder; use list_files with the glob dir/**", true},
		{"outside", args{"path": "../../etc/passwd"}, "there is no file ../../etc/passwd", true},
		{"absolute", args{"path": "/etc/passwd"}, "there is no file /etc/passwd", true},
		{"nothing", args{"path": ""}, "there is no file ", true},
		{"wrong type", args{"path": 7}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := use(t, tools, "read_file", c.args)
			if res.IsError != c.isError || c.name != "wrong type" && res.Text != c.want {
				t.Errorf("%q (error: %v), want %q", res.Text, res.IsError, c.want)
			}
		})
	}
	if res := use(t, tools, "read_file", args{"path": "long.txt"}); !strings.HasSuffix(
		res.Text, "2000: line 2000\n(more; use offset=2001)\n") {
		t.Errorf("%q", res.Text[max(0, len(res.Text)-80):])
	}
	res := use(t, tools, "read_file", args{"path": "wide.txt"})
	if first, _, _ := strings.Cut(res.Text, "\n"); len(first) > maxLine+10 || !strings.HasSuffix(first, "ö…") ||
		!strings.Contains(res.Text, "2: next") {
		t.Errorf("%q", res.Text)
	}
}

func TestSearch(t *testing.T) {
	files := map[string]string{
		"a.go": "package a\nfunc Visit() {}\r\nend\n", "sub/b.go": "func Visit()\n", "c.txt": "func Visit\n",
		"binary": "func Visit\x00", "huge.txt": "func Visit\n" + strings.Repeat("x\n", 600_000),
		"long.js": strings.Repeat("y", 1_000_000),
	}
	p := gitopstest.New(t, files)
	if err := os.Symlink("/etc/passwd", filepath.Join(p.Dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	p.Git("add", "-A")
	p.Git("commit", "-q", "-m", "a link")
	tools := (&readTools{mirror: p.Mirror, at: p.Fetch("main")}).list()
	for _, c := range []struct {
		name    string
		args    args
		want    string
		isError bool
	}{
		{"all", args{"pattern": "func V"}, "a.go:2: func Visit() {}\nc.txt:1: func Visit\nsub/b.go:1: func Visit()\n", false},
		{"by glob", args{"pattern": "Visit", "glob": "**/*.go"},
			"a.go:2: func Visit() {}\nsub/b.go:1: func Visit()\n", false},
		{"to the end of the line", args{"pattern": `^func Visit\(\) \{\}$`}, "a.go:2: func Visit() {}\n", false},
		{"nothing", args{"pattern": "absent"}, "no matches", false},
		{"a link is not followed", args{"pattern": "root|etc"}, "no matches", false},
		{"no files", args{"pattern": "x", "glob": "*.rs"}, "no matches", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if res := use(t, tools, "search", c.args); res.Text != c.want || res.IsError != c.isError {
				t.Errorf("%q (error: %v), want %q", res.Text, res.IsError, c.want)
			}
		})
	}
	for name, bad := range map[string]args{
		"no expression": {"pattern": "("}, "no glob": {"pattern": "x", "glob": "[a"},
		"a pattern that takes hours": {"pattern": "(.?){1000}"},
		"a line that takes too long": {"pattern": strings.Repeat("(a|b?)", 100), "glob": "long.js"},
	} {
		if res := use(t, tools, "search", bad); !res.IsError || res.Text == "" {
			t.Errorf("%s: %+v", name, res)
		}
	}
}

// Of many hits the files come first, those with most hits at the top; then lines of every
// file, and how many were left out.
func TestSearchCountsByFile(t *testing.T) {
	few := newReading(t, map[string]string{"x": strings.Repeat("hit\n", fewHits)})
	if res := use(t, few, "search", args{"pattern": "hit"}); strings.Count(res.Text, "\n") != fewHits ||
		strings.Contains(res.Text, "files") {
		t.Errorf("%s", res.Text)
	}
	files := map[string]string{"a": strings.Repeat("hit\n", 500), "z": "hit\nhit\n", "odd\x1b[31m": "hit\n"}
	many := use(t, newReading(t, files), "search", args{"pattern": "hit"}).Text
	const odd = `odd\x1b[31m`
	if want := "503 hits in 3 files:\n- 500 in a\n- 2 in z\n- 1 in " + odd +
		"\n\na:1: hit\n"; !strings.HasPrefix(many, want) {
		t.Errorf("%q", many[:200])
	}
	if n := strings.Count(many, ": hit\n"); n != toolproto.SearchHits || !strings.Contains(many, "\nz:2: hit\n") ||
		!strings.Contains(many, "\n"+odd+":1: hit\n") {
		t.Errorf("%d lines\n%s", n, many)
	}
	if !strings.HasSuffix(many, "(403 more hits are left out: search with a glob or a narrower pattern)\n") {
		t.Errorf("%q", many[len(many)-120:])
	}
	wide := map[string]string{}
	for i := range toolproto.SearchFiles + 5 {
		wide[fmt.Sprintf("f%02d", i)] = "hit\n"
	}
	wide["f00"] = strings.Repeat("hit\n", toolproto.SearchCounted)
	if text := use(t, newReading(t, wide), "search", args{"pattern": "hit"}).Text; !strings.HasPrefix(
		text, "at least 20000 hits in 1 file:\n") {
		t.Errorf("%.80q", text)
	}
	wide["f00"] = "hit\n"
	if text := use(t, newReading(t, wide), "search", args{"pattern": "hit"}).Text; !strings.Contains(
		text, "\n- and 5 more files\n") || strings.Count(text, ":1: hit\n") != toolproto.SearchFiles+5 {
		t.Errorf("%s", text)
	}
}

func TestListFiles(t *testing.T) {
	files := map[string]string{"a.go": "x\n", "sub/b.go": "x\n", "c.txt": "x\n"}
	tools := newReading(t, files)
	for _, c := range []struct {
		args args
		want string
	}{
		{args{}, "a.go\nc.txt\nsub/b.go\n"},
		{args{"glob": "**/*.go"}, "a.go\nsub/b.go\n"},
		{args{"glob": "*.rs"}, "no files"},
	} {
		if res := use(t, tools, "list_files", c.args); res.Text != c.want || res.IsError {
			t.Errorf("%v: %q, want %q", c.args, res.Text, c.want)
		}
	}
	if res := use(t, tools, "list_files", args{"glob": "../*"}); !res.IsError {
		t.Errorf("%+v", res)
	}
	for i := range maxPaths + 20 {
		files[fmt.Sprintf("many/%04d", i)] = "x\n"
	}
	if res := use(t, newReading(t, files), "list_files", args{}); !strings.HasSuffix(
		res.Text, fmt.Sprintf("(truncated: %d files in all)\n", maxPaths+23)) {
		t.Errorf("%q", res.Text[len(res.Text)-60:])
	}
}

// Nothing of the manager's hands writes: its reading tools say so.
func TestReadingTools(t *testing.T) {
	var names []string
	for _, tool := range (&readTools{}).list() {
		names = append(names, tool.Spec.Name)
		if !tool.ReadOnly {
			t.Errorf("%s is not marked as reading", tool.Spec.Name)
		}
	}
	if strings.Join(names, " ") != "read_file search list_files" {
		t.Errorf("%v", names)
	}
}

// SUB-12: a plan that code refuses goes back with the reasons and is on
// record; the third one ends the task. One that stands ends the conversation.
func TestSubmitPlan(t *testing.T) {
	d := decidertest.New(t)
	id := d.Submit("do it", "/project")
	d.Prepare(id, company.OID(strings.Repeat("a", 40)), company.GateCommand{Name: "test", Command: "true"})
	run := company.NewRunID(id, "", company.Manager, 1)
	tools := []agent.Tool{submitPlanTool(
		company.CoordinatorOf(d), run, d.Claim(run, d.Task(id).Head),
		readingOf(t, map[string]string{"there.go": "package x\n"})), agenttools.AskPresident()}

	bad := plan("one", "two")
	bad.Waves[0].Subtasks[1].WriteSet = []string{"one.go"}
	for n := 1; n <= 2; n++ {
		res := use(t, tools, "submit_plan", bad)
		if !res.IsError || res.Final != nil || !strings.Contains(res.Text, "one.go") {
			t.Fatalf("%+v", res)
		}
		task := d.Task(id)
		if task.Plan.Refused != n || len(task.Plan.Problems) == 0 || task.Status != company.StatusDecomposing {
			t.Errorf("%+v", task.Plan)
		}
		for _, p := range task.Plan.Problems {
			if !strings.Contains(res.Text, p.String()) {
				t.Errorf("the model is not told %q", p)
			}
		}
		if n == 1 {
			// What a subtask reads is in the repository, or of an earlier wave.
			reads := plan("one", "two")
			reads.Waves[0].Subtasks[1].Context = []string{"there.go"}
			before := len(d.Events())
			if ok := use(t, tools, "submit_plan", reads); ok.IsError || len(d.Events()) != before {
				t.Errorf("%+v", ok)
			}
			if ok := use(t, tools, "submit_plan", plan("one", "two")); ok.IsError || ok.Final.(decision).Plan.Subtasks() != 2 ||
				len(d.Events()) != before {
				t.Errorf("%+v", ok)
			}
		}
	}
	// What waits in the next manager's brief is why the last plan was refused.
	if text := planBrief(d.Task(id), nil, ""); !strings.Contains(text, d.Task(id).Plan.Problems[0].String()) ||
		!strings.Contains(text, "- test: true") {
		t.Errorf("%s", text)
	}
	bad = plan("one", "two")
	bad.Waves[0].Subtasks[1].Context = []string{"one.go"} // which the first one makes
	res := use(t, tools, "submit_plan", bad)
	if !strings.Contains(res.Text, "does not exist before subtask 1") {
		t.Errorf("%+v", res)
	}
	if !res.IsError || res.Final == nil || !res.Final.(decision).Over || d.Task(id).Status != company.StatusFailed {
		t.Errorf("%+v; the task is %s", res, d.Task(id).Status)
	}
}

// SUB-13: the manager reads the limits of the config before it plans and in the refusal, which
// is on record; a plan that splits what was too large stands.
func TestPlanKeepsToLimitsOfTheConfig(t *testing.T) {
	d := decidertest.New(t)
	id := d.Must(
		company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/project"},
			Settings: company.Settings{Granularity: company.Granularity{MaxSubtasks: 3,
				MaxEffort: company.EffortMedium}}})[0].Task
	d.Prepare(id, company.OID(strings.Repeat("a", 40)), company.GateCommand{Name: "test", Command: "true"})
	if text := planBrief(d.Task(id), nil, ""); !strings.Contains(
		text, "A plan here has 3 subtasks at most, and no subtask of an effort above medium.") {
		t.Errorf("the limits are not in\n%s", text)
	}
	run := company.NewRunID(id, "", company.Manager, 1)
	tools := []agent.Tool{submitPlanTool(
		company.CoordinatorOf(d), run, d.Claim(run, d.Task(id).Head),
		readingOf(t, map[string]string{"there.go": "package x\n"}))}
	whole := plan("the whole")
	whole.Waves[0].Subtasks[0].Effort = company.EffortLarge
	res := use(t, tools, "submit_plan", whole)
	for _, want := range []string{"is too large: its effort is large, and plan.max_effort is medium", "split it",
		"ask the president", "submit it again"} {
		if !strings.Contains(res.Text, want) {
			t.Errorf("%q is missing: %s", want, res.Text)
		}
	}
	if !res.IsError || res.Final != nil || d.Task(id).Plan.Refused != 1 {
		t.Errorf("%+v, refused %d times", res, d.Task(id).Plan.Refused)
	}
	if res := use(t, tools, "submit_plan", plan("one", "two")); res.IsError || res.Final == nil {
		t.Errorf("%+v", res)
	}
}

// SUB-13: a plan that stands and looks wrong goes back once, in the answer; the same plan
// again stands, and nothing of it is on record.
func TestSubmitPlanWarnsOnce(t *testing.T) {
	d := decidertest.New(t)
	id := d.Submit("do it", "/project")
	d.Prepare(id, company.OID(strings.Repeat("a", 40)), company.GateCommand{Name: "test", Command: "true"})
	run := company.NewRunID(id, "", company.Manager, 1)
	tools := []agent.Tool{submitPlanTool(
		company.CoordinatorOf(d), run, d.Claim(run, d.Task(id).Head),
		readingOf(t, map[string]string{"there.go": "package x\n"}))}
	p := plan("one", "two")
	p.Waves[0].Subtasks[1].After = []string{"one"}
	p.Waves[0].Subtasks[1].WriteSet = []string{"one.go"}
	p.Waves[0].Subtasks[1].Description = "Do two, for all who need it, and add tests."
	before := len(d.Events())
	res := use(t, tools, "submit_plan", p)
	for _, want := range []string{"would stand", `edits "one.go", which subtask 1 (one) edits before it`, "asks for tests",
		"as it is"} {
		if !strings.Contains(res.Text, want) {
			t.Errorf("%q is missing: %s", want, res.Text)
		}
	}
	if !res.IsError || res.Final != nil || len(d.Events()) != before {
		t.Errorf("%+v, %d events", res, len(d.Events())-before)
	}
	if res := use(t, tools, "submit_plan", p); res.IsError || res.Final == nil {
		t.Errorf("%+v", res)
	}
	// The list form is read, and a form with both is not.
	for raw, good := range map[string]bool{`{"subtasks":[SUB]}`: true,
		`{"subtasks":[SUB],"waves":[{"subtasks":[SUB]}]}`: false} {
		sub := `{"title":"one","description":"Do one in one.go.","acceptance_criteria":["it works"],"write_set":["one.go"],"effort":"small"}`
		res, err := tools[0].Run(t.Context(), []byte(strings.ReplaceAll(raw, "SUB", sub)))
		if err != nil || res.IsError == good || !good && !strings.Contains(res.Text, "not both") {
			t.Errorf("%s: %+v %v", raw, res, err)
		}
	}
}

func TestDecisions(t *testing.T) {
	tools := []agent.Tool{guideTool("t1-01"), giveUpTool("t1-01")}
	if got := *use(t, tools, "guide_worker",
		args{"advice": "use a map", "decisions": []string{"no order is kept"}}).Final.(decision).Guide; !reflect.DeepEqual(
		got, company.Guide{Subtask: "t1-01", Text: "use a map", Decisions: []string{"no order is kept"}}) {
		t.Errorf("%+v", got)
	}
	if got := *use(t, tools, "give_up", args{"reason": "no way"}).Final.(decision).Guide; !reflect.DeepEqual(
		got, company.Guide{Subtask: "t1-01", Text: "no way", GiveUp: true}) {
		t.Errorf("%+v", got)
	}
}

// SUB-16: a ticket is given a model of the settings alone, and the refusal of another names
// those that are left. Without such models there is no tool for it.
func TestChangeModel(t *testing.T) {
	task := agenttest.NewTask()
	sub := task.Subtasks[0]
	if n := len(decideTools(task, sub)); n != 3 {
		t.Errorf("%d tools where no model may be given", n)
	}
	task.Settings.EscalateTo = []string{"big", "huge"}
	tools := decideTools(task, sub)
	for _, name := range []string{"gigantic", "Big"} {
		if res := use(t, tools, "change_model", args{"model": name, "advice": "mind the order"}); !res.IsError ||
			res.Final != nil || !strings.Contains(res.Text, name) || !strings.HasSuffix(res.Text, "name one of: big, huge") {
			t.Errorf("%+v", res)
		}
	}
	if got := *use(t, tools, "change_model",
		args{"model": "big", "advice": "mind the order"}).Final.(decision).Guide; !reflect.DeepEqual(
		got, company.Guide{Subtask: sub.ID, Text: "mind the order", Model: "big"}) {
		t.Errorf("%+v", got)
	}
	sub.Model = "big"
	if res := use(t, tools, "change_model", args{"model": "big", "advice": "once more"}); !res.IsError ||
		!strings.HasSuffix(res.Text, "has the model big already; name one of: huge") {
		t.Errorf("%+v", res)
	}
	if !strings.Contains(decideBrief(task, sub, gitops.Diff{}, ""), "You gave it the model big.") {
		t.Error("the manager does not know what it decided")
	}
}

// SUB-16: more turns are given within bounds, by the schema and by the tool.
func TestMoreTurns(t *testing.T) {
	task := agenttest.NewTask()
	tools := decideTools(task, task.Subtasks[0])
	for _, n := range []int{-1, company.MaxMoreTurns + 1} {
		if res := use(t, tools, "guide_worker", args{"advice": "go on", "more_turns": n}); !res.IsError ||
			res.Final != nil || !strings.Contains(res.Text, "give 1 to 60") {
			t.Errorf("%d: %+v", n, res)
		}
	}
	if got := use(t, tools, "guide_worker",
		args{"advice": "go on", "more_turns": 5}).Final.(decision).Guide; got.MoreTurns != 5 || got.Text != "go on" {
		t.Errorf("%+v", got)
	}
}

// SUB-16: parts that no plan may have go back with the reasons; others end the decision.
func TestReplanTicket(t *testing.T) {
	task := agenttest.NewTask()
	task.Subtasks[0].Wave, task.Plan.Waves = 1, 1
	tools := decideTools(task, task.Subtasks[0])
	parts := plan("one", "two").Waves[0].Subtasks
	for want, a := range map[string]args{
		"say in reason":  {"reason": " ", "subtasks": parts},
		"has no subtask": {"reason": "two things", "subtasks": parts[:0]},
		"may write what": {"reason": "two things", "subtasks": append(plan("three").Waves[0].Subtasks, company.PlannedSubtask{
			Title: "four", Description: "Do four in three.go, with its test.", AcceptanceCriteria: []string{"it works"},
			WriteSet: []string{"three.go"}, Effort: company.EffortMedium})},
	} {
		if res := use(t, tools, "replan_ticket", a); !res.IsError || res.Final != nil || !strings.Contains(res.Text, want) {
			t.Errorf("%s: %+v", want, res)
		}
	}
	if got := use(t, tools, "replan_ticket",
		args{"reason": "two things", "subtasks": parts}).Final.(decision).Guide; got.Text != "two things" ||
		len(got.Parts) != 2 || got.Subtask != "t1-01" {
		t.Errorf("%+v", got)
	}
}

// A plan does not go back over a title that no forge may be given: the pull request's is made
// without it.
func TestPlanHasATitle(t *testing.T) {
	d := decidertest.New(t)
	id := d.Submit("do it", "/project")
	d.Prepare(id, company.OID(strings.Repeat("a", 40)), company.GateCommand{Name: "test", Command: "true"})
	run := company.NewRunID(id, "", company.Manager, 1)
	tools := []agent.Tool{submitPlanTool(
		company.CoordinatorOf(d), run, d.Claim(run, d.Task(id).Head),
		readingOf(t, map[string]string{"there.go": "package x\n"}))}
	p := plan("one")
	p.Title, p.Decisions = strings.Repeat("Add it ", 12), []string{"nothing else moves"}
	res := use(t, tools, "submit_plan", p)
	if res.IsError || res.Final == nil || d.Task(id).Plan.Refused != 0 {
		t.Fatalf("%+v", res)
	}
	if got := res.Final.(decision).Plan; !reflect.DeepEqual(got.Decisions, p.Decisions) || got.Title != p.Title {
		t.Errorf("%+v", got)
	}
}

// Files that a plan names and the commit does not have go back once, where there is one like them.
func TestPlanNamesMissingFiles(t *testing.T) {
	d := decidertest.New(t)
	id := d.Submit("do it", "/project")
	d.Prepare(id, company.OID(strings.Repeat("a", 40)), company.GateCommand{Name: "test", Command: "true"})
	run := company.NewRunID(id, "", company.Manager, 1)
	look := readingOf(t, map[string]string{"encode.go": "package x\n", "decode.go": "package x\n"})
	tools := []agent.Tool{submitPlanTool(company.CoordinatorOf(d), run, d.Claim(run, d.Task(id).Head), look)}
	p := plan("one")
	sub := &p.Waves[0].Subtasks[0]
	sub.WriteSet, sub.Context = []string{"encoder.go", "entirely_new_thing.go", "docs/**"},
		[]string{"encoder.go:300-400", "decode.go", "a note, no file"}
	res := use(t, tools, "submit_plan", p)
	if !res.IsError || strings.Count(res.Text, "which does not exist") != 1 ||
		!strings.Contains(res.Text, "names encoder.go, which does not exist; did you mean") ||
		!strings.Contains(res.Text, "encode.go") {
		t.Fatalf("%+v", res)
	}
	if res := use(t, tools, "submit_plan", p); res.IsError {
		t.Errorf("a plan that is meant so goes back twice: %+v", res)
	}
}
