package prbody

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
)

// listChecked says in three to five lines how the work was checked: the tests that show it, what ran
// green on this very tree, the red and unseen checks, and the review. most is how many names
// of each are given, at least one.
func listChecked(t *company.Task, most int) []string {
	var out []string
	if t.Gate == nil || len(t.Gate.Result.Checks) == 0 {
		out = append(out, "No check was run.")
	} else {
		r := t.Gate.Result
		out = append(out, tellProof(r.RedGreen, most)...)
		out = append(out, tellGreen(t, most)...)
		out = append(out, tellNotGreen(t, most)...)
	}
	if review := tellReview(t, most); review != "" {
		out = append(out, review)
	}
	return out
}

// tellProof says which tests fail without the change.
func tellProof(r *company.RedGreen, most int) []string {
	switch {
	case r == nil:
		return nil
	case r.Files == 0:
		return []string{"No test was added or changed."}
	case r.Reason != "":
		return []string{"Which tests fail without this change is not known: " + shortenPlain(r.Reason, 100) + "."}
	}
	var names []string
	shown := foldTests(r.Proof)
	for i, f := range shown {
		if i == most {
			break
		}
		name := shortSpan(nameTest(f.name), 50)
		if f.cases > 0 {
			name += " (" + countNoun(f.cases, "case") + ")"
		}
		names = append(names, name)
	}
	more := len(shown) - len(names) + max(0, r.Shown-len(r.Proof))
	if more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	text := "No test of the change fails without it."
	if r.Unseen > 0 || len(r.Unbuilt)+len(r.Died) > 0 {
		text = "No test was seen to fail without this change."
	}
	switch {
	case r.Shown == 1:
		text = joinAnd(names) + " fails without this change and passes with it."
	case len(names) > 0:
		text = joinAnd(names) + " fail without this change and pass with it."
	}
	switch n := len(r.Idle); {
	case n == 1:
		text += " " + shortSpan(nameTest(r.Idle[0]), 50) + " passes without it too, so it shows nothing."
	case n > 1:
		text += fmt.Sprintf(" %s and %d more pass without it too, so they show nothing.", shortSpan(nameTest(r.Idle[0]), 50), n-1)
	}
	return []string{text + tellUnseen(r)}
}

// tellUnseen says what did not compile, or died, without the change, so that its tests were not run there.
func tellUnseen(r *company.RedGreen) string {
	text := ""
	switch n := len(r.Unbuilt); {
	case n == 1:
		text += " Without it " + shortSpan(r.Unbuilt[0], 50) + " does not compile or load."
	case n > 1:
		text += fmt.Sprintf(" Without it %s and %d more do not compile or load.", shortSpan(r.Unbuilt[0], 50), n-1)
	}
	switch n := len(r.Died); {
	case n == 1:
		text += " Without it " + shortSpan(r.Died[0], 50) + " crashes."
	case n > 1:
		text += fmt.Sprintf(" Without it %s and %d more crash.", shortSpan(r.Died[0], 50), n-1)
	}
	if r.Unseen > 0 {
		text += fmt.Sprintf(" %s not run there.", countVerb(r.Unseen, "new test", "was", "were"))
	}
	return text
}

// nameTest is the name of a test without the package before it.
func nameTest(name string) string {
	pkg, test, ok := strings.Cut(name, " ")
	if ok && !strings.Contains(test, " ") && strings.ContainsAny(pkg, "./") {
		return test
	}
	return name
}

