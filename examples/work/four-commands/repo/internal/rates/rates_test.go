package rates

import (
	"strings"
	"testing"

	"example.com/hours/internal/clock"
)

func TestFind(t *testing.T) {
	table, err := Read(strings.NewReader("# prices\nacme 2026-07-01 98.50\nacme 2026-01-01 95\n\ngarden 2026-01-01 40\n"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"2026-01-01": "95.00", "2026-06-30": "95.00", "2026-07-01": "98.50"} {
		day, _ := clock.ParseDay(text)
		if got, err := table.Find("acme", day); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	day, _ := clock.ParseDay("2025-12-31")
	if _, err := table.Find("acme", day); err == nil {
		t.Error("there is a rate before the first")
	}
}

func TestBadRates(t *testing.T) {
	for _, line := range []string{"acme 95", "acme 2026-01-01", "acme 2026-01-01 x", "acme yesterday 95"} {
		if _, err := Read(strings.NewReader(line)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%q: %v", line, err)
		}
	}
}
