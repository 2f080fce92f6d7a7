package prbody

import "company/internal/company"

// prTakenIn lists commits by other people that the task took in before its push.
func prTakenIn(task *company.Task, prOptions PROptions) string {
	var rows [][]string
	for _, sub := range task.Subtasks {
		if sub.TakenIn == nil || sub.Merged == "" {
			continue
		}
		commits := sub.TakenIn.Delivered.Short() + ".." + sub.TakenIn.Now.Short()
		rows = append(
			rows, []string{string(sub.ID), escapeWithin(company.DescribeTakenIn(*sub.TakenIn), 500), codeSpan(commits)})
	}
	if len(rows) == 0 {
		return ""
	}
	table := markdownTable(prOptions, []string{"ticket", "what happened", "commits"}, rows)
	return "## Other people's commits\n\n" + table +
		"\n\nThey went through the gates, the review and the merge queue as a ticket of their own.\n"
}
