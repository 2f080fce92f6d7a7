package termtext

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A text is cut between words, and its blank lines stay.
func TestWrap(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"", ""},
		{"one", "one"},
		{"one two", "one two"},
		{"one two three", "one two\n  three"},
		{"  one\ttwo \n\nthree four five\n", "one two\n  \n  three\n  four five"},
		{"a-word-that-is-too-long b", "a-word-that-is-too-long\n  b"},
		{"ééééééé é", "ééééééé é"},
		{"世界 世界 a", "世界 世界\n  a"},
	} {
		if got := Wrap(x.text, 9, "  "); got != x.want {
			t.Errorf("%q: %q, want %q", x.text, got, x.want)
		}
	}
}

// Cells are what a terminal shows: wide letters take two, marks and colours none.
func TestCells(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "é": 1, "e\u0301": 1, "世": 2, "…": 1,
		"\x1b[32m+\x1b[0m": 1, "🙂": 2} {
		if got := Cells(text); got != want {
			t.Errorf("%q takes %d cells, want %d", text, got, want)
		}
	}
}

// Feature: texts, Property 6: Cut Lines Fit
//
// A cut line is never wider than asked, and says that it was cut (UI-1).
func TestCutFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z é世]{0,40}`).Draw(t, "text")
		cells := rapid.IntRange(1, 50).Draw(t, "cells")
		got := Cut(text, cells)
		if Cells(got) > cells || Cells(text) <= cells && got != text || Cells(text) > cells && !strings.HasSuffix(got, "…") {
			t.Fatalf("%q in %d cells: %q", text, cells, got)
		}
	})
}

// A stream that is no terminal gets all of a line, and no colour.
func TestPlainIsWhole(t *testing.T) {
	long := strings.Repeat("word ", 100)
	s := Style{}
	if got := s.Fit(long, 30) + s.Paint(Red, "x") + s.Wrap("a b", "    "); got != long+"x"+"a b" {
		t.Errorf("%q", got)
	}
}

// Where a table is too wide, columns go by their rank, and the last one is cut.
func TestTableFits(t *testing.T) {
	table := Table{Indent: "  ",
		Columns: []Column{{Title: "ID"}, {Title: "COST", Rank: 2}, {Title: "PR", Rank: 1}, {Title: "WHAT", Least: 10}}}
	table.Row("t1", "72k tokens", "#1 open", "Add c, d and a sum of them")
	table.Note("why: it was given up by the president, for good reasons")
	table.Row("t2", "", "", "")
	for width, want := range map[int]string{
		0: "  ID  COST        PR       WHAT\n  t1  72k tokens  #1 open  Add c, d and a sum of them\n      why: it was " +
			"given up by the president, for good reasons\n  t2  -           -\n",
		40: "  ID  COST        PR       WHAT\n  t1  72k tokens  #1 open  Add c, d and…\n      why: it was given up by the " +
			"presi…\n  t2  -           -\n",
		30: "  ID  PR       WHAT\n  t1  #1 open  Add c, d and a…\n      why: it was given up by…\n  t2  -\n",
		20: "  ID  WHAT\n  t1  Add c, d and…\n      why: it was g…\n  t2\n",
	} {
		if got := table.Render(Style{Width: width}); got != want {
			t.Errorf("%d cells:\n%s\nwant\n%s", width, got, want)
		}
	}
}

// Lines that are drawn in place are taken away again, those included that a terminal
// wrapped when it became narrower.
func TestAreaLeavesNothing(t *testing.T) {
	var out bytes.Buffer
	a := &Area{Out: &out}
	a.Draw(20, []string{"one", "a line that is wider than the terminal"}, Style{})
	if got := out.String(); got != "one\na line that is wid…\n" {
		t.Errorf("drawn: %q", got)
	}
	out.Reset()
	a.Draw(20, []string{"two"}, Style{})
	if got := out.String(); got != "\r\x1b[2A\x1b[Jtwo\n" {
		t.Errorf("drawn again: %q", got)
	}
	a.Draw(20, []string{strings.Repeat("x", 19)}, Style{})
	out.Reset()
	a.Erase(10)
	a.Erase(10)
	if got := out.String(); got != "\r\x1b[2A\x1b[J" {
		t.Errorf("taken away: %q", got)
	}
}

// A help is wrapped below its descriptions.
func TestWrapHelp(t *testing.T) {
	text := "Flags:\n  -n, --last int   only the last so many of what has happened\n  short\nA sentence that is longer " +
		"than forty cells, certainly."
	want := "Flags:\n  -n, --last int   only the last so many\n                   of what has happened\n  short\nA " +
		"sentence that is longer than forty\ncells, certainly."
	if got := WrapHelp(text, Style{Width: 40}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := WrapHelp(text, Style{}); got != text {
		t.Errorf("a pipe gets\n%s", got)
	}
}
