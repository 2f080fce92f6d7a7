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
		Use: "doctor", Short: "Check that this machine and this office can work",
		Example: "  company doctor\n  company doctor --all\n  company doctor --online -o json\n  company doctor --deep\n  " +
			"company doctor --fix",
		Long: `Each check tells what it found, what is needed, and how to put it right; the last
line lists the faults to mend. ! is a warning: work goes on, but look at it;
? could not be checked. Nothing outside of
this machine is asked without --online, which costs some tokens of each model. The checks that
passed are one number; --all shows them. JSON has all of them, without --quiet.

--deep reads the whole ledger and every blob and holds them to their hashes, of an
office at rest and of one that is at work. That takes as long as the disk needs for
all of it. Nothing else reads all that is stored: ask for it before you rely on a copy.

--fix writes the lines of the config that the checks propose: each is shown as a change
of its file and written after your yes, with --yes at once. The file is your own for this
repository, or with --project its company.yaml. A key that is set keeps its value.

--list-orphans lists containers of ours that no company looks after any more.
It removes none: those of this office go with its next start.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if orphans {
				return listOrphans(c.Context(), env)
			}
			if project && !fix {
				return company.E(company.EUsage, "--project is for --fix alone").Fix("company doctor --fix --project")
			}
			if fix {
				return runFix(c.Context(), env, options, project)
			}
			return runDoctor(c.Context(), env, options, whole)
		},
	}
	cmd.Flags().BoolVar(&options.Deep, "deep", false,
		"also read the whole ledger and every blob, and hold them to their hashes")
	cmd.Flags().BoolVar(&options.Online, "online", false,
		"also ask the models' servers, each model for a short reply, the git remote, the forge and the project's registries")
	cmd.Flags().BoolVar(&fix, "fix", false, "write the lines of the config that the checks propose, each shown before")
	cmd.Flags().BoolVar(&project, "project", false, "with --fix: write them into the project's company.yaml")
	cmd.Flags().BoolVar(&whole, "all", false, "also show the checks that passed")
	cmd.Flags().BoolVar(&orphans, "list-orphans", false, "list containers without a company, and check nothing")
	return cmd
}

func runFix(ctx context.Context, env *command.Environment, o diagnose.Options, project bool) error {
	lines, err := foreground.FixLines(ctx, env.Entrance, o, project)
	if err == nil && env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "lines": lines})
	}
	if err == nil && len(lines) == 0 {
		fmt.Fprintln(env.Out, "nothing is to do: no check proposes a line that is not there")
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
