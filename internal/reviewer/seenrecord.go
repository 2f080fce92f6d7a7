package reviewer

import "company/internal/agent"

// maxLooked limits the bytes of commands, results and paths that are searched for the evidence of one review.
// The comparison cannot be interrupted.
const maxLooked = 256 << 20

// seenRecord holds the calls and the diff that a reviewer has seen so far.
type seenRecord struct {
	subject subject
	calls   []seenCall
	hunks   map[string][]lineRange // hunks of the diff in the first message, by file
	left    int                    // remaining bytes of maxLooked, negative if it is used up
}

// seenCall is a tool call with its parsed arguments.
type seenCall struct {
	name, command, file, result string // command is normalized by joinFields
	lines                       lineRange
	isError                     bool
}

// lineRange is a range of lines of a file, including both ends.
type lineRange struct{ first, last int }

func (r lineRange) overlapsWith(o lineRange) bool { return r.first <= o.last && o.first <= r.last }

func newSeenRecord(x subject, calls []agent.TranscriptCall) *seenRecord {
	s := &seenRecord{subject: x, hunks: readHunks(x.diff.Patch), left: maxLooked}
	for _, call := range calls {
		command, file, lines := argumentsOf(call)
		s.calls = append(s.calls, seenCall{call.Name, joinFields(command), file, call.Result, lines, call.IsError})
	}
	return s
}

// findWords reports whether text contains words, like holdsFields. It returns false once the budget is used up.
func (s *seenRecord) findWords(text, words string) bool {
	s.left -= len(text)
	return s.left >= 0 && holdsFields(text, words)
}
