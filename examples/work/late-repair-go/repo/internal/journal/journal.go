// Package journal reads what happened in the shed.
package journal

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"example.com/toolshed/internal/dates"
)

// Kind is what happened.
type Kind string

// The kinds of events.
const (
	Lend   Kind = "lend"
	Renew  Kind = "renew"
	Return Kind = "return"
)

// Event is a line of the journal.
type Event struct {
	Line   int
	Day    dates.Date
	Kind   Kind
	Tool   string
	Member string // of Lend alone
}

// Read reads a journal, whose days never go back. Empty lines and those that begin with # say nothing.
func Read(r io.Reader) ([]Event, error) {
	var events []Event
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		event, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		event.Line = number
		if n := len(events); n > 0 && event.Day.Before(events[n-1].Day) {
			return nil, fmt.Errorf("line %d: %v is before the day of the line above", number, event.Day)
		}
		events = append(events, event)
	}
	return events, lines.Err()
}

func parse(line string) (Event, error) {
	words := strings.Fields(line)
	if len(words) < 3 {
		return Event{}, fmt.Errorf("%q has no day, kind and tool", line)
	}
	day, err := dates.Parse(words[0])
	if err != nil {
		return Event{}, err
	}
	event := Event{Day: day, Kind: Kind(words[1]), Tool: words[2]}
	want := 3
	switch event.Kind {
	case Lend:
		want = 4
	case Renew, Return:
	default:
		return Event{}, fmt.Errorf("%q is not lend, renew or return", words[1])
	}
	if len(words) != want {
		return Event{}, fmt.Errorf("%s has %d words, and not %d", event.Kind, want, len(words))
	}
	if event.Kind == Lend {
		event.Member = words[3]
	}
	return event, nil
}
