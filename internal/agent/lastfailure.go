package agent

import (
	"fmt"
	"strings"

	"company/internal/company"
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
	call, ok := t.newestFailure()
	if !ok {
		return ""
	}
	head := strings.TrimSpace(safetext.EscapeLine(call.Name, 64) + " " +
		safetext.EscapeLine(noteArgument(call.Arguments), failureArgs))
	return head + ": " + safetext.EscapeLine(call.Failure+firstLines(call, failureLines), failureReason)
}

// newestFailure returns the newest failed call, if it is among the newest calls.
func (t Transcript) newestFailure() (call TranscriptCall, ok bool) {
	for n := range min(lookedAt, len(t.ToolCalls)) {
		if call = t.ToolCalls[len(t.ToolCalls)-1-n]; call.IsError || call.Failure != "" {
			return call, true
		}
	}
	return TranscriptCall{}, false
}

// DescribeEnd says in one line why a run ended without its result, and how its whole conversation is shown.
func (o Outcome) DescribeEnd(run company.RunID) string {
	how := map[End]string{EndTurns: "it is out of turns", EndFull: "its context is full", EndStuck: "it repeats itself",
		EndNoTools: "it calls no tool", EndEscalated: "it gave up"}[o.End]
	if call, ok := o.Transcript.newestFailure(); ok {
		failed := 0
		for _, c := range o.Transcript.ToolCalls {
			if c.Name == call.Name && (c.IsError || c.Failure != "") {
				failed++
			}
		}
		how += fmt.Sprintf(", and %s failed %s: %s", safetext.EscapeLine(call.Name, 64), company.Count(failed, "time"),
			safetext.EscapeLine(call.Failure+firstLines(call, 1), failureReason))
	}
	return how + " (company logs " + string(run) + ")"
}

// firstLines joins at most so many of the first non-blank lines of a failed call's result. It skips the line with the
// command's exit code and the titles of its outputs.
func firstLines(call TranscriptCall, most int) string {
	var out string
	found := 0
	for line := range strings.Lines(safetext.Head(call.Result, 16<<10)) {
		line = strings.TrimSpace(line)
		isFrame := call.Failure != "" &&
			(found == 0 && strings.HasPrefix(line, call.Failure) || line == "--- stdout ---" || line == "--- stderr ---")
		if line == "" || isFrame {
			continue
		}
		if found++; found > most {
			break
		}
		if out != "" || call.Failure != "" {
			out += "; "
		}
		out += line
	}
	return out
}
