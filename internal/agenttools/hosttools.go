package agenttools

import (
	"context"
	"fmt"
	"strings"

	"company/internal/agent"
)

// The tools of this file act on the host: they touch no container.

func (f *toolFactory) todoTool() agent.Tool {
	return newTool(f, "todo",
		`Write down your plan: the whole list, at most one item in_progress.`,
		`{"type":"object","properties":{
"items":{"type":"array","maxItems":50,"items":{"type":"object","properties":{
"text":{"type":"string","minLength":1,"maxLength":500},
"status":{"enum":["pending","in_progress","done"]}},
"required":["text","status"],"additionalProperties":false}}},
"required":["items"],"additionalProperties":false}`, false,
		func(_ context.Context, a struct {
			Items []struct{ Text, Status string }
		}) (agent.Result, error) {
			marks := map[string]string{"pending": "[ ]", "in_progress": "[>]", "done": "[x]"}
			var b strings.Builder
			current := 0
			for _, item := range a.Items {
				fmt.Fprintf(&b, "%s %s\n", marks[item.Status], item.Text)
				if item.Status == "in_progress" {
					current++
				}
			}
			if current > 1 {
				return agent.Result{Text: fmt.Sprintf("%d items are in_progress; at most one may be.", current), IsError: true}, nil
			}
			return agent.Result{Text: b.String(), Keep: true}, nil
		})
}

func (f *toolFactory) noteTool() agent.Tool {
	t := newTool(f, "note",
		`Keep a decision, a trap or a command that works for those who work here next.`,
		`{"type":"object","properties":{
"text":{"type":"string","minLength":1,"maxLength":4000}},
"required":["text"],"additionalProperties":false}`, false,
		func(ctx context.Context, a struct{ Text string }) (agent.Result, error) {
			if f.Note != nil {
				if err := f.Note(ctx, a.Text); err != nil {
					return agent.Result{}, err
				}
			}
			return agent.Result{Text: "noted"}, nil
		})
	t.Lasting = true
	return t
}

func (f *toolFactory) escalateTool() agent.Tool {
	return newTool(f, "escalate",
		`Give the work back where it cannot be done as asked. Ends the run. Say what you tried and what is needed.`,
		`{"type":"object","properties":{
"reason":{"type":"string","minLength":1}},
"required":["reason"],"additionalProperties":false}`, false,
		func(_ context.Context, a agent.Escalation) (agent.Result, error) {
			return agent.Result{Text: "escalated", Final: a}, nil
		})
}
