package agent

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// wholeText is a line limit that shows messages in full.
const wholeText = 1 << 20

// RenderText formats the conversation in order, with at most limit lines of each message and result. One line gives the
// number of the calls that v leaves out in that place.
func (t Transcript) RenderText(limit int, v Visibility) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s, %s, %s\n", t.RunID, safetext.EscapeLine(t.AgentID, 40),
		company.Count(len(t.Messages), "message"), company.Count(len(t.ToolCalls), "tool call"),
		company.Count(int(t.TotalTokens), "token"))
	unshown := 0 // calls since the last entry
	for e := range t.entries() {
		switch text := e.RenderText(limit); {
		case !v.Shows(e) && e.ToolCall != nil:
			unshown++
		case v.Shows(e) && text != "":
			b.WriteString(countUnshown(unshown) + text)
			unshown = 0
		}
	}
	return b.String() + countUnshown(unshown)
}

func countUnshown(calls int) string {
	if calls == 0 {
		return ""
	}
	return "\n  (" + company.Count(calls, "tool call") + " hidden: --full)\n"
}

// RenderText formats one message or call. It returns "" for an empty message, whose tool calls follow.
func (e TranscriptEntry) RenderText(limit int) string {
	switch {
	case e.Message != nil && e.Message.Role == "system" && limit < wholeText:
		return fmt.Sprintf("\n%s  system\n  the prompt of its role, %s: -v\n", e.Message.Timestamp.Local().Format("15:04:05"),
			company.Count(strings.Count(strings.TrimSpace(e.Message.Content), "\n")+1, "line"))
	case e.Message != nil && e.Message.Content != "":
		return fmt.Sprintf("\n%s  %s\n%s", e.Message.Timestamp.Local().Format("15:04:05"), e.Message.Role,
			termtext.IndentLines(e.Message.Content, limit))
	case e.ToolCall != nil:
		call, sign := e.ToolCall, "+"
		if call.IsError {
			sign = "x"
		}
		about, body := callText(call.Arguments)
		if body != "" {
			body = termtext.IndentLines(body, limit)
		}
		name := strings.TrimSpace(safetext.EscapeLine(call.Name, 40) + " " + about)
		return fmt.Sprintf("\n%s  %s %s  %.1fs\n%s%s", call.Timestamp.Local().Format("15:04:05"), sign, name,
			float64(call.DurationMS)/1000, body, termtext.IndentLines(call.Result, limit))
	}
	return ""
}
