package demo

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// feedText is what a line of the feed says: what is behind its sign.
var feedText = regexp.MustCompile(`(?:^|\s)[+>x!~-] (.*)$`)

// looseText is a line with what differs from run to run left out: numbers, commits,
// times, files and the columns before its sign.
func looseText(line string) string {
	m := feedText.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return ""
	}
	text := regexp.MustCompile(`\b[0-9a-f]{7}\b`).ReplaceAllString(m[1], "#")
	text = regexp.MustCompile(`develop-t\d+-\w+`).ReplaceAllString(text, "develop")
	text = regexp.MustCompile(`\d+(\.\d+)?`).ReplaceAllString(text, "0")
	return strings.Join(strings.Fields(text), " ")
}

// tutorialLines are the lines that the tutorial shows of a demo's feed.
func tutorialLines(t *testing.T) (lines []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for line := range strings.SplitSeq(string(text), "\n") {
		switch {
		case line == "```demo":
			inside = true
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside && looseText(line) == "":
			t.Errorf("the tutorial shows %q, which is no line of the feed", line)
		case inside:
			lines = append(lines, line)
		}
	}
	return lines
}

// checkTutorial holds the tutorial to the feed of a demo, loosely.
func checkTutorial(t *testing.T, feed string) {
	t.Helper()
	lines := tutorialLines(t)
	if len(lines) < 15 {
		t.Errorf("the tutorial shows only %d lines", len(lines))
	}
	var seen []string
	for line := range strings.SplitSeq(feed, "\n") {
		seen = append(seen, looseText(line))
	}
	for _, line := range lines {
		want, found := looseText(line), false
		for _, s := range seen {
			found = found || strings.HasPrefix(s, want)
		}
		if !found {
			t.Errorf("docs/tutorial.md shows %q, and the demo printed no such line: show one that it prints", line)
		}
	}
}

// TestTutorialIsLoose: what differs from run to run is left out, and what a line says
// is not.
func TestTutorialIsLoose(t *testing.T) {
	same := looseText("12:43:57 t1-01.1         w2       ended     + done at 073e270, 2 files  2.1s")
	if same != "done at #, 0 files 0s" {
		t.Errorf("%q", same)
	}
	if got := looseText("t1 gate  x gate test failed, exit 1"); got != "gate test failed, exit 0" {
		t.Errorf("%q", got)
	}
	if len(tutorialLines(t)) < 15 {
		t.Error("the tutorial shows next to nothing")
	}
}
