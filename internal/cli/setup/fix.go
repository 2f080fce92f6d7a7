package setup

import (
	"context"
	"fmt"
	"strings"

	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/diagnose"
	"company/internal/safetext"
)

// fixOptions say whether doctor writes what it proposes, and where.
type fixOptions struct {
	on      bool
	project bool // into the project's company.yaml
}

// fixedLine is what became of one proposed line.
type fixedLine struct {
	company.ConfigLine
	State string `json:"state"` // written, declined, or kept: its key is set already
	Diff  string `json:"diff,omitempty"`
	Note  string `json:"note,omitempty"`
}

// runFix writes the lines that the checks propose. What was written before a line that cannot be
// written stays written: each line mends something of its own.
func runFix(ctx context.Context, env *command.Environment, o diagnose.Options, fix fixOptions) error {
	if !fix.on {
		return company.E(company.EUsage, "--project is for --fix alone").Fix("company doctor --fix --project")
	}
	checking, cancel := context.WithTimeout(ctx, o.Timeout())
	defer cancel()
	subject := env.Subject(checking)
	switch {
	case subject.CheckoutErr != nil:
		return subject.CheckoutErr
	case subject.ConfigErr != nil:
		return subject.ConfigErr
	}
	lines := diagnose.ProposedLines(diagnose.Run(checking, env.Checker().Checks(subject, o)))
	done := []fixedLine{}
	for _, l := range lines {
		one, err := fixLine(ctx, env, subject, fix, l)
		if err != nil {
			return err
		}
		if one.State != "" {
			done = append(done, one)
		}
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "lines": done})
	}
	if len(done) == 0 {
		fmt.Fprintln(env.Out, "nothing is to do: no check proposes a line that is not there")
	}
	return nil
}

// fixLine shows a line as a change of its file, and writes it after a yes. A line that holds
// already gives no state.
func fixLine(ctx context.Context, env *command.Environment, subject diagnose.Subject, fix fixOptions, l company.ConfigLine) (fixedLine, error) {
	show := func(format string, args ...any) {
		if env.Output != "json" {
			fmt.Fprintf(env.Out, format, args...)
		}
	}
	plan, err := env.PlanLine(ctx, subject.Paths, subject.Checkout, fix.project, l)
	one := fixedLine{ConfigLine: plan.Line, Diff: plan.Diff}
	switch {
	case company.CodeOf(err) == company.EConflict:
		r := diagnose.ErrorResult(err)
		one.ConfigLine, one.State, one.Note = l, "kept", r.Found
		show("%s: %s\n", l.Key, safetext.EscapeLine(r.Found+"; "+r.Fix, 600))
		return one, nil
	case err != nil || plan.Holds:
		return one, err
	}
	show("%s", safetext.Escape(plan.Diff))
	if l.Why != "" {
		show("  since %s\n", safetext.EscapeLine(l.Why, 300))
	}
	if !env.Yes {
		again := "company doctor --fix --yes"
		if fix.project {
			again = "company doctor --fix --project --yes"
		}
		if !env.CanPrompt() {
			return one, company.E(company.EWaiting, l.Key+" is not written").Because("nobody is there who could say yes").Fix(again)
		}
		yes, err := env.Confirm(ctx, "write it? [y/N] ")
		if err != nil {
			return one, err
		}
		if !yes {
			one.State = "declined"
			show("not written\n")
			return one, nil
		}
	}
	requests, err := env.WriteLine(ctx, plan)
	if err != nil {
		return one, err
	}
	one.State = "written"
	if len(requests) > 0 {
		var keys []string
		for _, r := range requests {
			keys = append(keys, r.Key)
		}
		one.Note = "the file asks for what needs your trust (" + strings.Join(keys, ", ") + "): it counts after company trust"
		show("written; %s\n", one.Note)
		return one, nil
	}
	show("written: it counts for tasks that begin from now on\n")
	return one, nil
}
