package toolproto

import (
	"fmt"
	"slices"
	"strings"
)

// FileHits is the number of matching lines in a file.
type FileHits struct {
	Path string `json:"path"`
	Hits int    `json:"hits"`
}

// Hits collects the results of a search, file by file. The zero value is empty.
type Hits struct {
	files []fileLines
	all   int
}

// fileLines is a file with matches.
type fileLines struct {
	FileHits
	lines []Match // the first SearchHits of them
}

// Add counts a matching line. Lines of one file must be added consecutively. It returns true once SearchCounted lines
// are counted, so that the search can stop. Text is stored unchanged.
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

// Result returns the hits for the caller. searched is the number of searched files. The result has at most SearchHits
// lines, shared among the files, so that one file with many hits does not hide the others.
func (h *Hits) Result(searched int) SearchResult {
	searchResult := SearchResult{Matches: []Match{}, Files: searched, Hits: h.all, Found: len(h.files)}
	for i, n := range h.shareLines() {
		searchResult.Matches = append(searchResult.Matches, h.files[i].lines[:n]...)
		searchResult.Most = append(searchResult.Most, h.files[i].FileHits)
	}
	slices.SortStableFunc(searchResult.Most, func(x, y FileHits) int { return y.Hits - x.Hits })
	searchResult.Most = searchResult.Most[:min(SearchFiles, len(searchResult.Most))]
	searchResult.Truncated = len(searchResult.Matches) < h.all
	return searchResult
}

// shareLines returns how many lines of each file are shown. It takes one of each file in turn until SearchHits is
// reached.
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

// Text lists the hits as path:line: text. If lines are left out, it starts with the number of hits in each file.
func (r SearchResult) Text() string {
	if len(r.Matches) == 0 {
		return fmt.Sprintf("no match in %d files", r.Files)
	}
	return r.CountedText(SearchHits)
}

// CountedText lists the hits as path:line: text. If there are more than few hits, it starts with the number in each
// file, most hits first. The last line counts the hits that are left out.
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
