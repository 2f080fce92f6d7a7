package manager

import (
	"encoding/json"
	"testing"

	"company/internal/agent"
	"company/internal/company"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// use calls the tool of that name as a conversation does.
func use(t *testing.T, tools []agent.Tool, name string, args any) agent.Result {
	t.Helper()
	for _, tool := range tools {
		if tool.Spec.Name != name {
			continue
		}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		res, err := tool.Run(t.Context(), raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return res
	}
	t.Fatalf("there is no tool %s", name)
	return agent.Result{}
}

// plan is one that code accepts: n subtasks in one wave.
func plan(titles ...string) company.Plan {
	var w company.Wave
	for _, title := range titles {
		w.Subtasks = append(w.Subtasks, company.PlannedSubtask{
			Title: title, Description: "Do " + title + " in " + title +
				".go, with its test, so that it works for everybody who needs it.",
			AcceptanceCriteria: []string{title + " works"}, WriteSet: []string{title + ".go", title + "_test.go"},
			Effort: company.EffortMedium,
		})
	}
	return company.Plan{Waves: []company.Wave{w}, Why: "they share no file"}
}
