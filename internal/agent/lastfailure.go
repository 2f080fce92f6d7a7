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
		if call = t.ToolCalls[len(t.ToolCalls)-1-n]; call.hasFailed() {
			return call, true
		}
	}
	return TranscriptCall{}, false
}

func (c TranscriptCall) hasFailed() bool { return c.IsError || c.Failure != "" }

// repeatedFailure returns a failed call among the newest calls, and how often calls failed in these words. A refused
// call comes before a command that failed, which is part of the work. Of several it is the most frequent one.
func (t Transcript) repeatedFailure() (repeated TranscriptCall, times int) {
	say := func(call TranscriptCall) string { return call.Name + " " + call.Failure + firstLines(call, 1) }
	for _, call := range t.ToolCalls[max(0, len(t.ToolCalls)-lookedAt):] {
		if !call.hasFailed() || repeated.IsError && !call.IsError {
			continue
		}
		n := 0
		for _, other := range t.ToolCalls {
			if other.hasFailed() && say(other) == say(call) {
				n++
			}
		}
		if n >= times || call.IsError && !repeated.IsError {
			repeated, times = call, n
		}
	}
	return repeated, times
}

// DescribeEnd says in one line why a run ended without its result, and how its whole conversation is shown.
func (o Outcome) DescribeEnd(run company.RunID) string {
	how := map[End]string{EndTurns: "it is out of turns", EndFull: "its context is full", EndStuck: "it repeats itself",
		EndNoTools: "it calls no tool", EndEscalated: "it gave up"}[o.End]
	how += " (company logs " + string(run) + ")" // before the reason, which may be cut
	if call, times := o.Transcript.repeatedFailure(); times > 0 {
		how += fmt.Sprintf(", and %s failed %s: %s", safetext.EscapeLine(call.Name, 64), company.Count(times, "time"),
			safetext.EscapeLine(call.Failure+firstLines(call, 2), failureReason))
	}
	return how
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
		if strings.HasSuffix(out, ":") {
			out += " "
		} else if out != "" || call.Failure != "" {
			out += "; "
		}
		out += line
	}
	return out
}
