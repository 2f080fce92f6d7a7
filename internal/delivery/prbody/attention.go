package prbody

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"company/internal/company"
	"company/internal/ecosystem/catalog"
)

// warnOfRisks returns the line about the risks of a merge: missing parts, no tests, waived verdicts, and checks that
// verified nothing. Every kind is named at every size. Of the unverified checks, all are counted and up to limit
// risks are named.
func warnOfRisks(task *company.Task, limit, width int) string {
	list, unverified := mergeRisks(task)
	if missing := listUnmerged(task); len(missing) > 0 {
		list = append(
			[]string{fmt.Sprintf("**INCOMPLETE**: %d of %s not in it: %s.", len(missing),
				company.Count(len(task.Subtasks), "ticket"), shortenPlain(strings.Join(missing, ", "), max(width, 40)))}, list...)
	}
	if len(list)+len(unverified) == 0 {
		return ""
	}
	named := unverified[:min(len(unverified), max(1, limit-len(list)))]
	var out []string
	for _, text := range append(list, named...) {
		out = append(out, closeSpans(cutInline(text, width)))
	}
	text := "**Before you merge:** " + strings.Join(out, " ")
	if n := len(unverified) - len(named); n > 0 {
		text += fmt.Sprintf(" And %s, below.", countNoun(n, "more such check"))
	}
	return text
}

// cutInline cuts an escaped line to at most n characters, outside of entities.
func cutInline(text string, n int) string {
	if len([]rune(text)) <= n {
		return text
	}
	return truncateText(text, len(string([]rune(text)[:n])))
}

// listUnmerged names the tickets that are missing in the pull request.
func listUnmerged(t *company.Task) (out []string) {
	for _, sub := range t.Subtasks {
		if sub.Merged == "" {
			out = append(out, sub.Planned.Title+" ("+string(sub.Status)+")")
		}
	}
	return out
}

// listToJudge lists the points that the president must judge, worst first: blocking findings, tests that no longer
// run, decisions made for the president, files that no filter has passed, and changes to the checks.
func listToJudge(task *company.Task, size openSize) []string {
	var out []string
	width := size.judge
	add := func(n int, one, many, first string) {
		if n == 0 {
			return
		}
		text := one
		if n > 1 {
			text = fmt.Sprintf(many, n)
		}
		if first != "" && width > 0 {
			text += ": " + first
			if n > 1 {
				text = strings.TrimSuffix(text, ".") + "; the others below"
			}
		}
		out = append(out, endLine(text))
	}
	blocking, first := openBlocking(task, max(width, 20))
	add(blocking, "1 blocking finding is open", "%d blocking findings are open", first)
	var gone []string
	if task.Gate != nil {
		for _, c := range task.Gate.Result.Checks {
			gone = append(gone, c.Gone...)
		}
	}
	add(len(gone), "1 test of the base no longer runs", "%d tests of the base no longer run", firstSpan(gone))
	if decided := tellDecisions(task, size); decided != "" {
		out = append(out, decided)
	}
	var bypassed []string
	for _, change := range listBypassed(task) {
		bypassed = append(bypassed, change.Path)
	}
	add(len(bypassed), "1 file is stored as written, not as .gitattributes demands",
		"%d files are stored as written, not as .gitattributes demands", firstSpan(bypassed))
	changed := catalog.GateFilesOf(task)
	add(len(changed), "1 file that the checks are made of is changed", "%d files that the checks are made of are changed",
		firstSpan(changed))
	var added []string
	for _, d := range task.Dependencies {
		added = append(added, d.Name)
	}
	add(len(added), "1 package is new", "%d packages are new", firstSpan(added))
	add(len(task.Refused()), "1 run reached for what it may not have", "%d runs reached for what they may not have", "")
	return out
}

func firstSpan(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return shortSpan(names[0], 60)
}

// endLine adds a full stop unless a line already ends like a sentence, or leads to the next line.
func endLine(s string) string {
	if last, _ := utf8.DecodeLastRuneInString(s); strings.ContainsRune(".…?!:;", last) {
		return s
	}
	return s + "."
}

// openBlocking counts the findings above minor that no later review settled. It returns the first in at most width
// characters.
func openBlocking(task *company.Task, width int) (n int, first string) {
	count := func(reviewState company.ReviewState) {
		for index, finding := range reviewState.Findings() {
			newest := index >= len(reviewState.Past)
			if finding.Severity == company.Minor || finding.Status == company.FindingRejected ||
				finding.Status == company.FindingMended ||
				!newest && finding.Status == company.FindingConfirmed && reviewState.Last != nil &&
					!isListedAgain(finding.Finding, reviewState.Last) {
				continue // a later review approved the fix
			}
			if !newest && isListedAgain(finding.Finding, reviewState.Last) {
				continue // it is counted there
			}
			if n++; n == 1 {
				first = shortenPlain(strings.TrimSpace(finding.Where()+" "+finding.What), width)
			}
		}
	}
	for _, sub := range task.Subtasks {
		if sub.Merged != "" {
			count(sub.Review)
		}
	}
	if task.CarriedFrom() == nil {
		count(task.Review)
	}
	return n, first
}
