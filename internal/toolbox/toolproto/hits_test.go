package toolproto

import (
	"fmt"
	"strings"
	"testing"
)

// Lines that all fit stand as they are; of more each file has some, in order, and the lines left
// out are counted by file and altogether.
func TestHitsAreShared(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  []int // hits of each
		begins string
		ends   string
		shown  []int
	}{
		{"few", []int{2, 1}, "f0:1: x\nf0:2: x\nf1:1: x\n", "f1:1: x\n", []int{2, 1}},
		{"as many as are shown", []int{SearchHits - 1, 1}, "f0:1: x\n", "f1:1: x\n", []int{SearchHits - 1, 1}},
		{"one more", []int{SearchHits, 1}, "101 hits in 2 files:\n- 100 in f0\n- 1 in f1\n\nf0:1: x\n",
			"f1:1: x\n(1 more hits are left out: search with a glob or a narrower pattern)\n", []int{SearchHits - 1, 1}},
		{"a large file first", []int{5000, 30, 40}, "5070 hits in 3 files:\n- 5000 in f0\n- 40 in f2\n- 30 in f1\n\n",
			"(4970 more hits are left out: search with a glob or a narrower pattern)\n", []int{35, 30, 35}},
		{"one file", []int{101}, "101 hits in 1 file:\n- 101 in f0\n\nf0:1: x\n", "", []int{100}},
		{"enough", []int{3, SearchCounted, 7}, "at least 20000 hits in 2 files:\n- 19997 in f1\n- 3 in f0\n", "",
			[]int{3, 97}},
	} {
		var h Hits
	files:
		for i, n := range c.files {
			for line := range n {
				if h.Add(fmt.Sprintf("f%d", i), line+1, "x") {
					break files
				}
			}
		}
		text := h.Result(9).Text()
		if !strings.HasPrefix(text, c.begins) || !strings.HasSuffix(text, c.ends) {
			t.Errorf("%s: %.200s … %s", c.name, text, text[max(0, len(text)-200):])
		}
		for i, n := range c.shown {
			if got := strings.Count(text, fmt.Sprintf("f%d:", i)); got != n {
				t.Errorf("%s: %d lines of f%d, want %d", c.name, got, i, n)
			}
		}
	}
	if got := new(Hits).Result(7).Text(); got != "no match in 7 files" {
		t.Error(got)
	}
}

// Of hits in very many files the counts and the lines are bounded.
func TestHitsInManyFiles(t *testing.T) {
	var h Hits
	for i := range 500 {
		h.Add(fmt.Sprintf("f%03d", i), 1, "x")
	}
	text := h.Result(500).Text()
	if !strings.HasPrefix(text, "500 hits in 500 files:\n- 1 in f000\n") ||
		!strings.Contains(text, "\n- and 470 more files\n\nf000:1: x\n") ||
		strings.Count(text, "\n") != 1+SearchFiles+2+SearchHits+1 {
		t.Error(text)
	}
}
