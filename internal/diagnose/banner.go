package diagnose

import (
	"fmt"
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
