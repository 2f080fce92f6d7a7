package prbody

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"company/internal/company"
)

// listChecked describes how the work was checked, in three to five lines: the tests that demonstrate it, the checks
// that are green on exactly this tree, the red and unseen checks, and the review. limit is how many names of each are
// given, at least one.
func listChecked(task *company.Task, limit int) []string {
	var out []string
	if task.Gate == nil || len(task.Gate.Result.Checks) == 0 {
		out = append(out, "No check was run.")
	} else {
		r := task.Gate.Result
		out = append(out, tellProof(r.RedGreen, limit)...)
		out = append(out, tellGreen(task, limit)...)
		out = append(out, tellNotGreen(task, limit)...)
	}
	if review := tellReview(task, limit); review != "" {
		out = append(out, review)
	}
	return out
}

// tellProof names the tests that fail without the change.
func tellProof(redGreen *company.RedGreen, limit int) []string {
	switch {
	case redGreen == nil:
		return nil
	case redGreen.Files == 0:
		return []string{"No test was added or changed."}
	case redGreen.Reason != "":
		return []string{"Which tests fail without this change is not known: " + shortenPlain(redGreen.Reason, 100) + "."}
	}
	var names []string
	shown := foldTests(redGreen.Proof)
	for i, foldedTest := range shown {
		if i == limit {
			break
		}
		name := shortSpan(nameTest(foldedTest.name), 50)
		if foldedTest.cases > 0 {
			name += " (" + countNoun(foldedTest.cases, "case") + ")"
		}
		names = append(names, name)
	}
	more := len(shown) - len(names) + max(0, redGreen.Shown-len(redGreen.Proof))
	if more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	text := "No test of the change fails without it."
	if redGreen.Unseen > 0 || len(redGreen.Unbuilt)+len(redGreen.Died) > 0 {
		text = "No test was seen to fail without this change."
	}
	switch {
	case redGreen.Shown == 1:
		text = joinAnd(names) + " fails without this change and passes with it."
	case len(names) > 0:
		text = joinAnd(names) + " fail without this change and pass with it."
	}
	switch n := len(redGreen.Idle); {
	case n == 1:
		text += " " + shortSpan(nameTest(redGreen.Idle[0]), 50) + " passes without it too, so it shows nothing."
	case n > 1:
		text += fmt.Sprintf(" %s and %d more pass without it too, so they show nothing.",
			shortSpan(nameTest(redGreen.Idle[0]), 50), n-1)
	}
	return []string{text + tellUnseen(redGreen)}
}

// tellUnseen names packages that did not compile or crashed without the change, so that their tests were not run
// there.
func tellUnseen(redGreen *company.RedGreen) string {
	text := ""
	switch n := len(redGreen.Unbuilt); {
	case n == 1:
		text += " Without it " + shortSpan(redGreen.Unbuilt[0], 50) + " does not compile or load."
	case n > 1:
		text += fmt.Sprintf(" Without it %s and %d more do not compile or load.", shortSpan(redGreen.Unbuilt[0], 50), n-1)
	}
	switch n := len(redGreen.Died); {
	case n == 1:
		text += " Without it " + shortSpan(redGreen.Died[0], 50) + " crashes."
	case n > 1:
		text += fmt.Sprintf(" Without it %s and %d more crash.", shortSpan(redGreen.Died[0], 50), n-1)
	}
	if redGreen.Unseen > 0 {
		text += fmt.Sprintf(" %s not run there.", countVerb(redGreen.Unseen, "new test", "was", "were"))
	}
	return text
}

// nameTest returns the name of a test without its package.
func nameTest(name string) string {
	pkg, test, ok := strings.Cut(name, " ")
	if ok && !strings.Contains(test, " ") && strings.ContainsAny(pkg, "./") {
		return test
	}
	return name
}

