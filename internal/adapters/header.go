package adapters

import (
	"cmp"
	"strings"

	"company/internal/company"
)

// Header is what the first user message of every role begins with. It tells a
// reader of a transcript, and a server that stands in for a model, which run a
// conversation belongs to:
//
//	#company role=worker task=t12 subtask=t12-03 run=t12-03.2
//	#title add a rate limiter
type Header struct {
	Role    company.Role
	Task    company.TaskID
	Subtask company.SubtaskID // empty for a whole task; written as "-"
	Run     company.RunID
	Title   string // one line
}

const (
	headerMark = "#company "
	titleMark  = "#title "
)

// String is the two lines, each with its newline. The title is made one line.
func (h Header) String() string {
	subtask := string(h.Subtask)
	subtask = cmp.Or(subtask, "-")
	return headerMark + "role=" + string(h.Role) + " task=" + string(h.Task) + " subtask=" + subtask + " run=" + string(h.Run) + "\n" +
		titleMark + strings.Join(strings.Fields(h.Title), " ") + "\n"
}

// ParseHeader reads the header at the beginning of a message. It is false for
// a message that does not begin with one, or whose header is not whole.
func ParseHeader(text string) (Header, bool) {
	first, rest, ok := strings.Cut(text, "\n")
	fields, isHeader := strings.CutPrefix(first, headerMark)
	if !ok || !isHeader {
		return Header{}, false
	}
	second, _, _ := strings.Cut(rest, "\n")
	// A title may be empty, and then editors and YAML strip the mark's space.
	title, isTitle := strings.CutPrefix(second+" ", titleMark)
	if !isTitle {
		return Header{}, false
	}
	h := Header{Title: strings.TrimSpace(title)}
	for field := range strings.FieldsSeq(fields) {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "role":
			h.Role = company.Role(value)
		case "task":
			h.Task = company.TaskID(value)
		case "subtask":
			if value != "-" {
				h.Subtask = company.SubtaskID(value)
			}
		case "run":
			h.Run = company.RunID(value)
		}
	}
	if h.Role == "" || !h.Task.Valid() || !h.Run.Valid() || (h.Subtask != "" && !h.Subtask.Valid()) {
		return Header{}, false
	}
	return h, true
}

// FindHeader is the header of a conversation: that of its first user message.
func FindHeader(messages []Message) (Header, bool) {
	for _, m := range messages {
		if m.Role == User {
			return ParseHeader(m.Content)
		}
	}
	return Header{}, false
}
