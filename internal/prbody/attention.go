package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem/catalog"
)

// warnOfRisks is the line on the risks of a merge: parts that are left out, no tests, waived verdicts, and
// checks that verified nothing. Each kind is named at every size; of the last all are counted, and most of
// them named.
func warnOfRisks(t *company.Task, most, width int) string {
	list, unverified := mergeRisks(t)
	if missing := listUnmerged(t); len(missing) > 0 {
		list = append([]string{fmt.Sprintf("**INCOMPLETE**: %d of %s not in it: %s.", len(missing), company.Count(len(t.Subtasks), "ticket"), shortenPlain(strings.Join(missing, ", "), max(width, 40)))}, list...)
	}
	if len(list)+len(unverified) == 0 {
		return ""
	}
	named := unverified[:min(len(unverified), max(1, most-len(list)))]
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

// cutInline cuts a line that is harmless already to at most n characters, outside of entities.
func cutInline(text string, n int) string {
	if len([]rune(text)) <= n {
		return text
	}
	return truncateText(text, len(string([]rune(text)[:n])))
}

// listUnmerged names the tickets that the pull request does not have.
func listUnmerged(t *company.Task) (out []string) {
	for _, sub := range t.Subtasks {
		if sub.Merged == "" {
			out = append(out, sub.Planned.Title+" ("+string(sub.Status)+")")
		}
	}
	return out
}

// listToJudge are what the president has to judge, worst first: findings that block, tests that are gone,
// decisions in their place, and what changes the checks.
func listToJudge(t *company.Task, width int) []string {
	var out []string
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
	blocking, first := openBlocking(t, max(width, 20))
	add(blocking, "1 blocking finding is open", "%d blocking findings are open", first)
	var gone []string
	if t.Gate != nil {
		for _, c := range t.Gate.Result.Checks {
			gone = append(gone, c.Gone...)
		}
	}
	add(len(gone), "1 test of the base no longer runs", "%d tests of the base no longer run", firstSpan(gone))
	first = ""
	decided := t.Decisions()
	if len(decided) > 0 {
		first = shortenPlain(decided[0].Text, max(width, 20))
	}
	add(len(decided), "1 decision was made for you", "%d decisions were made for you", first)
	changed := catalog.GateFilesOf(t)
	add(len(changed), "1 file that the checks are made of is changed", "%d files that the checks are made of are changed", firstSpan(changed))
	var added []string
	for _, d := range t.Dependencies {
		added = append(added, d.Name)
	}
	add(len(added), "1 package is new", "%d packages are new", firstSpan(added))
	add(len(t.Refused()), "1 run reached for what it may not have", "%d runs reached for what they may not have", "")
	return out
}

func firstSpan(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return shortSpan(names[0], 60)
}

// endLine ends a line as a sentence does.
func endLine(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "…") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "!") {
		return s
	}
	return s + "."
}

// openBlocking counts the findings above minor that no later review settled, and tells the first in
// at most width characters.
func openBlocking(t *company.Task, width int) (n int, first string) {
	count := func(r company.ReviewState) {
		for at, f := range r.Findings() {
			newest := at >= len(r.Past)
			if f.Severity == company.Minor || f.Status == company.FindingRejected || !newest && f.Status == company.FindingConfirmed && r.Last != nil && !isListedAgain(f.Finding, r.Last) {
				continue // a later review that approves has seen it mended
			}
			if !newest && isListedAgain(f.Finding, r.Last) {
				continue // it is counted there
			}
			if n++; n == 1 {
				first = shortenPlain(strings.TrimSpace(f.Where()+" "+f.What), width)
			}
		}
	}
	for _, sub := range t.Subtasks {
		if sub.Merged != "" {
			count(sub.Review)
		}
	}
	if t.CarriedFrom() == nil {
		count(t.Review)
	}
	return n, first
}
