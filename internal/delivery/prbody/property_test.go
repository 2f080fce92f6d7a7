package prbody

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"company/internal/company"
)

// hostileParts are what an agent or a stranger may write to steer a page, a forge or a reader.
var hostileParts = []string{
	"word", "a longer sentence of some words. ", "</details>", "<details><summary>x</summary>", "@admin", "fixes #7",
	"Closes: acme/app#9", "closes GH-7", "resolves #1\n",
	"\n", "\n\n", "\n- ", "\n1. ", "\n# ", "\n===\n", "\n---\n", "```", "~~~", "> ", "| a | b |\n|---|---|\n",
	"![x](http://evil)", "<img src=x>", "[x]: http://evil\n", "&lt;", "&", "`", "\u202e", "\x1b[2J",
	"日本語。", "é", "\u200b", "https://example.com/" + strings.Repeat("path/", 40), strings.Repeat("x", 130),
	strings.Repeat("&", 120), "- ", "-", "1)", "===", "[a]",
}

func drawText(t *rapid.T, name string, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostileParts), 0, most).Draw(t, name),
		rapid.SampledFrom([]string{"", " "}).Draw(t, name+" glue"))
}

// drawTask is a task whose every text is of others, with as much to report as one may have.
func drawTask(t *rapid.T) *company.Task {
	task := oneSubtask()
	task.Instruction = drawText(t, "instruction", 30)
	task.Plan.Title = drawText(t, "title", 8)
	task.Plan.Decisions = rapid.SliceOfN(
		rapid.Custom(func(t *rapid.T) string { return drawText(t, "decision", 8) }), 0, 8).Draw(t, "decisions")
	base := task.Subtasks[0]
	task.Subtasks = nil
	var runs []*company.Run
	for i := range rapid.IntRange(1, 9).Draw(t, "tickets") {
		sub := *base
		sub.ID = company.NewSubtaskID("t12", i+1)
		sub.Planned.Title = drawText(t, "ticket", 6)
		if i > 0 && rapid.Bool().Draw(t, "unmerged") {
			sub.Merged, sub.Status = "", company.SubtaskCancelled
		}
		sub.Changes = nil
		for range rapid.IntRange(0, 6).Draw(t, "files") {
			sub.Changes = append(sub.Changes,
				company.Change{Path: drawText(t, "file", 3) +
					rapid.SampledFrom([]string{"a.go", "a_test.go", "go.mod", "go.sum", "README.md"}).Draw(t, "name")})
		}
		sub.Review.Last = &company.ReviewRecorded{Head: sub.Head, Verdict: company.Approve}
		for range rapid.IntRange(0, 3).Draw(t, "findings") {
			sub.Review.Last.Findings = append(
				sub.Review.Last.Findings,
				company.Finding{Severity: rapid.SampledFrom([]company.Severity{company.Minor, company.Blocking}).Draw(
					t, "severity"), File: drawText(t, "place", 2), What: drawText(t, "finding", 5)})
		}
		task.Subtasks = append(task.Subtasks, &sub)
		runs = append(runs, ended(sub.ID, company.Worker, 1, 2, 1000, func(r *company.Run) {
			r.Problem, r.Summary, r.Risks = drawText(t, "problem", 12), drawText(t, "summary", 12), drawText(t, "risks", 12)
		}))
	}
	runsOf(task, runs...)
	task.Gate.Result.Checks = nil
	for i := range rapid.IntRange(0, 9).Draw(t, "gates") {
		c := company.GateCheck{Name: fmt.Sprintf("test %d %s", i, drawText(t, "gate", 2)), Command: drawText(t, "command", 3),
			Took: time.Second}
		switch rapid.IntRange(0, 4).Draw(t, "outcome") {
		case 0:
			c.Excused = company.ComparedAsBefore
		case 1:
			c.Excused, c.Absent = company.ComparedAbsent, true
		case 2:
			c.Excused, c.Counts = company.ComparedKnown, &company.TestCounts{Passed: 3, Failed: 2}
		default:
			c.Passed = true
			c.Gone = []string{drawText(t, "gone", 2)}
		}
		task.Gate.Result.Checks = append(task.Gate.Result.Checks, c)
		task.Prepared.Gates = append(task.Prepared.Gates, company.GateCommand{Name: c.Name, Command: c.Command})
	}
	task.Prepared.Unrun = []company.UnrunCheck{
		{Command: drawText(t, "unrun", 4), At: "ci.yml:3", Why: "it needs a key", OfCI: rapid.Bool().Draw(t, "of ci")}}
	task.Gate.Result.RedGreen.Proof = []string{drawText(t, "test", 3), drawText(t, "another", 3)}
	task.Review.Last = &company.ReviewRecorded{Head: task.Head, Verdict: company.Approve}
	return task
}

