package gitops

import (
	"strconv"
	"strings"
)

// MarkerSize is the number of characters of a conflict marker, unless the attribute conflict-marker-size of a file says
// another.
const MarkerSize = 7

// mostLines limits the lines of a marker that are named.
const mostLines = 5

// FindNewMarker returns the first conflict marker, and its first lines, that the first of four texts has more often
// than the second and third explain: both sides of a merge, which come from the fourth. Documents and fixtures show
// markers on purpose, so only a new one may be left from a conflict. It returns "" if there is none.
func FindNewMarker(texts [4]string, size int) (marker string, lines []string) {
	var counts [4]map[string]int
	for i, text := range texts {
		counts[i] = countMarkers(text, size)
	}
	number := 0
	for line := range strings.Lines(texts[0]) {
		number++
		line = strings.TrimRight(line, " \t\r\n")
		ours, theirs := counts[1][line], counts[2][line]
		if marker == "" && counts[0][line] > max(ours, theirs, ours+theirs-counts[3][line]) {
			marker = line
		}
		if marker != "" && line == marker && len(lines) < mostLines {
			lines = append(lines, strconv.Itoa(number))
		}
	}
	return marker, lines
}

// countMarkers counts the lines of a text that are conflict markers: size characters, then a blank and a label, or
// nothing. Line ends don't matter. The line between the sides is left out, because it underlines headings, too.
func countMarkers(text string, size int) map[string]int {
	counts := map[string]int{}
	for line := range strings.Lines(text) {
		if !strings.ContainsRune("<>|", rune(line[0])) {
			continue
		}
		line = strings.TrimRight(line, " \t\r\n")
		rest := strings.TrimLeft(line, line[:1])
		if len(line)-len(rest) == size && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
			counts[line]++
		}
	}
	return counts
}
