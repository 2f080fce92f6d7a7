package journal

import (
	"strings"
	"testing"
	"time"

	"example.com/toolshed/internal/dates"
)

func TestRead(t *testing.T) {
	events, err := Read(strings.NewReader("# March\n2023-03-06 lend drill-2 jo\n\n2023-03-20 return drill-2\n"))
	if err != nil || len(events) != 2 {
		t.Fatalf("%v, %v", events, err)
	}
	want := Event{Line: 2, Day: dates.Of(2023, time.March, 6), Kind: Lend, Tool: "drill-2", Member: "jo"}
	if events[0] != want {
		t.Errorf("the first event is %v, want %v", events[0], want)
	}
	if events[1].Line != 4 || events[1].Kind != Return || events[1].Member != "" {
		t.Errorf("the second event is %v", events[1])
	}
}

func TestJournalsThatAreRefused(t *testing.T) {
	for _, text := range []string{
		"2023-03-06 lend drill-2",
		"2023-03-06 return drill-2 jo",
		"2023-03-06 break drill-2",
		"06.03.2023 return drill-2",
		"return",
		"2023-03-06 return a\n2023-03-05 return b",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
