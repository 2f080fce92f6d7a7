package agenttools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"company/internal/agent"
)

// The tools of this file act on the host and use no container.

// itemMarks maps the statuses that older forms and models use to the marks of a plan's items.
var itemMarks = map[string]string{
	"pending": "[ ] ", "todo": "[ ] ", "open": "[ ] ", "not_started": "[ ] ", "in_progress": "[>] ", "doing": "[>] ",
	"active": "[>] ", "started": "[>] ",
	"done": "[x] ", "completed": "[x] ", "complete": "[x] ", "finished": "[x] ",
}

func (f *toolFactory) todoTool() agent.Tool {
	tool := newTool(f, "todo",
		`Keep your plan, always whole: [x] done, [>] doing (one), [ ] to come.`,
		`{"type":"object","properties":{
"items":{"type":"array","maxItems":50,"items":{"type":"string","minLength":1,"maxLength":600}}},
"required":["items"],"additionalProperties":false}`, false,
		func(_ context.Context, a struct{ Items []string }) (agent.Result, error) {
			var b strings.Builder
			current := 0
			for _, item := range a.Items {
				if !slices.ContainsFunc([]string{"[ ]", "[>]", "[x]"},
					func(mark string) bool { return strings.HasPrefix(item, mark) }) {
					item = itemMarks["pending"] + item
				}
				b.WriteString(item + "\n")
				if strings.HasPrefix(item, "[>]") {
					current++
				}
			}
			if current > 1 {
				return agent.Result{Text: fmt.Sprintf("%d items are in progress; at most one may be.", current), IsError: true}, nil
			}
			return agent.Result{Text: b.String(), Keep: true}, nil
		})
	tool.Amend = amendItems
	return tool
}

// amendItems converts the older form of items, objects with a text and a status, into lines with a mark.
// Arguments in any other form stay unchanged, and the schema checks them.
func amendItems(args json.RawMessage) json.RawMessage {
	var a map[string]json.RawMessage
	if json.Unmarshal(args, &a) != nil {
		return args
	}
	for key, list := range a { // the model may give the list any name
		var items []any
		if json.Unmarshal(list, &items) != nil {
			continue
		}
		for i, item := range items {
			if old, is := item.(map[string]any); is {
				items[i] = markItem(old)
			}
		}
		a[key], _ = json.Marshal(items) // decoded JSON always encodes
	}
	out, err := json.Marshal(a)
	if err != nil {
		return args
	}
	return out
}

// markItem returns the line of an item in the older form, or the item unchanged if it has no text.
func markItem(old map[string]any) any {
	status, _ := old["status"].(string)
	status = strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(status))
	for _, key := range []string{"text", "content", "title", "task", "step", "description"} {
		if text, is := old[key].(string); is && text != "" {
			return cmp.Or(itemMarks[status], itemMarks["pending"]) + text
		}
	}
	return old
}

const noteName = "note"

func (f *toolFactory) noteTool() agent.Tool {
	tool := newTool(f, noteName,
		`Leave a decision, trap or command to those who work here next.`,
		`{"type":"object","properties":{
"text":{"type":"string","minLength":1,"maxLength":4000}},
"required":["text"],"additionalProperties":false}`, false,
		func(context.Context, struct{ Text string }) (agent.Result, error) {
			return agent.Result{Text: "noted"}, nil // it is in the transcript
		})
	tool.Lasting = true
	return tool
}

// NotesOf returns the texts of the notes in a conversation, in order. Arguments are as the model wrote them, so
// the text may have another name.
func NotesOf(t agent.Transcript) (out []string) {
	for _, call := range t.ToolCalls {
		var args map[string]string
		if call.Name != noteName || call.IsError || json.Unmarshal([]byte(call.Arguments), &args) != nil {
			continue
		}
		text := args["text"]
		if only := slices.Collect(maps.Values(args)); len(only) == 1 {
			text = only[0]
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

func (f *toolFactory) escalateTool() agent.Tool {
	return newTool(f, "escalate",
		`Give back what cannot be done as asked. Say what you tried and what is needed.`,
		`{"type":"object","properties":{
"reason":{"type":"string","minLength":1}},
"required":["reason"],"additionalProperties":false}`, false,
		func(_ context.Context, a agent.Escalation) (agent.Result, error) {
			return agent.Result{Text: "escalated", Final: a}, nil
		})
}
