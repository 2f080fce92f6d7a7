package manager

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/safetext"
)

// Limits of a search.
const (
	maxMatches  = 100     // lines that are shown
	maxCounted  = 20_000  // hits, after which counting ends
	maxFiles    = 30      // files whose hits are counted one by one
	fewHits     = 20      // up to so many hits no count stands before the lines
	maxSearched = 1 << 20 // bytes; a file above that is data, not text to search in
)

// hitFile is a file in which a search found its pattern.
type hitFile struct {
	path  string
	hits  int
	lines []string // the first of them, with path and number
}

func (r *readTools) searchTool() agent.Tool {
	type args struct{ Pattern, Glob string }
	return newTool("search", "Find lines that match a regular expression (RE2).",
		`{"type":"object","additionalProperties":false,"required":["pattern"],"properties":{"pattern":{"type":"string","minLength":1},"glob":{"type":"string"}}}`,
		true, func(ctx context.Context, a args) (agent.Result, error) {
			re, err := regexp.Compile(a.Pattern)
			if err != nil {
				return refusalResult(err.Error()), nil
			}
			entries, bad, err := r.matchingFiles(ctx, a.Glob)
			if err != nil || bad != nil {
				return resultOrZero(bad), err
			}
			found, all, err := r.findHits(ctx, re, entries)
			if err != nil {
				return agent.Result{}, err
			}
			return agent.Result{Text: renderHits(found, all)}, nil
		})
}

// errEnough ends a search that has found enough.
var errEnough = errors.New("enough matches")

// findHits searches files, in their order. all is how many lines match, up to the limit at
// which counting ends.
func (r *readTools) findHits(ctx context.Context, re *regexp.Regexp, entries []gitops.Entry) (found []*hitFile, all int, err error) {
	entries = slices.Clone(entries)
	entries = slices.DeleteFunc(entries, func(e gitops.Entry) bool {
		return e.Mode != gitops.ModeFile && e.Mode != gitops.ModeExec || e.Size > maxSearched
	})
	err = r.mirror.ReadFiles(ctx, entries, func(e gitops.Entry, text []byte) error {
		if isBinary(text) {
			return nil
		}
		file := &hitFile{path: safetext.EscapeLine(e.Path, maxLine)}
		n := 0
		for line := range bytes.Lines(text) {
			n++
			line = bytes.TrimRight(line, "\r\n") // so that $ means its end
			if !re.Match(line) {
				continue
			}
			if file.hits++; len(file.lines) < maxMatches {
				file.lines = append(file.lines, fmt.Sprintf("%s:%d: %s\n", file.path, n, safetext.Cut(string(line), maxLine)))
			}
			if all++; all == maxCounted {
				break
			}
		}
		if file.hits > 0 {
			found = append(found, file)
		}
		if all == maxCounted {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return found, all, err
}

// renderHits shows the hits of a search: by file first where there are many, then lines of
// every file in turn, and how many were left out.
func renderHits(found []*hitFile, all int) string {
	if all == 0 {
		return "no matches"
	}
	var b strings.Builder
	if all > fewHits {
		atLeast := ""
		if all == maxCounted {
			atLeast = "at least "
		}
		fmt.Fprintf(&b, "%s%d hits in %s:\n", atLeast, all, company.Count(len(found), "file"))
		most := slices.Clone(found)
		slices.SortStableFunc(most, func(x, y *hitFile) int { return y.hits - x.hits })
		for _, f := range most[:min(maxFiles, len(most))] {
			fmt.Fprintf(&b, "- %d in %s\n", f.hits, f.path)
		}
		if n := len(most) - maxFiles; n > 0 {
			fmt.Fprintf(&b, "- and %d more files\n", n)
		}
		b.WriteString("\n")
	}
	shown := shareLines(found, maxMatches)
	written := 0
	for i, f := range found {
		for _, line := range f.lines[:shown[i]] {
			b.WriteString(line)
			written++
		}
	}
	if n := all - written; n > 0 {
		fmt.Fprintf(&b, "(%d more hits are left out: search with a glob or a narrower pattern)\n", n)
	}
	return b.String()
}

// shareLines says how many lines of each file are shown, so that a file with many hits does
// not hide the others.
func shareLines(found []*hitFile, most int) []int {
	shown := make([]int, len(found))
	for gave := true; most > 0 && gave; {
		gave = false
		for i, f := range found {
			if most > 0 && shown[i] < len(f.lines) {
				shown[i]++
				most--
				gave = true
			}
		}
	}
	return shown
}
