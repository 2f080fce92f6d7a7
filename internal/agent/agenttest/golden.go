package agenttest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"company/internal/agent"
	"company/internal/company"
)

var writeGolden = flag.Bool("golden", false, "rewrite the prompts in testdata")

// CheckPrompt compares a prompt, with the hash of its system prompt, with its file in testdata.
func CheckPrompt(t *testing.T, name, system, first string) {
	t.Helper()
	got := "rules " + string(agent.TextHash(system)) + "\n\n" + first
	file := filepath.Join("testdata", name+".md")
	if *writeGolden {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the prompt %s has changed, and so has its hash in the ledger. If that is meant, rewrite it with "+
			"-golden:\n%s", name, got)
	}
}

var (
	promptAction = regexp.MustCompile(`(?s)\{\{.*?\}\}|\n`)
	comment      = regexp.MustCompile(`(?s)\{\{/\*.*?\*/ ?-?\}\}`)
)

// CheckSentences fails if no golden prompt of the package has a sentence of its templates: then nothing shows that the
// branch around it can be rendered.
func CheckSentences(t *testing.T) {
	t.Helper()
	golden := readAll(t, "testdata/*.md")
	for _, text := range promptAction.Split(comment.ReplaceAllString(readAll(t, "prompts/*.tmpl"), ""), -1) {
		if text = strings.TrimSpace(text); len(text) > 8 && !strings.Contains(golden, text) {
			t.Errorf("no golden prompt has %q", text)
		}
	}
}

func readAll(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", pattern, files, err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// NewTask returns a task with one ticket, for golden prompts.
func NewTask() *company.Task {
	oid := func(c string) company.OID { return company.OID(strings.Repeat(c, 40)) }
	return &company.Task{
		ID: "t1", Instruction: "Add a limit.\nKeep the rest.", Head: oid("c"),
		Settings: company.Settings{ProtectTests: true},
		Prepared: &company.TaskPrepared{Base: company.Base{OID: oid("b")},
			Gates: []company.GateCommand{{Name: "test", Command: "go test ./...", Dir: "api"}}},
		Baseline: &company.GateResult{Checks: []company.GateCheck{{Name: "test", Command: "go test ./...", Passed: true}}},
		Subtasks: []*company.Subtask{{ID: "t1-01", Started: 1, Head: oid("d"), Planned: company.PlannedSubtask{
			Title: "Limit requests", Description: "In api/limit.go.", AcceptanceCriteria: []string{"the 101st request gets 429"},
			WriteSet: []string{"api/**"}, Context: []string{"api/server.go", "clients are named by address"},
		}}},
	}
}
