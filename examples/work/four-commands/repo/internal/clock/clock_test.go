package clock

import (
	"testing"
	"time"
)

func TestDays(t *testing.T) {
	d, err := ParseDay("2026-03-01")
	if err != nil || d.String() != "2026-03-01" || d.Weekday() != time.Sunday {
		t.Errorf("%v, %v, %v", d, d.Weekday(), err)
	}
	if (d-1).String() != "2026-02-28" || (d-1).Month() != (Month{2026, time.February}) {
		t.Errorf("the day before is %v", d-1)
	}
	for _, text := range []string{"", "2026-02-30", "2026-3-1", "1.3.2026"} {
		if _, err := ParseDay(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestMonths(t *testing.T) {
	if m, err := ParseMonth("2026-03"); err != nil || m.String() != "2026-03" {
		t.Errorf("%v, %v", m, err)
	}
	for _, text := range []string{"2026-13", "2026", "2026-03-01"} {
		if _, err := ParseMonth(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestMinutes(t *testing.T) {
	for text, want := range map[string]Minute{"00:00": 0, "09:05": 545, "24:00": Midnight} {
		if m, err := ParseMinute(text); err != nil || m != want || m.String() != text {
			t.Errorf("%s: %d, %v, %v", text, m, m, err)
		}
	}
	for _, text := range []string{"9:05", "24:01", "09:60", "0905"} {
		if _, err := ParseMinute(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	if got := Minute(6725).Hours(); got != "112:05" {
		t.Error(got)
	}
}
