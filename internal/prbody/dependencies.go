package prbody

import "company/internal/company"

// prDependencies are the packages that the work added: new code of strangers,
// which the diff shows as a few lines of a lock file.
func prDependencies(t *company.Task, o PROptions) string {
	var rows [][]string
	for _, before := range append(append([]*company.Task(nil), o.EarlierTasks...), t) {
		for _, d := range before.Dependencies {
			rows = append(rows, []string{escapeMarkdown(d.Ecosystem), codeSpan(d.Name), codeSpan(d.Version)})
		}
	}
	if len(rows) == 0 {
		return ""
	}
	o.maxRows = max(o.maxRows, company.MaxDependencies) // few, and what a reader must see
	return "## Added dependencies\n\n" + markdownTable(o, []string{"registry", "name", "version"}, rows) +
		"\n\nAsked for by a worker; what they need themselves came with them.\n"
}
