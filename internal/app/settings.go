package app

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"company/internal/company"
	"company/internal/gates"
	"company/internal/office/config"
)

// CompanySettings returns the part of the config that decisions depend on.
func CompanySettings(cfg config.Config) company.Settings {
	return company.Settings{
		Cap: cfg.BudgetCap(len(UnpricedModels(cfg)) == 0), Plan: company.Mode(cfg.Approvals.Plan),
		Merge: company.Mode(cfg.Approvals.Merge), PR: company.Mode(cfg.Approvals.PR), Deps: company.Mode(cfg.Approvals.Deps),
		Paths: cfg.Git.Paths, Commands: cfg.Workers.Commands,
		NoGates: cfg.Gates.None, Protected: protectedSetting(cfg.Gates.Protected),
		ProtectTests: cfg.Gates.ProtectTests, RedGreen: cfg.Gates.RedGreen, IntegrationPrefix: cfg.Git.IntegrationBranch,
		RunTimeout: cfg.Workers.RunTimeout, ModelWait: zeroAsNone(cfg.Limits.ModelWait),
		Continuations: zeroAsNone(cfg.Limits.Continuations),
		RunRetries:    cfg.Limits.RunRetries, GateRetries: cfg.Limits.GateRetries, ReviewRounds: cfg.Limits.ReviewRounds,
		Conflicts:  cfg.Limits.Conflicts,
		MergeStack: cfg.Limits.MergeStack, Exclusive: cfg.Limits.Exclusive, EscalateTo: cfg.Agents.Worker.EscalateTo,
		Agents: BindAgents(cfg),
		Granularity: company.Granularity{MaxSubtasks: cfg.Plan.MaxSubtasks, MaxWriteSet: cfg.Plan.MaxWriteSet,
			MaxEffort: cfg.Plan.MaxEffort, AllowTiny: cfg.Plan.AllowTiny},
		Way: cfg.Plan.Way, ConfirmReview: confirmSetting(cfg.Review.Confirm), Generate: generateSetting(cfg.Gates.Generate),
		History: historySetting(cfg.Git.History),
	}
}

// protectedSetting returns gates.protected in both Unicode forms of letters with marks. A person
// types the composed form, a checkout on macOS may have tracked the other, and git treats them as
// two paths.
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

// generateSetting converts gates.generate, which is validated already.
func generateSetting(entries []string) (out []company.GenerateRule) {
	for _, e := range entries {
		if globs, command, err := config.ParseGenerate(e); err == nil {
			out = append(out, company.GenerateRule{Paths: globs, Command: command})
		}
	}
	return out
}

// historySetting returns "" for squash, the default of the core.
func historySetting(value string) string {
	if value == company.HistorySquash {
		return ""
	}
	return value
}

// confirmSetting returns "" for off, so that tasks with the default are stored in the same form as
// before.
func confirmSetting(value string) string {
	if value == company.ConfirmOff {
		return ""
	}
	return value
}

// settingsOfTasks lists the keys that are read again for each task, besides those of the agents: the ones of
// CompanySettings and of intakeProject, and the base.
var settingsOfTasks = []string{
	"approvals.plan", "approvals.merge", "approvals.pr", "approvals.deps", "budget.usd", "budget.tokens",
	"container.image", "container.dockerfile", "container.setup", "container.deps", "deps.scripts", "deps.without",
	"gates.generate", "gates.lint", "gates.types", "gates.build", "gates.test", "gates.none", "gates.services",
	"gates.protect_tests", "gates.protected", "gates.red_green",
	"git.base", "git.paths", "git.integration_branch", "git.history", "limits.model_wait", "limits.continuations",
	"limits.run_retries", "limits.gate_retries", "limits.review_rounds", "limits.conflicts", "limits.merge_stack",
	"limits.exclusive",
	"plan.way", "plan.max_subtasks", "plan.max_write_set", "plan.max_effort", "plan.allow_tiny", "review.confirm",
	"workers.run_timeout",
}

// settingsOfModels lists the keys of a model profile that are read again for each task.
var settingsOfModels = []string{"adapter", "model", "fallback", "context_tokens", "max_output", "temperature", "tools"}

// IsSettingOfTasks reports whether a running company applies a key's new value to tasks that start
// after the change. It reads all other keys only at its start.
func IsSettingOfTasks(key string) bool {
	if rest, ok := strings.CutPrefix(key, "models."); ok {
		_, of, _ := strings.Cut(rest, ".")
		return slices.Contains(settingsOfModels, of)
	}
	return strings.HasPrefix(key, "agents.") || slices.Contains(settingsOfTasks, key)
}

// zeroAsNone converts 0 for the core, in which zero means the default.
func zeroAsNone[T int | time.Duration](n T) T {
	if n == 0 {
		return -1
	}
	return n
}

// ProjectOf returns the project of a checkout.
func ProjectOf(path string) company.Project {
	return company.Project{ID: config.CheckoutID(path), Path: path}
}

// ToOverride converts the config of a gate's command.
func ToOverride(command config.Command) gates.CommandOverride {
	switch command.Mode {
	case config.Auto:
		return gates.Auto
	case config.None:
		return gates.None
	}
	if command.Argv != nil {
		return gates.QuoteArgs(command.Argv)
	}
	return gates.CommandOverride(command.Line)
}
