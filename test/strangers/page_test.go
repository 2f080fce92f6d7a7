package strangers

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The page dates rows by when they were measured, not by when it is written, and marks
// what another program than the newest has measured.
func TestPageDatesItsRows(t *testing.T) {
	old := Row{Name: "old", Foreign: true, Result: "COMPLETE", Verdict: "green"}
	first := Row{Name: "first", Foreign: true, Result: "COMPLETE", Verdict: "green",
		Measured: time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC), Commit: strings.Repeat("1", 40)}
	last := Row{Name: "last", Result: "COMPLETE", Measured: time.Date(2026, 3, 4, 1, 0, 0, 0, time.FixedZone("", 7200)),
		Commit: strings.Repeat("2", 40) + "-dirty"}
	again := last
	again.Name = "again"
	const newestCommit = "of the company's commit 222222222222-dirty."
	for _, c := range []struct {
		about    string
		rows     []Row
		measured string
		says     []string // after it, of the three that it may say
		ends     map[string]string
	}{
		{
			"two dates, two commits, and a row of neither", []Row{old, first, last, again},
			"Measured from 2026-03-01 to 2026-03-03, on ",
			[]string{newestCommit, "Rows of another commit have theirs", `say "before"`},
			map[string]string{"old": "| before |\n", "first": "| 2026-03-01, 111111111111 |\n", "last": "| 2026-03-03 |\n",
				"again": "| 2026-03-03 |\n"},
		},
		{"one date", []Row{last, again}, "Measured on 2026-03-03, on ", []string{newestCommit},
			map[string]string{"last": "| 2026-03-03 |\n"}},
		{"no date", []Row{old}, "Measured before rows had dates, on ", nil, map[string]string{"old": "| before |\n"}},
	} {
		page := writePage(c.rows, nil)
		_, told, there := strings.Cut(page, c.measured)
		if told, _, _ = strings.Cut(told, "\n"); !there {
			t.Errorf("%s: the page does not say %q", c.about, c.measured)
		}
		for _, words := range []string{newestCommit, "Rows of another commit have theirs", `say "before"`} {
			if strings.Contains(told, words) != slices.Contains(c.says, words) {
				t.Errorf("%s: %q is wrong about %q", c.about, told, words)
			}
		}
		for name, end := range c.ends {
			if !slices.ContainsFunc(strings.SplitAfter(page, "\n"), func(line string) bool {
				return strings.HasPrefix(line, "| "+name+" |") && strings.HasSuffix(line, end)
			}) {
				t.Errorf("%s: no row of %s ends with %q", c.about, name, end)
			}
		}
	}
}

// What no archive gives is named with the packages that were tried.
func TestPageNamesWhatCannotBeHad(t *testing.T) {
	page := writePage(nil, nil)
	_, part, _ := strings.Cut(page, "\n## What could not be had\n")
	part, _, _ = strings.Cut(part, "\n## ")
	if !strings.Contains(part, "- Ruby: rake ") || strings.Count(part, "\n- ") != len(notHad) {
		t.Errorf("%s", part)
	}
}
