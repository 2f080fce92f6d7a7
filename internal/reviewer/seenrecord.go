package reviewer

import "company/internal/agent"

// maxLooked is how many bytes of commands, results and paths are looked through for all
// evidence of one review. Nothing ends the comparison before its end.
const maxLooked = 256 << 20

// seenRecord is what a reviewer has seen so far.
type seenRecord struct {
	subject subject
	calls   []seenCall
	hunks   map[string][]lineRange // of the diff that the first message showed, by file
	left    int                    // of maxLooked; negative: more was named than is looked for
}

// seenCall is a tool call with its arguments read.
type seenCall struct {
	name, command, file, result string // command: as joinFields has it
	lines                       lineRange
	isError                     bool
}

// lineRange is lines of a file, from first to last.
type lineRange struct{ first, last int }

func (r lineRange) overlapsWith(o lineRange) bool { return r.first <= o.last && o.first <= r.last }

func newSeenRecord(x subject, calls []agent.TranscriptCall) *seenRecord {
	s := &seenRecord{subject: x, hunks: readHunks(x.diff.Patch), left: maxLooked}
	for _, c := range calls {
		command, file, lines := argumentsOf(c)
		s.calls = append(s.calls, seenCall{c.Name, joinFields(command), file, c.Result, lines, c.IsError})
	}
	return s
}

// findWords reports whether a text holds words, as holdsFields does. It finds nothing once the budget is used up.
func (s *seenRecord) findWords(text, words string) bool {
	s.left -= len(text)
	return s.left >= 0 && holdsFields(text, words)
}
