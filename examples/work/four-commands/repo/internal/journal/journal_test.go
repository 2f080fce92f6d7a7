package journal

import (
	"strings"
	"testing"
)

func TestReadAndWrite(t *testing.T) {
	const text = "2026-03-02 09:00-12:30 acme Sketch of the front page\n2026-03-02 22:00-24:00 garden\n"
	list, err := Read(strings.NewReader("# March\n\n" + text))
	if err != nil || len(list) != 2 || list[0].Minutes() != 210 || list[0].Note != "Sketch of the front page" {
		t.Fatalf("%v, %v", list, err)
	}
	var b strings.Builder
	if err := Write(&b, list); err != nil || b.String() != text {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestBadLines(t *testing.T) {
	for _, line := range []string{
		"2026-03-02", "2026-03-02 09:00-12:30", "2026-03-02 12:30-09:00 acme", "2026-03-02 09:00-09:00 acme",
		"2026-03-02 09:00 acme", "2026-02-30 09:00-12:30 acme", "2026-03-02 09:00-25:00 acme",
	} {
		if _, err := Read(strings.NewReader("\n" + line)); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestSameWork(t *testing.T) {
	a, _ := Parse("2026-03-02 09:00-12:30 acme a")
	b, _ := Parse("2026-03-02 09:00-12:30 acme b")
	c, _ := Parse("2026-03-02 09:00-12:30 garden a")
	if !a.Same(b) || a.Same(c) {
		t.Error("notes tell entries apart, or projects do not")
	}
}

func TestSort(t *testing.T) {
	list, err := Read(strings.NewReader("2026-03-03 08:00-09:00 a\n2026-03-02 09:00-10:00 a\n2026-03-02 08:00-09:30 b\n2026-03-02 08:00-09:00 c\n"))
	if err != nil {
		t.Fatal(err)
	}
	Sort(list)
	var got string
	for _, e := range list {
		got += e.Project
	}
	if got != "cbaa" {
		t.Error(got)
	}
}
