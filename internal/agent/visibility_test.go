package agent

import (
	"strings"
	"testing"
	"time"

	"company/internal/adapters"
)

// LOG-5: the summary has what an agent was told and what it says. Only full has the rest, and no other word means it.
func TestVisibility(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	transcript := Transcript{RunID: "t1-01.1", AgentID: "w1", Messages: []TranscriptMessage{
		{Role: adapters.System, Content: "You are a worker.", Timestamp: at},
		{Role: adapters.User, Content: "Say goodbye.", Timestamp: at.Add(1)},
		{Role: adapters.Assistant, Content: "I look first.", Timestamp: at.Add(2)},
		{Role: adapters.Assistant, Content: "It is done.", Timestamp: at.Add(5)},
	}, ToolCalls: []TranscriptCall{
		{ID: "1", Name: "read_file", Arguments: `{"path":"a"}`, Result: "content of a", Timestamp: at.Add(3)},
		{ID: "2", Name: "finish", Arguments: `{}`, Result: "ended", Timestamp: at.Add(4)},
	}}
	for word, full := range map[string]bool{"full": true, "summary": false, "": false, "FULL": false, "all": false} {
		v := ParseVisibility(word)
		text := transcript.RenderText(12, v)
		selected := transcript.Select(v)
		for _, part := range []string{"read_file a", "content of a", "the prompt of its role"} {
			if strings.Contains(text, part) != full {
				t.Errorf("%q: %q in\n%s", word, part, text)
			}
		}
		if !strings.Contains(text, "Say goodbye.") || strings.Contains(text, "(2 tool calls hidden: --full)") == full ||
			strings.Index(text, "I look first.") > strings.Index(text, "It is done.") {
			t.Errorf("%q:\n%s", word, text)
		}
		if (len(selected.ToolCalls) == 2) != full || (len(selected.Messages) == 4) != full || len(selected.Messages) < 3 {
			t.Errorf("%q: %+v", word, selected)
		}
		if v.Shows(TranscriptEntry{Output: &LiveOutput{}}) != full {
			t.Errorf("%q: live output", word)
		}
	}
}
