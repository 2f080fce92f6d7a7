package prbody

import "company/internal/company"

// prSubtasks lists what the work was split into, and the commit of each.
func prSubtasks(t *company.Task, o PROptions) string {
	if len(t.Subtasks) < 2 { // of the only one What changed tells it
		return ""
	}
	var rows [][]string
	for _, s := range t.Subtasks {
		commit := s.Merged.Short()
		if s.Merged == "" {
			commit = string(s.Status)
		}
		rows = append(rows, []string{string(s.ID), escapeWithin(s.Planned.Title, 200), commit})
	}
	return "## Subtasks\n\n" + markdownTable(o, []string{"ticket", "title", "commit"}, rows)
}
