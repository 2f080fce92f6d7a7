package demo

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"company/test/testenv"
)

// feedText is what a line of the feed says: the text behind its sign, one blank away.
// The columns before it are wider.
var feedText = regexp.MustCompile(`(?:^|\s)[+>x!~-] (\S.*)$`)

// tookTime is the end of a line that says how long something took, which the text of
// an event does not have.
var tookTime = regexp.MustCompile(`  (\d+(\.\d)?s|\d+m\d\ds)$`)

// looseText is a line with what differs from run to run left out: numbers, commits,
// times, files and the columns before its sign.
func looseText(line string) string {
	m := feedText.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return ""
	}
	text := tookTime.ReplaceAllString(m[1], "")
	text = regexp.MustCompile(`\b[0-9a-f]{7}\b`).ReplaceAllString(text, "#")
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

// checkTutorial holds the tutorial to the events of a demo, loosely: words of the feed
// may change, and most of the lines must still be what happens.
func checkTutorial(t *testing.T, repo string) {
	t.Helper()
	cmd := exec.Command(testenv.Binary(t), "feed", "-o", "json")
	cmd.Dir = repo
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var it struct{ Text string }
		if err := d.Decode(&it); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, looseText("+ "+it.Text))
	}
	var missing []string
	lines := tutorialLines(t)
	for _, line := range lines {
		want := looseText(line)
		if !slices.ContainsFunc(seen, func(s string) bool { return strings.HasPrefix(s, want) }) {
			missing = append(missing, line)
		}
	}
	if len(lines) < 15 || 4*len(missing) > len(lines) {
		t.Errorf("of %d lines of docs/tutorial.md the demo has no such event: show what it tells\n%s", len(lines),
			strings.Join(missing, "\n"))
	}
}

// TestTutorialIsLoose: what differs from run to run is left out, and what a line says
// is not.
func TestTutorialIsLoose(t *testing.T) {
	same := looseText("12:43:57 t1-01.1         w2       ended     + done at 073e270, 2 files  2.1s")
	if same != "done at #, 0 files" {
		t.Errorf("%q", same)
	}
	if got := looseText(
		"12:43:58 t1-01           -        gate      x gate test failed, exit 1"); got != "gate test failed, exit 0" {
		t.Errorf("%q", got)
	}
	if len(tutorialLines(t)) < 15 {
		t.Error("the tutorial shows next to nothing")
	}
}