// tellGreen names the checks that passed on exactly this tree.
func tellGreen(task *company.Task, limit int) []string {
	var names, mended []string
	var tests, skipped, flaky int
	for i, gateCheck := range task.Gate.Result.Checks {
		if !gateCheck.Passed || gateCheck.Skipped || gateCheck.Absent || gateCheck.Excused != "" {
			continue
		}
		names = append(names, shortSpan(gateCheck.Command, 40))
		if gateCheck.Counts != nil {
			tests, skipped = tests+gateCheck.Counts.Passed+gateCheck.Counts.Failed+gateCheck.Counts.Skipped, skipped+
				gateCheck.Counts.Skipped
		}
		flaky += len(gateCheck.Flaky)
		if task.Baseline != nil && i < len(task.Baseline.Checks) && task.Baseline.Checks[i].ExitCode != 0 &&
			!task.Baseline.Checks[i].Absent {
			mended = append(mended, gateCheck.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	verb := "is"
	if len(names) > 1 {
		verb = "are"
	}
	if n := len(names) - limit; n > 0 {
		names = append(names[:limit:limit], fmt.Sprintf("%d more", n))
	}
	count := ""
	if tests > 0 {
		count = " (" + countNoun(tests, "test")
		if skipped > 0 {
			count += fmt.Sprintf(", %d skipped", skipped)
		}
		count += ")"
	}
	text := fmt.Sprintf("%s%s %s green on exactly this tree.", joinAnd(names), count, verb)
	if flaky > 0 {
		text += fmt.Sprintf(" Flaky: %s.", countNoun(flaky, "test"))
	}
	if len(mended) > 0 {
		text += " Red on the base and mended: " + listNames(mended, limit) + "."
	}
	return []string{text}
}

// tellNotGreen names the red checks, including those that are also red on the base, and what no check examined.
func tellNotGreen(task *company.Task, limit int) []string {
	var red, open, failed, unseen []string
	for _, gateCheck := range task.Gate.Result.Checks {
		switch {
		case gateCheck.Excused == company.ComparedKnown:
			text := gateCheck.Name
			if gateCheck.Counts != nil && gateCheck.Counts.Failed > 0 {
				text += " (" + countNoun(gateCheck.Counts.Failed, "failure") + ")"
			}
			red = append(red, text)
		case gateCheck.Excused == company.ComparedAsBefore:
			open = append(open, gateCheck.Name)
		case gateCheck.Absent || gateCheck.Excused == company.ComparedAbsent || gateCheck.Skipped:
			unseen = append(unseen, gateCheck.Name)
		case !gateCheck.Passed:
			failed = append(failed, gateCheck.Name)
		}
		blind := task.Gate.Result.Overlooked(gateCheck)
		if gateCheck.Canary != nil && gateCheck.Canary.Reason != "" && len(blind) == 0 {
			unseen = append(unseen, "the tests of "+gateCheck.Name+", perhaps")
		}
		unseen = append(unseen, blind...)
	}
	if task.Prepared != nil {
		for _, u := range task.Prepared.Unrun {
			unseen = append(unseen, u.Command)
		}
	}
	slices.Sort(unseen)
	unseen = slices.Compact(unseen)
	var out []string
	add := func(what string, names []string) {
		if len(names) > 0 {
			out = append(out, what+listNames(names, limit)+".")
		}
	}
	add("Red: ", failed)
	add("Red on the base too, and in nothing new: ", red)
	add("Red on the base too, so new failures cannot be seen: ", open)
	add("Not looked at: ", unseen)
	if len(out) > 2 { // three to five lines in all
		out = append(out[:1], strings.Join(out[1:], " "))
	}
	return out
}

// tellReview returns the verdict of the company's own reviewer, in one sentence. A waived review is listed with the
// risks of the merge.
func tellReview(task *company.Task, limit int) string {
	recorded := task.Review.Last
	if recorded == nil {
		return "The whole was not reviewed."
	}
	if task.Review.Waived != "" && task.Review.Waived == task.Head {
		return ""
	}
	text := "A reviewer approved it"
	if recorded.Verdict != company.Approve {
		text = "A reviewer asked for changes"
	}
	if task.CarriedFrom() == nil {
		return text + tellMinor(task, recorded.Findings, limit)
	}
	return text + tellMinor(task, nil, limit)
}

// maxNamedFinding is the length up to which a minor finding is named above the fold, in characters.
const maxNamedFinding = 160

// tellMinor ends the sentence about the review with the remaining minor findings of the tickets and of the whole.
func tellMinor(task *company.Task, whole []company.Finding, limit int) string {
	var left []string
	add := func(list []company.Finding) {
		for _, finding := range list {
			if finding.Severity == company.Minor {
				left = append(left, finding.What)
			}
		}
	}
	for _, sub := range task.Subtasks {
		if sub.Merged != "" && sub.Review.Last != nil {
			add(sub.Review.Last.Findings)
		}
	}
	add(whole)
	switch n := len(left); {
	case n == 0:
		return "."
	case limit < 2 || utf8.RuneCountInString(left[0]) > maxNamedFinding: // no room for its text
		return "; " + countVerb(n, "minor finding", "is", "are") + " left, below."
	case n == 1:
		return "; a minor finding is left: " + endLine(keepPlain(left[0]))
	default:
		return fmt.Sprintf("; %d minor findings are left, one is: %s", n, endLine(keepPlain(left[0])))
	}
}

// countVerb returns a number with its noun and verb.
func countVerb(n int, noun, one, many string) string {
	if n == 1 {
		return countNoun(n, noun) + " " + one
	}
	return countNoun(n, noun) + " " + many
}

// listNames lists the first limit checks or commands, escaped and shortened.
func listNames(names []string, limit int) string {
	var out []string
	for i, n := range names {
		if i == limit {
			out = append(out, fmt.Sprintf("%d more", len(names)-i))
			break
		}
		out = append(out, cmp.Or(shortenPlain(n, 60), "(no name)"))
	}
	return joinAnd(out)
}

// joinAnd joins names with commas and "and".
func joinAnd(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
