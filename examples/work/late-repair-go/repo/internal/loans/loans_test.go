package loans

import (
	"strings"
	"testing"

	"example.com/toolshed/internal/calendar"
	"example.com/toolshed/internal/dates"
	"example.com/toolshed/internal/journal"
)

func build(t *testing.T, text string) ([]Loan, error) {
	t.Helper()
	cal, err := calendar.Read(strings.NewReader("Sunday\n12-25\n12-26\n"))
	if err != nil {
		t.Fatal(err)
	}
	events, err := journal.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return Build(events, cal, Rules{Days: 7, Renewals: 1})
}

func day(t *testing.T, text string) dates.Date {
	t.Helper()
	d, err := dates.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDueDays(t *testing.T) {
	loans, err := build(t, `
2023-12-01 lend saw ann
2023-12-08 renew saw
2023-12-17 lend drill jo
2023-12-18 lend hoe jo
`)
	if err != nil || len(loans) != 3 {
		t.Fatalf("%v, %v", loans, err)
	}
	for i, want := range []string{"2023-12-15", "2023-12-27", "2023-12-27"} {
		if got := loans[i].Due.String(); got != want {
			t.Errorf("%s is due on %s, want %s", loans[i].Tool, got, want)
		}
	}
}

func TestOutAndLate(t *testing.T) {
	loans, err := build(t, "2023-03-06 lend saw ann\n2023-03-16 return saw\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		day       string
		out, late bool
	}{
		{"2023-03-05", false, false},
		{"2023-03-06", true, false},
		{"2023-03-13", true, false},
		{"2023-03-14", true, true},
		{"2023-03-16", false, false},
	} {
		d := day(t, test.day)
		if out, late := loans[0].IsOut(d), loans[0].IsLate(d); out != test.out || late != test.late {
			t.Errorf("%s: out %v, late %v", test.day, out, late)
		}
	}
}
