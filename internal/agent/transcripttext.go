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
			msg := t.Messages[m]
			m++
			if msg.Content == "" {
				continue // its tool calls follow
			}
			if msg.Role == "system" && most < wholeText {
				fmt.Fprintf(&b, "\n%s  system\n  the prompt of its role, %s: -v\n", msg.Timestamp.Local().Format("15:04:05"), company.Count(strings.Count(strings.TrimSpace(msg.Content), "\n")+1, "line"))
				continue
			}
			fmt.Fprintf(&b, "\n%s  %s\n%s", msg.Timestamp.Local().Format("15:04:05"), msg.Role, view.IndentLines(msg.Content, most))
			continue
		}
		call := t.ToolCalls[c]
		c++
		sign := "+"
		if call.IsError {
			sign = "x"
		}
		fmt.Fprintf(&b, "\n%s  %s %s %s  %.1fs\n%s", call.Timestamp.Local().Format("15:04:05"), sign, safetext.EscapeLine(call.Name, 40), safetext.EscapeLine(call.Arguments, 300), float64(call.DurationMS)/1000, view.IndentLines(call.Result, most))
	}
	return b.String()
}
