package prbody

import "company/internal/company"

// prSubtasks lists the subtasks with their commits.
func prSubtasks(task *company.Task, prOptions PROptions) string {
	if len(task.Subtasks) < 2 { // "What changed" describes the only one
		return ""
	}
	var rows [][]string
	for _, subtask := range task.Subtasks {
		commit := subtask.Merged.Short()
		if subtask.Merged == "" {
			commit = string(subtask.Status)
		}
		rows = append(rows, []string{string(subtask.ID), escapeWithin(subtask.Planned.Title, 200), commit})
	}
	return "## Subtasks\n\n" + markdownTable(prOptions, []string{"ticket", "title", "commit"}, rows)
}
