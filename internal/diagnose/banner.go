package diagnose

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/safetext"
)

// AgentsLine is each profile with its adapter, its model and the roles it is
// for. chosen is the model of the default profile, where the config names none.
func AgentsLine(c config.Config, chosen string) string {
	profiles, users := RolesByProfile(c)
	var parts []string
	for _, name := range profiles {
		m := c.Models[name]
		if name == "default" && chosen != "" {
			m.Model = chosen
		}
		text := m.Adapter
		if m.Model != "" {
			text += " " + m.Model
		}
		if len(profiles) > 1 {
			text += " (" + strings.Join(users[name], ", ") + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// ApprovalsLine is what the president is asked about.
func ApprovalsLine(s company.Settings) string {
	var kinds []string
	for _, k := range []struct {
		name string
		mode company.Mode
	}{{"plan", s.Plan}, {"merge", s.Merge}, {"pr", s.PR}} {
		if k.mode == company.Ask {
			kinds = append(kinds, k.name)
		}
	}
	if len(kinds) == 0 {
		return "none"
	}
	return strings.Join(kinds, ", ")
}

// CheckUSDCap refuses a configured cap in USD that no price can hold, unless a
// cap in tokens stands beside it.
func CheckUSDCap(l config.Loaded) error {
	c := l.Config
	models := officeapp.UnpricedModels(c)
	if len(models) == 0 || c.Budget.USD < 0 || l.Origin["budget.usd"] == config.OriginDefault {
		return nil
	}
	if l.Origin["budget.tokens"] != config.OriginDefault && c.Budget.Tokens >= 0 {
		return nil
	}
	return company.E(company.EUsage, "a cap of "+company.USDText(int64(c.Budget.USD))+" cannot be held").
		Because("no price is known for " + safetext.EscapeLine(strings.Join(models, ", "), 200)).
		Fix("cap its tokens: --budget-tokens 200k; or set models.<name>.price in company.yaml")
}

// BudgetLine is the caps of a task as far as they hold, and what does not.
func BudgetLine(c config.Config, limit company.Amount, chosen string) string {
	models := officeapp.UnpricedModels(c)
	if len(models) == 0 || limit.MicroUSD < 0 {
		return limit.String()
	}
	for i, m := range models {
		if chosen != "" && m == c.Models["default"].Model {
			models[i] = chosen
		}
	}
	held := company.Amount{MicroUSD: company.NoCap, Tokens: limit.Tokens}
	return fmt.Sprintf("%s (no price is known for %s, so %s cannot be held)", held, safetext.EscapeLine(strings.Join(models, ", "), 200), company.USDText(limit.MicroUSD))
}

// SubmissionBanner are the repository, the agents and the limits of a submission, in
// lines, as people read them before anything is made. root is the folder of the office.
func SubmissionBanner(version, root string, c config.Config, cmd company.Submit, seen RepoCheck) []string {
	base := seen.Base
	lines := []string{
		fmt.Sprintf("company %s  %s  base %s@%s (%s)", version, RepoName(base.RemoteURL, cmd.Project.Path), base.Branch, base.OID.Short(), BaseState(c, base)),
		fmt.Sprintf("agents  %s", AgentsLine(c, seen.Model)),
	}
	for _, doubt := range seen.ModelWarnings {
		lines = append(lines, "!       "+safetext.EscapeLine(doubt, 300))
	}
	for i, line := range BannerLines(c, seen) {
		title := "tests"
		if i > 0 {
			title = ""
		}
		lines = append(lines, fmt.Sprintf("%-7s %s", title, line))
	}
	return append(lines, fmt.Sprintf("budget  %s   approvals %s   office %s   stop: Ctrl-C", BudgetLine(c, cmd.Settings.WithDefaults().Cap, seen.Model), ApprovalsLine(cmd.Settings), safetext.EscapeLine(shortPath(root), 300)))
}

// shortPath returns a path relative to the working directory, if that is shorter and names a folder.
func shortPath(p string) string {
	wd, err := os.Getwd()
	if err != nil {
		return p
	}
	rel, err := filepath.Rel(wd, p)
	if err != nil || rel == "." || len(rel) >= len(p) {
		return p
	}
	return rel
}
