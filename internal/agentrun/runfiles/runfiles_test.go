package runfiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	reflector "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"company/internal/company"
	"company/internal/lib/safedir/foldertest"
)

const schemaFile = "../../../docs/schemas/execution-result.schema.json"

var update = flag.Bool("update", false, "write the schema that the structs give")

// The shipped schema is the one that the structs give (ART-1). Run with
// -update after a change.
func TestSchemaIsCurrent(t *testing.T) {
	r := &reflector.Reflector{Anonymous: true, ExpandedStruct: true}
	for _, dir := range []string{".", "../../company"} {
		if err := r.AddGoComments("company/internal/agentrun/runfiles", dir); err != nil {
			t.Fatal(err)
		}
	}
	s := r.Reflect(ExecutionResult{})
	s.Title = "result.json"
	want, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.MkdirAll(filepath.Dir(schemaFile), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the structs and %s differ: go test ./internal/agentrun/runfiles -update\n%s", schemaFile, want)
	}
}

func loadSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

func fullResult() ExecutionResult {
	cost := int64(1200)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	return ExecutionResult{
		RunID: "t12-03.2", TicketID: "t12-03", AgentID: "w1", Status: company.RunSuccess, StartTime: at,
		EndTime:   at.Add(time.Minute),
		Artifacts: []Artifact{{Path: "a/b.go", Action: "created"}, {Path: "c", Action: "deleted", Diff: "-x\n"}},
		GitBranch: "agent/t12-03-x", Commits: []string{strings.Repeat("a", 40)},
		QualityGates: NewQualityGates(company.GateResult{
			Tree: company.OID(strings.Repeat("b", 40)), GateHash: "c", Image: "sha256:d",
			Passed: false, Checks: []company.GateCheck{
				{Name: "lint", Command: "go vet ./...", ExitCode: 1, Output: "x", Log: "e", Took: time.Second},
				{Name: "test", Command: "go test ./...", Skipped: true},
			}}),
		Errors: []string{"out of turns"}, Turns: 3, TokensUsed: 100, CostMicroUSD: &cost, Summary: "s", Journal: "f",
		Transcript: "g",
	}
}

// What Marshal writes is what the schema allows, with everything and with
// nothing in it; and the schema can say no.
func TestResultMatchesSchema(t *testing.T) {
	s := loadSchema(t)
	untested := fullResult()
	untested.QualityGates = NewQualityGates(company.GateResult{Untested: true})
	for name, r := range map[string]ExecutionResult{
		"full":     fullResult(),
		"untested": untested,
		"bare":     {RunID: "t1-plan.1", TicketID: "t1", AgentID: "manager", Status: company.RunError},
	} {
		text, err := r.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, s, text); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	for name, change := range map[string]func(map[string]any){
		"no run":           func(m map[string]any) { delete(m, "run_id") },
		"no artifacts":     func(m map[string]any) { delete(m, "artifacts") },
		"unknown status":   func(m map[string]any) { m["status"] = "done" },
		"unknown action":   func(m map[string]any) { m["artifacts"].([]any)[0].(map[string]any)["action"] = "renamed" },
		"commits null":     func(m map[string]any) { m["commits"] = nil },
		"unknown key":      func(m map[string]any) { m["verdict"] = "good" },
		"tokens as text":   func(m map[string]any) { m["tokens_used"] = "many" },
		"verdict as words": func(m map[string]any) { m["quality_gates"].(map[string]any)["overall"] = "yes" },
		"half a check": func(m map[string]any) {
			m["quality_gates"].(map[string]any)["checks"] = []any{map[string]any{}}
		},
	} {
		text, err := fullResult().Marshal()
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		change(m)
		if text, err = json.Marshal(m); err != nil {
			t.Fatal(err)
		}
		if validate(t, s, text) == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// Marshal leaves what it was given as it was, and its bytes read back.
func TestResultRoundTrip(t *testing.T) {
	r := fullResult()
	text, err := r.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var back ExecutionResult
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, err := back.Marshal()
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("%v\n%s\n%s", err, text, again)
	}
	g := &company.GateResult{Untested: true}
	if _, err := (ExecutionResult{QualityGates: NewQualityGates(*g)}).Marshal(); err != nil || g.Checks != nil {
		t.Errorf("%v: the verdict was changed: %+v", err, g)
	}
}

func TestWriteRunFile(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	own := foldertest.Open(t, runs)
	var last error
	w := NewWriter(own, func(_ company.RunID, _ string, err error) { last = err })
	write := func(id company.RunID, text string) error {
		last = nil
		w.Put(id, ResultFile, []byte(text))
		return errors.Join(w.Await(t.Context()), last)
	}
	for _, text := range []string{"one", "two"} { // writing again replaces
		if err := write("t1-01.1", text); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(runs, "t1-01.1", "result.json"))
		if err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	left, err := os.ReadDir(filepath.Join(runs, "t1-01.1"))
	if err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
	info, err := os.Stat(filepath.Join(runs, "t1-01.1", "result.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, id := range []company.RunID{"", "..", "../t1-01.1", "t1-01.1/x"} {
		if err := write(id, "x"); company.CodeOf(err) != company.EInvalid {
			t.Errorf("%q: %v", id, err)
		}
	}
}