// realFold matches what folds a part, and nothing that others wrote.
var realFold = regexp.MustCompile(`^<details><summary>[A-Z][a-z ,0-9-]+(?:: [\w ,]+)?</summary>$`)

// Feature: pull requests, Property 1: Open Part Keeps Its Bounds
//
// FRG-3, T22: for any task the open part keeps its bounds, the text of others stays text, the lines that
// close issues stand outside of a fold, and the risks of a merge stand above it.
func TestOpenPartOfAnyTask(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		task := drawTask(t)
		closing := []string{"Closes #12", "Closes #13", "Closes #14"}[:rapid.IntRange(0, 3).Draw(t, "closing")]
		text := PRBody(task, PROptions{Pushed: true, ClosingLines: closing})
		checkBoundsBeside(t, writeAuthor(task), text)
		open, folded := splitOpen(text)
		for _, line := range closing { // a part of what was asked closes no issue
			if strings.Contains(open, "\n"+line+"\n") != (len(listUnmerged(task)) == 0) {
				t.Errorf("%s is folded, or closed by a part:\n%s", line, text)
			}
		}
		fence := ""
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			switch mark := strings.TrimSuffix(line, "sh"); {
			case fence == "" && strings.HasPrefix(mark, "```") && strings.Trim(mark, "`") == "":
				fence = mark // commands that repeat it
			case line == fence:
				fence = ""
			}
			if fence == "" && strings.Contains(line, "<") && line != "</details>" && !realFold.MatchString(line) &&
				!strings.Contains(line, "`") {
				t.Errorf("markup of others: %q", line)
			}
		}
		if strings.Count(text, "\n<details>") != strings.Count(text, "\n</details>") ||
			!strings.Contains(folded, "## Gates") {
			t.Errorf("folds:\n%s", text)
		}
		plain := dropSpans(strings.NewReplacer(flatten(closing)...).Replace(open))
		if closingWordsRE.MatchString(plain) || strings.Contains(plain, "@admin") ||
			strings.ContainsAny(plain, "\u202e\x1b") || strings.Contains(plain, "![") {
			t.Errorf("it acts:\n%s", open)
		}
		for i, line := range strings.Split(strings.TrimSpace(open), "\n") {
			if i > 0 && (strings.HasPrefix(line, "#") && strings.HasPrefix(strings.TrimLeft(line, "#"), " ") ||
				strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") || line != "" && strings.Trim(line, "=") == "" ||
				line != "" && strings.Trim(line, "-") == "") {
				t.Errorf("line %d forms a block: %q", i+1, line)
			}
		}
		holds := func(what string, is bool) {
			if is && !strings.Contains(strings.Join(strings.Fields(open), " "), what) {
				t.Errorf("%q is not told above the fold:\n%s", what, open)
			}
		}
		holds("INCOMPLETE", len(listUnmerged(task)) > 0)
		holds("UNTESTED", untestedReason(task) != "")
		holds("UNVERIFIED", !task.Untested() && len(task.ExplainUnverified()) > 0)
		holds("the review was waived", task.Head != "" && task.Review.Waived == task.Head)
		blocking, _ := openBlocking(task, 60)
		holds("blocking finding", blocking > 0)
		n := len(task.Decisions())
		holds(map[bool]string{true: "1 decision was made for you", false: fmt.Sprintf("%d decisions", n)}[n == 1], n > 0)
		holds("no longer run", strings.Contains(folded, "no longer runs** them"))
	})
}

// flatten makes old and new of a replacement: each line is taken away.
func flatten(lines []string) (out []string) {
	for _, l := range lines {
		out = append(out, l, "")
	}
	return out
}

// dropSpans takes the spans of code out of each block, as a page reads them: what they hold does nothing.
func dropSpans(text string) string {
	var out []string
	for block := range strings.SplitSeq(strings.ReplaceAll(text, "\n- ", "\n\n- "), "\n\n") {
		for {
			begin := strings.IndexByte(block, '`')
			if begin < 0 {
				break
			}
			mark := block[begin : len(block)-len(strings.TrimLeft(block[begin:], "`"))]
			rest := block[begin+len(mark):]
			end := strings.Index(rest, mark)
			if end < 0 {
				out = append(out, block[:begin]) // left open: it ends with its block
				block = rest
				continue
			}
			block = block[:begin] + rest[end+len(mark):]
		}
		out = append(out, block)
	}
	return strings.Join(out, "\n\n")
}
