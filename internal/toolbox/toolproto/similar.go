package toolproto

import (
	"iter"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"company/internal/lib/charset"
)

// maxSimilar limits the suggested paths, maxCompared the paths that are compared. maxPairs limits the compared pairs
// of bytes, because long names are expensive.
const (
	maxSimilar  = 3
	maxCompared = 20_000
	maxPairs    = 1 << 26
)

// SuggestPaths returns the end of a refusal for a path that does not exist. It names up to three existing paths with
// similar names, most similar first. It returns "" if there are none.
func SuggestPaths(missing string, there iter.Seq[string]) string {
	want := strings.ToLower(path.Base(missing))
	type candidate struct {
		path      string
		name, all int // distances
	}
	if len(want) < 2 { // no path, or "."
		return ""
	}
	var found []candidate
	seen, pairs := 0, 0
	for p := range there {
		if seen++; seen > maxCompared {
			break
		}
		name := strings.ToLower(path.Base(p))
		limit := max(2, len(want)/3)
		if holds := strings.Contains(name, want); !holds && (len(name) > len(want)+limit || len(want) > len(name)+limit) {
			continue
		}
		if pairs += len(name) * len(want); pairs > maxPairs {
			break
		}
		far := editDistance(name, want)
		if far <= limit || strings.Contains(name, want) {
			found = append(found, candidate{p, far, editDistance(p[:min(len(p), 256)], missing[:min(len(missing), 256)])})
		}
	}
	if len(found) == 0 {
		return ""
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		if a.name != b.name {
			return a.name - b.name
		}
		return a.all - b.all
	})
	var names []string
	for _, c := range found[:min(maxSimilar, len(found))] {
		names = append(names, c.path)
	}
	return "; did you mean " + strings.Join(names, ", ") + "?"
}

// FindSpelling returns the one of names that differs from a name or a path only in its spelling: an accent may be a
// character of its own, as on macOS, and a blank may be of another width. ok is false unless there is exactly one.
func FindSpelling(name string, names []string) (spelled string, ok bool) {
	want := foldSpelling(name)
	for _, other := range names {
		if foldSpelling(other) == want {
			if ok {
				return "", false
			}
			spelled, ok = other, true
		}
	}
	return spelled, ok
}

func foldSpelling(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, norm.NFC.String(charset.ShowBytes(name)))
}

// editDistance returns the Levenshtein distance of two short names, in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := diagonal
			if a[i] != b[j] {
				next = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
