package agent

import (
	"strings"

	"company/internal/safetext"
)

// Bounds of the failed call that a question holds.
const (
	lookedAt      = 6   // newest calls among which it is looked for: older ones were overcome
	failureLines  = 4   // of the error
	failureArgs   = 120 // bytes of the argument
	failureReason = 300 // bytes of the error
)

// LastFailure describes the newest failed call in one line: the tool, its main argument, and
// the first lines of the error. Empty: none of the newest calls failed.
func (t Transcript) LastFailure() string {
	for n := range min(lookedAt, len(t.ToolCalls)) {
		call := t.ToolCalls[len(t.ToolCalls)-1-n]
		if !call.IsError && call.Failure == "" {
			continue
		}
		head := strings.TrimSpace(safetext.EscapeLine(call.Name, 64) + " " + safetext.EscapeLine(noteArgument(call.Arguments), failureArgs))
		return head + ": " + safetext.EscapeLine(call.Failure+firstLines(call), failureReason)
	}
	return ""
}

// firstLines joins the first lines of a failed call's result that are not blank. The line of a
// command's exit code, and those above its outputs, are none.
func firstLines(call TranscriptCall) string {
	var out string
	found := 0
	for line := range strings.Lines(safetext.Head(call.Result, 16<<10)) {
		line = strings.TrimSpace(line)
		isFrame := call.Failure != "" && (found == 0 && strings.HasPrefix(line, call.Failure) || line == "--- stdout ---" || line == "--- stderr ---")
		if line == "" || isFrame {
			continue
		}
		if found++; found > failureLines {
			break
		}
		if out != "" || call.Failure != "" {
			out += "; "
		}
		out += line
	}
	return out
}
