package toolproto

import (
	"fmt"
	"slices"
	"strings"
)

// FileHits is how many lines of a file match.
type FileHits struct {
	Path string `json:"path"`
	Hits int    `json:"hits"`
}

// Hits gathers what a search finds, one file after the other. The zero value is empty.
type Hits struct {
	files []fileLines
	all   int
}

// fileLines is a file in which a search found its pattern.
type fileLines struct {
	FileHits
	lines []Match // the first of them
}

// Add counts a line that matches; lines of one file come one after the other. It reports
// whether SearchCounted lines are counted, after which a search ends. Text is kept as it is.
func (h *Hits) Add(path string, line int, text string) (enough bool) {
	if n := len(h.files); n == 0 || h.files[n-1].Path != path {
		h.files = append(h.files, fileLines{FileHits: FileHits{Path: path}})
	}
	f := &h.files[len(h.files)-1]
	if f.Hits++; len(f.lines) < SearchHits {
		f.lines = append(f.lines, Match{Path: path, Line: line, Text: text})
	}
	h.all++
	return h.all >= SearchCounted
}

// Result is the part of the hits that a caller sees, after so many files were looked into: SearchHits lines,
// which the files share, so that one with many hits does not hide the others.
func (h *Hits) Result(searched int) SearchResult {
	r := SearchResult{Matches: []Match{}, Files: searched, Hits: h.all, Found: len(h.files)}
	for i, n := range h.shareLines() {
		r.Matches = append(r.Matches, h.files[i].lines[:n]...)
		r.Most = append(r.Most, h.files[i].FileHits)
	}
	slices.SortStableFunc(r.Most, func(x, y FileHits) int { return y.Hits - x.Hits })
	r.Most = r.Most[:min(SearchFiles, len(r.Most))]
	r.Truncated = len(r.Matches) < h.all
	return r
}

// shareLines is how many lines of each file are shown: one of each in turn, until there are
// enough.
func (h *Hits) shareLines() []int {
	shown := make([]int, len(h.files))
	left := SearchHits
	for gave := true; left > 0 && gave; {
		gave = false
		for i, f := range h.files {
			if left > 0 && shown[i] < len(f.lines) {
				shown[i]++
				left--
				gave = true
			}
		}
	}
	return shown
}

// Text lists path:line: text, with a count for each file before that where lines are left out.
func (r SearchResult) Text() string {
	if len(r.Matches) == 0 {
		return fmt.Sprintf("no match in %d files", r.Files)
	}
	return r.CountedText(SearchHits)
}

// CountedText lists path:line: text. Where more than few lines match, how many do in each file
// stands before them, the file with most hits first. The rest is counted below.
func (r SearchResult) CountedText(few int) string {
	var b strings.Builder
	if r.Hits > few {
		atLeast, files := "", "1 file"
		if r.Hits >= SearchCounted {
			atLeast = "at least "
		}
		if r.Found != 1 {
			files = fmt.Sprintf("%d files", r.Found)
		}
		fmt.Fprintf(&b, "%s%d hits in %s:\n", atLeast, r.Hits, files)
		for _, f := range r.Most {
			fmt.Fprintf(&b, "- %d in %s\n", f.Hits, f.Path)
		}
		if n := r.Found - len(r.Most); n > 0 {
			fmt.Fprintf(&b, "- and %d more files\n", n)
		}
		b.WriteString("\n")
	}
	for _, m := range r.Matches {
		fmt.Fprintf(&b, "%s:%d: %s\n", m.Path, m.Line, m.Text)
	}
	if n := r.Hits - len(r.Matches); n > 0 {
		fmt.Fprintf(&b, "(%d more hits are left out: search with a glob or a narrower pattern)\n", n)
	}
	return b.String()
}
