package task

import (
	"os"
	"path/filepath"

	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/config"
	"company/internal/diagnose"
	"company/internal/office"
	"company/internal/safetext"
)

// printBanner prints the repository, the agents and the limits, before anything
// is made.
func printBanner(env *command.Environment, paths office.Paths, c config.Config, cmd company.Submit, seen diagnose.RepoCheck) {
	base := seen.Base
	env.PrintNote("company %s  %s  base %s@%s (%s)", command.Version, diagnose.RepoName(base.RemoteURL, cmd.Project.Path), base.Branch, base.OID.Short(), diagnose.BaseState(c, base))
	env.PrintNote("agents  %s", diagnose.AgentsLine(c, seen.Model))
	for _, doubt := range seen.ModelWarnings {
		env.PrintNote("!       %s", safetext.EscapeLine(doubt, 300))
	}
	for i, line := range diagnose.BannerLines(c, seen) {
		title := "tests"
		if i > 0 {
			title = ""
		}
		env.PrintNote("%-7s %s", title, line)
	}
	env.PrintNote("budget  %s   approvals %s   office %s   stop: Ctrl-C", diagnose.BudgetLine(c, cmd.Settings.WithDefaults().Cap, seen.Model), diagnose.ApprovalsLine(cmd.Settings), safetext.EscapeLine(shortPath(paths.Root), 300))
}

// shortPath is a path as seen from where one stands, if that is shorter.
func shortPath(p string) string {
	wd, err := os.Getwd()
	if err != nil {
		return p
	}
	rel, err := filepath.Rel(wd, p)
	if err != nil || len(rel) >= len(p) {
		return p
	}
	return rel
}
