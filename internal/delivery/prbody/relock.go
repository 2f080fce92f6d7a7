package prbody

import "company/internal/company"

// prRemade lists files that their own programs regenerated because several tickets had changed them. No ticket and no
// review of a ticket contains this text.
func prRemade(task *company.Task, prOptions PROptions) string {
	var rows [][]string
	kept := ""
	for _, sub := range task.Subtasks {
		if sub.Merged == "" || sub.Gate == nil {
			continue
		}
		for _, l := range sub.Gate.Remade {
			if l.Command == company.KeptByRule {
				kept = " By `" + company.KeptByRule + "` of .gitattributes the file stays as the branch had it, and the ticket's " +
					"change to it is left out.\n"
			}
			rows = append(rows, []string{codeSpan(l.Path), codeSpan(l.Command), string(sub.ID)})
		}
	}
	if len(rows) == 0 {
		return ""
	}
	return "## Regenerated files\n\n" + markdownTable(prOptions, []string{"file", "by", "at the merge of"}, rows) +
		"\n\nTwo tickets changed them; their own programs made them of what both have, and the gates judged that.\n" +
		kept
}