// tellGreen names the checks that passed on the very tree.
func tellGreen(t *company.Task, most int) []string {
	var names, mended []string
	tests, skipped, flaky := 0, 0, 0
	for i, c := range t.Gate.Result.Checks {
		if !c.Passed || c.Skipped || c.Absent || c.Excused != "" {
			continue
		}
		names = append(names, shortSpan(c.Command, 40))
		if c.Counts != nil {
			tests, skipped = tests+c.Counts.Passed+c.Counts.Failed+c.Counts.Skipped, skipped+c.Counts.Skipped
		}
		flaky += len(c.Flaky)
		if t.Baseline != nil && i < len(t.Baseline.Checks) && t.Baseline.Checks[i].ExitCode != 0 && !t.Baseline.Checks[i].Absent {
			mended = append(mended, c.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	verb := "is"
	if len(names) > 1 {
		verb = "are"
	}
	if n := len(names) - most; n > 0 {
		names = append(names[:most:most], fmt.Sprintf("%d more", n))
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
		text += " Red on the base and mended: " + listNames(mended, most) + "."
	}
	return []string{text}
}

// tellNotGreen names the checks that are red as on the base, and those that looked at nothing.
func tellNotGreen(t *company.Task, most int) []string {
	var red, open, failed, unseen []string
	for _, c := range t.Gate.Result.Checks {
		switch {
		case c.Excused == company.ComparedKnown:
			text := c.Name
			if c.Counts != nil && c.Counts.Failed > 0 {
				text += " (" + countNoun(c.Counts.Failed, "failure") + ")"
			}
			red = append(red, text)
		case c.Excused == company.ComparedAsBefore:
			open = append(open, c.Name)
		case c.Absent || c.Excused == company.ComparedAbsent || c.Skipped:
			unseen = append(unseen, c.Name)
		case !c.Passed:
			failed = append(failed, c.Name)
		}
		blind := t.Gate.Result.Overlooked(c)
		if c.Canary != nil && c.Canary.Reason != "" && len(blind) == 0 {
			unseen = append(unseen, "the tests of "+c.Name+", perhaps")
		}
		unseen = append(unseen, blind...)
	}
	if t.Prepared != nil {
		for _, u := range t.Prepared.Unrun {
			unseen = append(unseen, u.Command)
		}
	}
	slices.Sort(unseen)
	unseen = slices.Compact(unseen)
	var out []string
	add := func(what string, names []string) {
		if len(names) > 0 {
			out = append(out, what+listNames(names, most)+".")
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

// tellReview is the verdict of the company's own reviewer, in one sentence. A review that was waived is
// among the risks of a merge.
func tellReview(t *company.Task, most int) string {
	r := t.Review.Last
	if r == nil && t.IsReviewedInParts() {
		return tellReviewInParts(t, most)
	}
	if r == nil {
		return "The whole was not reviewed."
	}
	if t.Review.Waived != "" && t.Review.Waived == t.Head {
		return ""
	}
	text := "A reviewer approved it"
	if r.Verdict != company.Approve {
		text = "A reviewer asked for changes"
	}
	if t.CarriedFrom() == nil {
		return text + tellMinor(t, r.Findings, most)
	}
	return text + tellMinor(t, nil, most)
}

// tellReviewInParts is the verdict of the tickets' reviewers, which is that on the whole.
func tellReviewInParts(t *company.Task, most int) string {
	return fmt.Sprintf("A reviewer approved each of the %d tickets; they have all parts of the instruction and do not touch", len(t.Subtasks)) + tellMinor(t, nil, most)
}

// tellMinor ends the sentence on the review with the minor findings that are left: those of the tickets, and
// of the whole.
func tellMinor(t *company.Task, whole []company.Finding, most int) string {
	var left []string
	add := func(list []company.Finding) {
		for _, f := range list {
			if f.Severity == company.Minor {
				left = append(left, f.What)
			}
		}
	}
	for _, sub := range t.Subtasks {
		if sub.Merged != "" && sub.Review.Last != nil {
			add(sub.Review.Last.Findings)
		}
	}
	add(whole)
	switch n := len(left); {
	case n == 0:
		return "."
	case most < 2: // there is no room for names
		return "; " + countVerb(n, "minor finding", "is", "are") + " left."
	case n == 1:
		return "; a minor finding is left: " + endLine(shortenPlain(left[0], 70))
	default:
		return fmt.Sprintf("; %d minor findings are left, one is: %s", n, endLine(shortenPlain(left[0], 60)))
	}
}

// countVerb is a number with its noun and verb.
func countVerb(n int, noun, one, many string) string {
	if n == 1 {
		return countNoun(n, noun) + " " + one
	}
	return countNoun(n, noun) + " " + many
}

// listNames names the first of some checks or commands, harmless and short.
func listNames(names []string, most int) string {
	var out []string
	for i, n := range names {
		if i == most {
			out = append(out, fmt.Sprintf("%d more", len(names)-i))
			break
		}
		out = append(out, cmp.Or(shortenPlain(n, 60), "(no name)"))
	}
	return joinAnd(out)
}

// joinAnd joins names as a sentence does.
func joinAnd(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
