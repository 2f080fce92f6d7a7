package task

import (
	"context"
	"fmt"

	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/detach"
	"company/internal/mcpserver"
	"company/internal/office"
)

// submitDetached gives the submission to a company that goes on without this terminal.
// text is its instruction.
func submitDetached(ctx context.Context, env *command.Environment, paths office.Paths, o submitOptions, cmd company.Command, text string) error {
	taken, err := giveAway(ctx, env, paths, o, cmd, text)
	if err != nil {
		return err
	}
	return printDetached(env, taken)
}

func giveAway(ctx context.Context, env *command.Environment, paths office.Paths, o submitOptions, cmd company.Command, text string) (detach.Taken, error) {
	return detach.Submit(ctx, env.Entrance, paths, detach.Submission{
		Args: resubmitArgs(env, o), Instruction: text, Command: cmd, ID: o.commandID, Task: company.TaskID(o.plan),
	})
}

// SubmitApart does for a program what company submit --detach does for a person: the task
// has its id when it returns.
func SubmitApart(ctx context.Context, env *command.Environment, s mcpserver.Submission) (detach.Taken, error) {
	o := submitOptions{
		project: s.Project, base: s.Base, follows: s.Follows, priority: s.Priority, deadline: s.Deadline, tags: s.Tags, dryRun: s.DryRun, detach: true, commandID: s.ID,
	}
	if s.BudgetUSD > 0 {
		env.ConfigFlags = append(env.ConfigFlags, fmt.Sprintf("budget.usd=%.6f", s.BudgetUSD))
	}
	if s.BudgetTokens != "" {
		tokens, err := parseTokens(s.BudgetTokens)
		if err != nil {
			return detach.Taken{}, err
		}
		env.ConfigFlags = append(env.ConfigFlags, fmt.Sprintf("budget.tokens=%d", tokens))
	}
	a, err := checkSubmission(ctx, env, &o, s.Instruction)
	if err != nil {
		return detach.Taken{}, err
	}
	return giveAway(ctx, env, a.paths, o, a.command, s.Instruction)
}

// resubmitArgs are the arguments of the same submission, followed by itself.
func resubmitArgs(env *command.Environment, o submitOptions) []string {
	args := []string{"submit", "--no-input", "--command-id", o.commandID}
	if o.plan == "" {
		args = append(args, "--file", "-")
	}
	add := func(flag, v string) {
		if v != "" {
			args = append(args, flag, v)
		}
	}
	add("--office", env.OfficeDir)
	add("--repo", env.RepoDir)
	add("--project", o.project)
	add("--base", o.base)
	add("--follows", o.follows)
	add("--plan", o.plan)
	add("--priority", o.priority)
	add("--deadline", o.deadline)
	for _, tag := range o.tags {
		add("--tag", tag)
	}
	add("--confirmed-issue", o.confirmed)
	if o.dryRun {
		args = append(args, "--dry-run")
	}
	if env.Yes {
		args = append(args, "--yes")
	}
	for _, kv := range env.ConfigFlags {
		add("--set", kv)
	}
	return args
}

func printDetached(env *command.Environment, taken detach.Taken) error {
	if env.Output == "json" {
		v := map[string]any{"schema_version": 1, "task": taken.Task}
		if taken.Log != "" {
			v["log"] = taken.Log
		}
		return env.PrintJSON(env.Out, v)
	}
	where := ""
	if taken.Log != "" {
		where = "; log: " + taken.Log
	}
	_, err := fmt.Fprintf(env.Out, "%s is under way%s\nwatch it: company feed --follow %s\n", taken.Task, where, taken.Task)
	return err
}
