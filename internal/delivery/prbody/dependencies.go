package prbody

import "company/internal/company"

// prDependencies lists the packages that the work added. They are new third-party code that the diff shows only as a
// few lines of a lock file.
func prDependencies(task *company.Task, prOptions PROptions) string {
	var rows [][]string
	for _, before := range append(append([]*company.Task(nil), prOptions.EarlierTasks...), task) {
		for _, d := range before.Dependencies {
			rows = append(rows, []string{escapeMarkdown(d.Ecosystem), codeSpan(d.Name), codeSpan(d.Version)})
		}
	}
	if len(rows) == 0 {
		return ""
	}
	prOptions.maxRows = max(prOptions.maxRows, company.MaxDependencies) // few rows, and all are important for the reader
	return "## Added dependencies\n\n" + markdownTable(prOptions, []string{"registry", "name", "version"}, rows) +
		"\n\nAsked for by a worker; what they need themselves came with them.\n"
}
