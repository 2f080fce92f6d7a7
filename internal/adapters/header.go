package adapters

import (
	"cmp"
	"strings"

	"company/internal/company"
)

// Header begins the first user message of every role. It tells a reader of a transcript, and a scripted server,
// which run a conversation belongs to:
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

// String returns the two lines, each with its newline. The title is joined into one line.
func (h Header) String() string {
	subtask := string(h.Subtask)
	subtask = cmp.Or(subtask, "-")
	return headerMark + "role=" + string(h.Role) + " task=" + string(h.Task) + " subtask=" + subtask + " run=" +
		string(h.Run) + "\n" +
		titleMark + strings.Join(strings.Fields(h.Title), " ") + "\n"
}

// ParseHeader reads the header at the beginning of a message. It returns false if there is no complete header.
func ParseHeader(text string) (Header, bool) {
	first, rest, ok := strings.Cut(text, "\n")
	fields, isHeader := strings.CutPrefix(first, headerMark)
	if !ok || !isHeader {
		return Header{}, false
	}
	second, _, _ := strings.Cut(rest, "\n")
	// If the title is empty, editors and YAML may strip the mark's space.
	title, isTitle := strings.CutPrefix(second+" ", titleMark)
	if !isTitle {
		return Header{}, false
	}
	header := Header{Title: strings.TrimSpace(title)}
	for field := range strings.FieldsSeq(fields) {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "role":
			header.Role = company.Role(value)
		case "task":
			header.Task = company.TaskID(value)
		case "subtask":
			if value != "-" {
				header.Subtask = company.SubtaskID(value)
			}
		case "run":
			header.Run = company.RunID(value)
		}
	}
	if header.Role == "" || !header.Task.Valid() || !header.Run.Valid() ||
		(header.Subtask != "" && !header.Subtask.Valid()) {
		return Header{}, false
	}
	return header, true
}

// FindHeader returns the first header at the beginning of a line in the user's messages of a conversation. Programs put
// messages of their own before the one that they were given.
func FindHeader(messages []Message) (Header, bool) {
	for _, message := range messages {
		if message.Role != User {
			continue
		}
		for text := message.Content; text != ""; {
			if header, ok := ParseHeader(text); ok {
				return header, true
			}
			_, text, _ = strings.Cut(text, "\n")
		}
	}
	return Header{}, false
}
