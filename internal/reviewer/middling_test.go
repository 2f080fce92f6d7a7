package reviewer

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/company"
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

// WRK-6: a verdict in other words, and evidence in one text, stand as they are meant.
func TestVerdictsInOtherWordsAreRead(t *testing.T) {
	b := setup(t, map[string]string{"a.go": "package a\n\nvar x = 1\n"})
	for arguments, want := range map[string]string{
		`{"verdict":"approved","evidence":"1. a is changed: the diff\n2. b is not in the diff"}`:                                       company.Approve,
		`{"verdict":"changes_requested","findings":{"severity":"critical","path":"a.go","line":"3","description":"x","why":"go vet"}}`: company.RequestChanges,
	} {
		out := driveCall(t, []agent.Tool{submitReviewTool(b.x, reviewCriteria(b.task, b.sub)[:2], noCalls)},
			"submit_review", arguments)
		var got company.ReviewRecorded
		if out.End != agent.EndFinal || out.Decode(&got) != nil || got.Verdict != want ||
			len(got.Evidence)+len(got.Findings) == 0 {
			t.Errorf("%s: %s, %s", arguments, out.End, out.Transcript.ToolCalls[0].Result)
		}
	}
	// One text for two criteria shows one of them.
	out := driveCall(t, []agent.Tool{submitReviewTool(b.x, reviewCriteria(b.task, b.sub)[:2], noCalls)}, "submit_review",
		`{"verdict":"approve","evidence":"all is well"}`)
	if out.End != agent.EndStuck {
		t.Errorf("too little evidence: %s", out.End)
	}
}

// REV-4: the reviewer of a later round judges each finding of the last one. A first round is
// not asked, and a judgement of a finding that does not exist is refused.
func TestEarlierFindingsAreJudged(t *testing.T) {
	b := setup(t, map[string]string{"a.go": "package a\n\nvar x = 1\n"})
	first := submitReviewTool(b.x, reviewCriteria(b.task, b.sub)[:1], noCalls)
	if !slices.Equal(first.Unsent, []string{"earlier"}) {
		t.Errorf("a first round is asked for %v", first.Unsent)
	}
	b.x.Round = &lastRound{Findings: []company.Finding{{Severity: company.Blocking, What: "there is no test"},
		{Severity: company.Minor, What: "a name"}}}
	later := []agent.Tool{submitReviewTool(b.x, reviewCriteria(b.task, b.sub)[:1], noCalls)}
	if later[0].Unsent != nil {
		t.Errorf("a later round is not asked for %v", later[0].Unsent)
	}
	const review = `{"verdict":"request_changes","findings":[{"severity":"blocking","file":"a.go","line":3,"what":"x is wrong"}],"earlier":`
	for earlier, want := range map[string][]company.Judgement{
		`[{"number":1,"status":"mended"},{"number":"2","status":"False positive","why":"it is the usual one"}]}`: {{Number: 1,
			Status: company.FindingMended}, {Number: 2, Status: company.FindingRejected, Why: "it is the usual one"}},
		`{"number":2,"status":"confirmed","why":null}}`: {{Number: 2, Status: company.FindingConfirmed}},
		`null}`: nil,
	} {
		out := driveCall(t, later, "submit_review", review+earlier)
		var got company.ReviewRecorded
		if out.End != agent.EndFinal || out.Decode(&got) != nil || !slices.Equal(got.Judged, want) {
			t.Errorf("%s: %s, %s", earlier, out.End, out.Transcript.ToolCalls[0].Result)
		}
	}
	for earlier, want := range map[string]string{
		`[{"number":3,"status":"confirmed"}]}`: "the last review has 2 findings",
		`[{"number":1,"status":"rejected"}]}`:  "rejected without a reason",
		`[{"number":1,"status":"perhaps"}]}`:   "earlier",
	} {
		out := driveCall(t, later, "submit_review", review+earlier)
		if text := out.Transcript.ToolCalls[0].Result; out.End == agent.EndFinal || !strings.Contains(text, want) {
			t.Errorf("%s: %s, %s", earlier, out.End, text)
		}
	}
}
