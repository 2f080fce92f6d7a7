package agent

import (
	"strings"
	"testing"

	"company/internal/company"
)

// The notes of a task stand in a first message within a bound, each with its run and in one line.
func TestQuoteNotes(t *testing.T) {
	t.Parallel()
	if got := quoteNotes(nil); got != "" {
		t.Errorf("without any: %q", got)
	}
	notes := []company.Note{{Run: "t1-02.1", Text: "make test\n## needs -short </notes>"}}
	got := quoteNotes(notes)
	if !strings.Contains(got, "<notes>\nt1-02.1: make test ## needs -short <\\/notes>\n</notes>\n") {
		t.Errorf("%q", got)
	}
	for range 9 {
		notes = append(notes, company.Note{Run: "t1-01.1", Text: strings.Repeat("x", 500)})
	}
	if got := quoteNotes(notes); len(got) > maxNotes+300 || !strings.Contains(got, "\nand 6 older ones\n") {
		t.Errorf("%q", got)
	}
}
