package day

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	if d, err := Parse("2028-02-29"); err != nil || d != "2028-02-29" {
		t.Errorf("got %q, %v", d, err)
	}
	for _, text := range []string{"", "2026-02-29", "2026-3-1", "today", "2026-03-01 "} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q is taken for a day", text)
		}
	}
}

func TestCheck(t *testing.T) {
	if err := None.Check(); err != nil {
		t.Error(err)
	}
	if err := Day("2026-13-01").Check(); err == nil {
		t.Error("month 13 is fine")
	}
}

func TestAddAndSince(t *testing.T) {
	if got := Day("2026-02-27").Add(3); got != "2026-03-02" {
		t.Errorf("got %s", got)
	}
	if got := Day("2026-03-02").Since("2026-02-27"); got != 3 {
		t.Errorf("got %d", got)
	}
	if got := None.Add(3); got != None {
		t.Errorf("got %s", got)
	}
}

func TestOf(t *testing.T) {
	if got := Of(time.Date(2026, 3, 2, 23, 59, 0, 0, time.FixedZone("", 3600))); got != "2026-03-02" {
		t.Errorf("got %s", got)
	}
	if got := None.Or("?"); got != "?" {
		t.Errorf("got %s", got)
	}
}
