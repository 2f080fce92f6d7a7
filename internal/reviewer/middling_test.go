package reviewer

import (
	"context"
	"encoding/json"
	"testing"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/company"
)

// oneCall is a model that makes one call, again and again.
type oneCall struct{ adapters.ToolCall }

func (oneCall) Info() adapters.Info { return adapters.Info{MaxOutput: 1000} }

func (m oneCall) Chat(context.Context, adapters.Request, func(adapters.Event)) (adapters.Response, error) {
	return adapters.Response{Message: adapters.Message{Role: adapters.Assistant, ToolCalls: []adapters.ToolCall{m.ToolCall}}, Finish: adapters.FinishStop}, nil
}

func (m oneCall) OpenModel(func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return m, nil
}

// noJournal keeps nothing.
type noJournal struct{}

func (noJournal) Append(context.Context, string, any) (int, error)                     { return 1, nil }
func (noJournal) Read(context.Context, func(int, string, json.RawMessage) error) error { return nil }

// driveCall makes one call in a conversation, as a model wrote it.
func driveCall(t *testing.T, tools []agent.Tool, name, arguments string) agent.Outcome {
	t.Helper()
	out, err := agent.Loop{Models: oneCall{adapters.ToolCall{ID: "c", Name: name, Arguments: arguments}}}.Drive(t.Context(), agent.Job{Tools: tools, First: "x", Run: "t1-01.1", Journal: noJournal{}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// WRK-6: a verdict in other words, and evidence in one text, stand as they are meant.
func TestVerdictsInOtherWordsAreRead(t *testing.T) {
	b := setup(t, map[string]string{"a.go": "package a\n\nvar x = 1\n"})
	for arguments, want := range map[string]string{
		`{"verdict":"approved","evidence":"1. a is changed: the diff\n2. b is not in the diff"}`:                                       company.Approve,
		`{"verdict":"changes_requested","findings":{"severity":"critical","path":"a.go","line":"3","description":"x","why":"go vet"}}`: company.RequestChanges,
	} {
		out := driveCall(t, []agent.Tool{submitReviewTool(b.x, reviewCriteria(b.task, b.sub)[:2], noCalls)}, "submit_review", arguments)
		var got company.ReviewRecorded
		if out.End != agent.EndFinal || out.Decode(&got) != nil || got.Verdict != want || len(got.Evidence)+len(got.Findings) == 0 {
			t.Errorf("%s: %s, %s", arguments, out.End, out.Transcript.ToolCalls[0].Result)
		}
	}
	// One text for two criteria shows one of them.
	out := driveCall(t, []agent.Tool{submitReviewTool(b.x, reviewCriteria(b.task, b.sub)[:2], noCalls)}, "submit_review", `{"verdict":"approve","evidence":"all is well"}`)
	if out.End != agent.EndStuck {
		t.Errorf("too little evidence: %s", out.End)
	}
}
