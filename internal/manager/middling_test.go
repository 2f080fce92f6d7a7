package manager

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/company"
	"company/internal/company/decidertest"
)

// oneCall is a model that makes one call, again and again.
type oneCall struct{ adapters.ToolCall }

func (oneCall) Info() adapters.Info { return adapters.Info{MaxOutput: 1000} }

func (m oneCall) Chat(context.Context, adapters.Request, func(adapters.Event)) (adapters.Response, error) {
	return adapters.Response{Message: adapters.Message{Role: adapters.Assistant,
		ToolCalls: []adapters.ToolCall{m.ToolCall}}, Finish: adapters.FinishStop}, nil
}

func (m oneCall) OpenModel(func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return m, nil
}

// noJournal keeps nothing.
type noJournal struct{}

func (noJournal) Append(context.Context, string, any) (int, error)                     { return 1, nil }
func (noJournal) AppendLater(context.Context, string, any) error                       { return nil }
func (noJournal) Flush(context.Context) error                                          { return nil }
func (noJournal) Read(context.Context, func(int, string, json.RawMessage) error) error { return nil }

// driveCall makes one call in a conversation, as a model wrote it.
func driveCall(t *testing.T, tools []agent.Tool, name, arguments string) agent.Outcome {
	t.Helper()
	out, err := agent.Loop{Models: oneCall{adapters.ToolCall{ID: "c", Name: name, Arguments: arguments}}}.Drive(
		t.Context(), agent.Job{Tools: tools, First: "x", Run: "t1-01.1", Journal: noJournal{}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// WRK-6: a plan whose waves came as JSON in a string, or all of it so, is a plan.
func TestEncodedPlansAreRead(t *testing.T) {
	p, err := json.Marshal(plan("one", "two"))
	if err != nil {
		t.Fatal(err)
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(p, &parts); err != nil {
		t.Fatal(err)
	}
	waves := strconv.Quote(string(parts["waves"]))
	for name, arguments := range map[string]string{
		"waves in a string": strings.Replace(string(p), string(parts["waves"]), waves, 1),
		"all in a string":   strconv.Quote(string(p)),
		"other names": strings.ReplaceAll(
			strings.ReplaceAll(string(p), "write_set", "writeSet"), "acceptance_criteria", "acceptanceCriteria"),
	} {
		d := decidertest.New(t)
		id := d.Submit("do it", "/project")
		d.Prepare(id, company.OID(strings.Repeat("a", 40)), company.GateCommand{Name: "test", Command: "true"})
		run := company.NewRunID(id, "", company.Manager, 1)
		tools := []agent.Tool{submitPlanTool(
			company.CoordinatorOf(d), run, d.Claim(run, d.Task(id).Head),
			readingOf(t, map[string]string{"there.go": "package x\n"}))}
		out := driveCall(t, tools, "submit_plan", arguments)
		var got decision
		if out.End != agent.EndFinal || out.Decode(&got) != nil || got.Plan == nil || len(got.Plan.Waves) != 1 ||
			len(got.Plan.Waves[0].Subtasks) != 2 || len(got.Plan.Waves[0].Subtasks[0].WriteSet) != 2 {
			t.Errorf("%s: %s, %s", name, out.End, out.Transcript.ToolCalls[0].Result)
		}
	}
}
