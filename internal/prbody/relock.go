package prbody

import "company/internal/company"

// prRemade are the files that their own programs made anew, since several tickets had
// changed them: no ticket and no review of one has this text.
func prRemade(t *company.Task, o PROptions) string {
	var rows [][]string
	for _, sub := range t.Subtasks {
		if sub.Merged == "" || sub.Gate == nil {
			continue
		}
		for _, l := range sub.Gate.Remade {
			rows = append(rows, []string{codeSpan(l.Path), codeSpan(l.Command), string(sub.ID)})
		}
	}
	if len(rows) == 0 {
		return ""
	}
	return "## Files made anew\n\n" + markdownTable(o, []string{"file", "by", "at the merge of"}, rows) +
		"\n\nTwo tickets changed them; their own programs made them of what both have, and the gates judged that.\n"
}
