package director

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"company/internal/adapters/scripted"
	"company/internal/company"
)

var addedTest = regexp.MustCompile(`^func (Test\w+)\(`)

// review reads the diff in its own first message, looks closer at what it
// finds, and says where it is.
func review(x scripted.Exchange) scripted.Reply {
	if x.Offers("submit_summary") { // of a conflict that nobody resolves
		return say("Both sides are in the message.",
			call("submit_summary", Args{"summary": "Both sides change the same lines: keep one of them."}))
	}
	_, diff, ok := strings.Cut(x.Brief(), "<diff>\n")
	diff, _, closed := strings.Cut(diff, "\n</diff>")
	if !ok || !closed {
		return giveUp(x, "there is no diff in the message")
	}
	added := ReadDiff(diff)
	findings := silentErrors(added)
	return play(x, func(scripted.Exchange) scripted.Reply {
		if len(findings) > 0 {
			f := findings[0]
			return say("An error seems to be dropped here.",
				call("read_file", Args{"path": f.File, "offset": max(1, f.Line-3), "limit": 6}))
		}
		return say("I look at the history.", call("run_command", Args{"command": "git log --oneline -3"}))
	}, func(x scripted.Exchange) scripted.Reply {
		if len(findings) > 0 {
			return say("This must not stay.",
				call("submit_review", Args{"verdict": company.RequestChanges, "findings": findings}))
		}
		review := Args{"verdict": company.Approve, "evidence": evidence(x, added)}
		var mended []company.Judgement
		for i := range x.Listed("Findings of the last review") {
			mended = append(mended, company.Judgement{Number: i + 1, Status: company.FindingMended})
		}
		if len(mended) > 0 {
			review["earlier"] = mended
		}
		return say("Nothing to object to.", call("submit_review", review))
	})
}

// silentErrors are the lines of the program, tests apart, that throw an error
// away without a word: a comment above would say why that is right.
func silentErrors(added []Added) []company.Finding {
	var out []company.Finding
	for _, a := range added {
		m := dropped.FindStringSubmatch(a.Text)
		if m == nil || path.Ext(a.File) != ".go" || strings.HasSuffix(a.File, "_test.go") ||
			strings.HasPrefix(strings.TrimSpace(a.Above), "//") {
			continue
		}
		out = append(out, company.Finding{
			Severity: company.Blocking, File: a.File, Line: a.Line,
			What:       "the error of " + m[2] + " is dropped",
			Why:        "what could not be written down is reported as done",
			Suggestion: "return it, with a test that sees it; or say in a comment why it cannot matter",
		})
	}
	return out
}

// evidence names, for each criterion, what the diff and the gates show.
func evidence(x scripted.Exchange, added []Added) []string {
	var tests []string
	for _, a := range added {
		if m := addedTest.FindStringSubmatch(a.Text); m != nil && strings.HasSuffix(a.File, "_test.go") {
			tests = append(tests, m[1])
		}
	}
	shown := fmt.Sprintf("new tests %s; gates: %s", strings.Join(tests, ", "),
		strings.Join(items(section(x.Brief(), "Gates")), ", "))
	var out []string
	for range x.Listed("Acceptance criteria") {
		out = append(out, shown)
	}
	return out
}
