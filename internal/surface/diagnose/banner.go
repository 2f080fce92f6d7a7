package diagnose

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/office/config"
)

// AgentsLine lists each profile with its adapter, its model and, if there are several profiles,
// its roles. chosen replaces the model of the default profile; "" keeps the configured one.
func AgentsLine(cfg config.Config, chosen string) string {
	profiles, users := RolesByProfile(cfg)
	var parts []string
	for _, name := range profiles {
		model := cfg.Models[name]
		if name == "default" && chosen != "" {
			model.Model = chosen
		}
		text := model.Adapter
		if model.Model != "" || model.Program != "" {
			text += " " + model.Model + model.Program
		}
		if len(profiles) > 1 {
			text += " (" + strings.Join(users[name], ", ") + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// ApprovalsLine lists the kinds of approval that the president is asked for, or "none".
func ApprovalsLine(settings company.Settings) string {
	var kinds []string
	for _, k := range []struct {
		name string
		mode company.Mode
	}{{"plan", settings.Plan}, {"merge", settings.Merge}, {"pr", settings.PR}} {
		if k.mode == company.Ask {
			kinds = append(kinds, k.name)
		}
	}
	if len(kinds) == 0 {
		return "none"
	}
	return strings.Join(kinds, ", ")
}

// CheckUSDCap rejects a configured limit in USD for models without a known price, unless a limit
// in tokens is also set.
func CheckUSDCap(loaded config.Loaded) error {
	cfg := loaded.Config
	models := officeapp.UnpricedModels(cfg)
	if len(models) == 0 || cfg.Budget.USD < 0 || loaded.Origin["budget.usd"] == config.OriginDefault {
		return nil
	}
	if loaded.Origin["budget.tokens"] != config.OriginDefault && cfg.Budget.Tokens >= 0 {
		return nil
	}
	return company.E(company.EUsage, "a cap of "+company.USDText(int64(cfg.Budget.USD))+" cannot be enforced").
		Because("no price is known for " + safetext.EscapeLine(strings.Join(models, ", "), 200)).
		Fix("cap the tokens: --budget-tokens 200k; or set models.<name>.price in company.yaml")
}

// BudgetLine describes the limits of a task. Without a known price for a model it adds that the
// USD limit cannot be enforced.
func BudgetLine(cfg config.Config, limit company.Amount, chosen string) string {
	models := officeapp.UnpricedModels(cfg)
	if len(models) == 0 || limit.MicroUSD < 0 {
		return limit.String()
	}
	for i, m := range models {
		if chosen != "" && m == cfg.Models["default"].Model {
			models[i] = chosen
		}
	}
	held := company.Amount{MicroUSD: company.NoCap, Tokens: limit.Tokens}
	return fmt.Sprintf("%s (no price is known for %s, so the limit of %s does not apply)", held,
		safetext.EscapeLine(strings.Join(models, ", "), 200), company.USDText(limit.MicroUSD))
}

// SubmissionBanner returns lines with the repository, the agents and the limits of a submission,
// for people to read before any work starts. root is the folder of the office.
func SubmissionBanner(
	version, root string, cfg config.Config, cmd company.Submit, seen RepoCheck, foreground bool,
) []string {
	base := seen.Base
	lines := []string{
		fmt.Sprintf("company %s  %s  base %s@%s (%s)", version, RepoName(base.RemoteURL, cmd.Project.Path), base.Branch,
			base.OID.Short(), BaseState(cfg, base)),
		fmt.Sprintf("agents  %s", AgentsLine(cfg, seen.Model)),
	}
	for i, line := range BannerLines(cfg, seen) {
		title := "tests"
		if i > 0 {
			title = ""
		}
		lines = append(lines, fmt.Sprintf("%-7s %s", title, line))
	}
	lines = append(lines, "budget  "+BudgetLine(cfg, cmd.Settings.WithDefaults().Cap, seen.Model))
	if kinds := ApprovalsLine(cmd.Settings); kinds != "none" {
		lines = append(lines, "asks    you about: "+kinds)
	}
	if folder := shortPath(root); folder != ".company" {
		lines = append(lines, "office  "+safetext.EscapeLine(folder, 300))
	}
	stop := "company stop; Ctrl-C leaves it running"
	if foreground {
		stop = "Ctrl-C"
	}
	return append(lines, "stop    "+stop)
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
