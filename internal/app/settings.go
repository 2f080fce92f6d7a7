package app

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"company/internal/company"
	"company/internal/config"
	"company/internal/gates"
)

// CompanySettings are the parts of the config that decisions depend on.
func CompanySettings(c config.Config) company.Settings {
	return company.Settings{
		Cap: c.BudgetCap(len(UnpricedModels(c)) == 0), Plan: company.Mode(c.Approvals.Plan), Merge: company.Mode(c.Approvals.Merge), PR: company.Mode(c.Approvals.PR), Deps: company.Mode(c.Approvals.Deps),
		Paths: c.Git.Paths, NoGates: c.Gates.None, Protected: protectedSetting(c.Gates.Protected), ProtectTests: c.Gates.ProtectTests, RedGreen: c.Gates.RedGreen, IntegrationPrefix: c.Git.IntegrationBranch,
		RunTimeout: c.Workers.RunTimeout, ModelWait: zeroAsNone(c.Limits.ModelWait), Continuations: zeroAsNone(c.Limits.Continuations),
		RunRetries: c.Limits.RunRetries, GateRetries: c.Limits.GateRetries, ReviewRounds: c.Limits.ReviewRounds, Conflicts: c.Limits.Conflicts,
		MergeStack: c.Limits.MergeStack, Exclusive: c.Limits.Exclusive, EscalateTo: c.Agents.Worker.EscalateTo, Agents: BindAgents(c),
		Granularity: company.Granularity{MaxSubtasks: c.Plan.MaxSubtasks, MaxWriteSet: c.Plan.MaxWriteSet, MaxEffort: c.Plan.MaxEffort, AllowTiny: c.Plan.AllowTiny},
		Way:         c.Plan.Way, ConfirmReview: confirmSetting(c.Review.Confirm), Generate: generateSetting(c.Gates.Generate), History: historySetting(c.Git.History),
	}
}

// protectedSetting is what gates.protected says, in both forms that Unicode has for a letter with a mark: a person
// types the composed one, a checkout of macOS may have tracked the other, and to git these are two paths.
func protectedSetting(globs []string) (out []string) {
	for _, g := range globs {
		out = append(out, g)
		for _, form := range []norm.Form{norm.NFC, norm.NFD} {
			if other := form.String(g); !slices.Contains(out, other) {
				out = append(out, other)
			}
		}
	}
	return out
}

// generateSetting is what gates.generate says; the config was checked.
func generateSetting(entries []string) (out []company.GenerateRule) {
	for _, e := range entries {
		if globs, command, err := config.ParseGenerate(e); err == nil {
			out = append(out, company.GenerateRule{Paths: globs, Command: command})
		}
	}
	return out
}

// historySetting is empty for squash, the default of the core.
func historySetting(value string) string {
	if value == company.HistorySquash {
		return ""
	}
	return value
}

// confirmSetting is empty for off, so that tasks are stored as ever where nothing is set.
func confirmSetting(value string) string {
	if value == company.ConfirmOff {
		return ""
	}
	return value
}

// settingsOfTasks are the keys that are read for each task anew: those of CompanySettings
// and of intakeProject, and the base.
var settingsOfTasks = []string{
	"agents.worker.escalate_to",
	"agents.manager.model", "agents.worker.model", "agents.reviewer.model", "agents.merger.model", "agents.second_reviewer.model",
	"agents.manager.max_turns", "agents.worker.max_turns", "agents.reviewer.max_turns", "agents.merger.max_turns", "agents.second_reviewer.max_turns",
	"agents.manager.persona", "agents.worker.persona", "agents.reviewer.persona", "agents.merger.persona", "agents.second_reviewer.persona",
	"approvals.plan", "approvals.merge", "approvals.pr", "approvals.deps", "budget.usd", "budget.tokens",
	"container.image", "container.dockerfile", "container.setup", "container.deps", "deps.scripts", "deps.without",
	"gates.generate", "gates.lint", "gates.types", "gates.build", "gates.test", "gates.none", "gates.services", "gates.protect_tests", "gates.protected", "gates.red_green",
	"git.base", "git.paths", "git.integration_branch", "git.history", "limits.model_wait", "limits.continuations", "limits.run_retries", "limits.gate_retries", "limits.review_rounds", "limits.conflicts", "limits.merge_stack", "limits.exclusive",
	"plan.way", "plan.max_subtasks", "plan.max_write_set", "plan.max_effort", "plan.allow_tiny", "review.confirm", "workers.run_timeout",
}

// settingsOfModels are the keys of a model profile that are read for each task anew.
var settingsOfModels = []string{"adapter", "model", "fallback", "context_tokens", "max_output", "temperature", "tools"}

// IsSettingOfTasks reports whether a company at work takes a key's new value for the
// tasks that begin after the change. It reads the other keys when it starts.
func IsSettingOfTasks(key string) bool {
	if rest, ok := strings.CutPrefix(key, "models."); ok {
		_, of, _ := strings.Cut(rest, ".")
		return slices.Contains(settingsOfModels, of)
	}
	return slices.Contains(settingsOfTasks, key)
}

// zeroAsNone translates 0 for the core, where a zero stands for the default.
func zeroAsNone[T int | time.Duration](n T) T {
	if n == 0 {
		return -1
	}
	return n
}

// ProjectOf names the project of a checkout.
func ProjectOf(path string) company.Project {
	return company.Project{ID: config.CheckoutID(path), Path: path}
}

// ToOverride is the config's word on a gate, for the gates.
func ToOverride(c config.Command) gates.CommandOverride {
	switch c.Mode {
	case config.Auto:
		return gates.Auto
	case config.None:
		return gates.None
	}
	if c.Argv != nil {
		return gates.QuoteArgs(c.Argv)
	}
	return gates.CommandOverride(c.Line)
}
