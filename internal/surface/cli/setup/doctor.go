package setup

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/lib/healthcheck"
	"company/internal/surface/cli/command"
	"company/internal/surface/diagnose"
	"company/internal/surface/foreground"
)

// NewDoctor returns the "company doctor" command.
func NewDoctor(env *command.Environment) *cobra.Command {
	var options diagnose.Options
	var orphans, whole bool
	var fix, project bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check this machine and this office for problems",
		Example: "  company doctor\n  company doctor --all\n  company doctor --online -o json\n  company doctor --deep\n  " +
			"company doctor --fix",
		Long: `Each failed check shows what it found, what is needed and how to fix it. The last
line lists what to fix. ! is a warning that does not stop work. ? means that the
check could not be made. Checks that passed are only counted unless --all is given.
JSON lists all checks unless --quiet is given. Only --online contacts other machines,
which costs a few tokens for each model.

--deep verifies the hashes of the whole ledger and of every blob, whether or not
company is running. It reads everything on disk, so it can take long. Run it before
you rely on a copy of the office.

--fix writes the config lines that the checks propose. Each change is shown first and
written after you confirm it, or at once with --yes. The lines go to your own config
file for this repository, or to its company.yaml with --project. Keys that are already
set are not changed.

--list-orphans lists containers whose company process is gone, and removes none. The
next start of this office removes its own.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if orphans {
				return listOrphans(c.Context(), env)
			}
			if project && !fix {
				return company.E(company.EUsage, "--project needs --fix").Fix("company doctor --fix --project")
			}
			if fix {
				return runFix(c.Context(), env, options, project)
			}
			return runDoctor(c.Context(), env, options, whole)
		},
	}
	cmd.Flags().BoolVar(&options.Deep, "deep", false,
		"also verify the hashes of the whole ledger and every blob")
	cmd.Flags().BoolVar(&options.Online, "online", false,
		"also contact the models (each for a short reply), the git remote, the forge and the project's registries")
	cmd.Flags().BoolVar(&fix, "fix", false, "write the config lines that the checks propose, after showing each")
	cmd.Flags().BoolVar(&project, "project", false, "with --fix: write to the project's company.yaml")
	cmd.Flags().BoolVar(&whole, "all", false, "also show the checks that passed")
	cmd.Flags().BoolVar(&orphans, "list-orphans", false, "only list containers whose company process is gone")
	return cmd
}

func runFix(ctx context.Context, env *command.Environment, o diagnose.Options, project bool) error {
	lines, err := foreground.FixLines(ctx, env.Entrance, o, project)
	if err == nil && env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "lines": lines})
	}
	if err == nil && len(lines) == 0 {
		fmt.Fprintln(env.Out, "nothing to fix: no check proposes a new config line")
	}
	return err
}

func runDoctor(ctx context.Context, env *command.Environment, options diagnose.Options, whole bool) error {
	ctx, cancel := context.WithTimeout(ctx, options.Timeout())
	defer cancel()
	findings, code := []healthcheck.Finding{}, command.ExitComplete
	for _, finding := range env.FindFaults(ctx, options) {
		if finding.Status != "pass" || !env.Quiet {
			findings = append(findings, finding)
		}
		switch {
		case finding.Unknown && code == command.ExitComplete:
			code = command.ExitIncomplete
		case !finding.Unknown && !finding.OK && !finding.Warn:
			code = command.ExitError
		}
	}
	if env.Output == "json" {
		if err := env.PrintJSON(env.Out,
			map[string]any{"schema_version": 1, "ok": code == command.ExitComplete, "checks": findings}); err != nil {
			return err
		}
	} else {
		fmt.Fprint(env.Out, diagnose.RenderResults(findings, whole, env.Style(env.Out)))
	}
	if code != command.ExitComplete {
		return &command.CodedError{Code: code}
	}
	return nil
}
