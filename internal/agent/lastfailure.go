package agent

import (
	"strings"

	"company/internal/lib/safetext"
)

// Limits of the failed call that a question shows.
const (
	lookedAt      = 6   // newest calls to search; older failures were overcome
	failureLines  = 4   // of the error
	failureArgs   = 120 // bytes of the argument
	failureReason = 300 // bytes of the error
)

// LastFailure describes the newest failed call in one line: the tool, its main argument, and the first lines of
// the error. It is empty if none of the newest calls failed.
func (t Transcript) LastFailure() string {
	for n := range min(lookedAt, len(t.ToolCalls)) {
		call := t.ToolCalls[len(t.ToolCalls)-1-n]
		if !call.IsError && call.Failure == "" {
			continue
		}
		head := strings.TrimSpace(safetext.EscapeLine(call.Name, 64) + " " +
			safetext.EscapeLine(noteArgument(call.Arguments), failureArgs))
		return head + ": " + safetext.EscapeLine(call.Failure+firstLines(call), failureReason)
	}
	return ""
}

// firstLines joins the first non-blank lines of a failed call's result. It skips the line with the command's
// exit code and the titles of its outputs.
func firstLines(call TranscriptCall) string {
	var out string
	found := 0
	for line := range strings.Lines(safetext.Head(call.Result, 16<<10)) {
		line = strings.TrimSpace(line)
		isFrame := call.Failure != "" &&
			(found == 0 && strings.HasPrefix(line, call.Failure) || line == "--- stdout ---" || line == "--- stderr ---")
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
