package agent

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/view"
)

// wholeText is so many lines of a message as are all of it.
const wholeText = 1 << 20

// RenderText shows the conversation in the order in which it happened, with at most
// so many lines of each message and result.
func (t Transcript) RenderText(most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s, %s, %s\n", t.RunID, safetext.EscapeLine(t.AgentID, 40), company.Count(len(t.Messages), "message"), company.Count(len(t.ToolCalls), "tool call"), company.Count(int(t.TotalTokens), "token"))
	m, c := 0, 0
	for m < len(t.Messages) || c < len(t.ToolCalls) {
		if c == len(t.ToolCalls) || m < len(t.Messages) && !t.ToolCalls[c].Timestamp.Before(t.Messages[m].Timestamp) {
			b.WriteString(TranscriptEntry{Message: &t.Messages[m]}.RenderText(most))
			m++
			continue
		}
		b.WriteString(TranscriptEntry{ToolCall: &t.ToolCalls[c]}.RenderText(most))
		c++
	}
	return b.String()
}

// RenderText shows one message or call; nothing of an empty message, whose
// tool calls follow.
func (e TranscriptEntry) RenderText(most int) string {
	switch {
	case e.Message != nil && e.Message.Role == "system" && most < wholeText:
		return fmt.Sprintf("\n%s  system\n  the prompt of its role, %s: -v\n", e.Message.Timestamp.Local().Format("15:04:05"), company.Count(strings.Count(strings.TrimSpace(e.Message.Content), "\n")+1, "line"))
	case e.Message != nil && e.Message.Content != "":
		return fmt.Sprintf("\n%s  %s\n%s", e.Message.Timestamp.Local().Format("15:04:05"), e.Message.Role, view.IndentLines(e.Message.Content, most))
	case e.ToolCall != nil:
		call, sign := e.ToolCall, "+"
		if call.IsError {
			sign = "x"
		}
		about, body := callText(call.Arguments)
		if body != "" {
			body = view.IndentLines(body, most)
		}
		name := strings.TrimSpace(safetext.EscapeLine(call.Name, 40) + " " + about)
		return fmt.Sprintf("\n%s  %s %s  %.1fs\n%s%s", call.Timestamp.Local().Format("15:04:05"), sign, name, float64(call.DurationMS)/1000, body, view.IndentLines(call.Result, most))
	}
	return ""
}
