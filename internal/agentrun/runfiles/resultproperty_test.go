package runfiles

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"company/internal/company"
)

// Feature: agent-execution-engine, Property 23: Execution Result Structure
//
// ART-1. What Marshal writes of any result fits the published schema, and reads back as it was.
func TestAnyResultFitsTheSchema(t *testing.T) {
	s := loadSchema(t)
	rapid.Check(t, func(rt *rapid.T) {
		r := drawResult(rt)
		text, err := r.Marshal()
		if err != nil {
			rt.Fatal(err)
		}
		if err := validate(t, s, text); err != nil {
			rt.Fatalf("%v\n%s", err, text)
		}
		var back ExecutionResult
		if err := json.Unmarshal(text, &back); err != nil {
			rt.Fatalf("%v\n%s", err, text)
		}
		if !reflect.DeepEqual(back, r) {
			rt.Fatalf("was %+v\nis  %+v", r, back)
		}
	})
}

// drawResult draws a result with empty lists in place of none, which is how they are
// written.
func drawResult(t *rapid.T) ExecutionResult {
	at := rapid.Int64Range(0, 4e9)
	r := ExecutionResult{
		RunID:    company.RunID(rapid.StringMatching(`t[1-9][0-9]{0,3}-(plan|[0-9]{2})\.[1-9]`).Draw(t, "run")),
		TicketID: rapid.StringMatching(`t[1-9](-[0-9]{2})?`).Draw(t, "ticket"),
		AgentID:  rapid.SampledFrom([]string{"manager", "w1", "reviewer", "merger"}).Draw(t, "agent"),
		Status: rapid.SampledFrom(
			[]company.RunStatus{company.RunSuccess, company.RunPartial, company.RunQualityFailed, company.RunError}).Draw(
			t, "status"),
		StartTime: time.Unix(at.Draw(t, "start"), 0).UTC(), EndTime: time.Unix(at.Draw(t, "end"), 5).UTC(),
		Artifacts: []Artifact{}, Commits: []string{}, Errors: []string{},
		GitBranch: rapid.String().Draw(t, "branch"), Turns: rapid.IntRange(0, 1000).Draw(t, "turns"),
		TokensUsed: rapid.Int64Min(0).Draw(t, "tokens"),
		Summary:    rapid.String().Draw(t, "summary"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "artifacts") {
		r.Artifacts = append(r.Artifacts, Artifact{
			Path:   rapid.String().Draw(t, "path"),
			Action: rapid.SampledFrom([]string{"created", "modified", "deleted"}).Draw(t, "action"),
			Diff:   rapid.String().Draw(t, "diff"),
		})
	}
	r.Commits = append(r.Commits, rapid.SliceOfN(rapid.StringMatching(`[0-9a-f]{40}`), 0, 3).Draw(t, "commits")...)
	r.Errors = append(r.Errors, rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "errors")...)
	if rapid.Bool().Draw(t, "priced") {
		cost := rapid.Int64Min(0).Draw(t, "cost")
		r.CostMicroUSD = &cost
	}
	if rapid.Bool().Draw(t, "gated") {
		g := &company.GateResult{Tree: company.OID(rapid.StringMatching(`[0-9a-f]{40}`).Draw(t, "tree")),
			Passed: rapid.Bool().Draw(t, "passed"), Checks: []company.GateCheck{}}
		for range rapid.IntRange(0, 2).Draw(t, "checks") {
			g.Checks = append(
				g.Checks,
				company.GateCheck{Name: rapid.String().Draw(t, "check"), Command: rapid.String().Draw(t, "command"),
					ExitCode: rapid.IntRange(0, 255).Draw(t, "code"), Took: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "took"))})
		}
		r.QualityGates = NewQualityGates(*g)
	}
	return r
}
