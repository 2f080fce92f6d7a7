package task

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"company/internal/app/hostops"
	"company/internal/company"
	"company/internal/office"
	"company/internal/office/attachment"
	"company/internal/present/view"
	"company/internal/surface/background"
	"company/internal/surface/cli/command"
	"company/internal/surface/foreground"
	"company/internal/surface/officeaccess"
)

// submitDetached hands the submission to a company that outlives this terminal. text is the
// instruction.
func submitDetached(
	ctx context.Context, env *command.Environment, paths office.Paths, options submitOptions, cmd company.Command,
	text string,
) error {
	taken, err := giveAway(ctx, env, paths, options, cmd, text)
	if err != nil {
		return err
	}
	if options.watch {
		sums, err := foreground.WatchSubmitted(ctx, env.Entrance, taken.Task, inBackground{env})
		if err != nil || len(sums) > 0 {
			return cmp.Or(err, printSummaries(env, sums))
		}
	}
	return printDetached(env, taken, cmd)
}

// inBackground submits and continues tasks in a background process, for the terminal UI.
type inBackground struct{ env *command.Environment }

// NewBackground returns the Background for tasks that the terminal UI submits.
func NewBackground(env *command.Environment) foreground.Background { return inBackground{env} }

// Submit submits an instruction like company submit --detach.
func (b inBackground) Submit(ctx context.Context, s view.Submission) (company.TaskID, error) {
	taken, err := SubmitApart(ctx, hostops.New(b.env.Entrance, PrepareSubmission).NewCall(), s)
	return taken.Task, err
}

// GoOn resumes a task with a company in the background.
func (b inBackground) GoOn(ctx context.Context, task company.TaskID) error {
	paths, err := b.env.FindOffice()
	if err != nil {
		return err
	}
	return GoOnApart(ctx, b.env.Entrance, paths, task)
}

// addPlaceArgs appends the office and config flags of env to the arguments of a command.
func addPlaceArgs(env *command.Environment, args ...string) []string {
	if env.OfficeDir != "" {
		args = append(args, "--office", env.OfficeDir)
	}
	if env.RepoDir != "" {
		args = append(args, "--repo", env.RepoDir)
	}
	for _, kv := range env.ConfigFlags {
		args = append(args, "--set", kv)
	}
	return args
}

func giveAway(
	ctx context.Context, env *command.Environment, paths office.Paths, options submitOptions, cmd company.Command,
	text string,
) (background.Taken, error) {
	return background.Submit(ctx, env.Entrance, paths, background.Submission{
		Args: resubmitArgs(env, options), Instruction: text, Files: options.files, Command: cmd, ID: options.commandID,
		Task: company.TaskID(options.plan),
	})
}

// SubmitApart submits like company submit --detach, for a program. The task has its id when it
// returns.
func SubmitApart(
	ctx context.Context, ent *officeaccess.Entrance, submission view.Submission,
) (background.Taken, error) {
	env := &command.Environment{Console: ent.Console, Entrance: ent}
	options, err := chooseOptions(env, submission)
	if err != nil {
		return background.Taken{}, err
	}
	acceptable, err := checkSubmission(ctx, env, &options, submission.Instruction)
	if err = cmp.Or(err, acceptable.seen.Numbers.Choose(ctx, &acceptable.command, env.PrintNote)); err != nil {
		return background.Taken{}, err
	}
	return giveAway(ctx, env, acceptable.paths, options, acceptable.command, submission.Instruction)
}

// GoOnApart starts a company in the background for a task if no company is running. If no company
// holds the office in time, it returns EHeld.
func GoOnApart(ctx context.Context, ent *officeaccess.Entrance, paths office.Paths, id company.TaskID) error {
	return background.GoOn(ctx, ent, paths,
		addPlaceArgs(&command.Environment{Console: ent.Console, Entrance: ent}, "resume", string(id), "--no-input"))
}

// PrepareSubmission validates an instruction like company submit and returns its command.
func PrepareSubmission(
	ctx context.Context, ent *officeaccess.Entrance, submission view.Submission,
) (company.Submit, error) {
	env := &command.Environment{Console: ent.Console, Entrance: ent}
	if strings.TrimSpace(submission.Instruction) == "" {
		return company.Submit{}, company.E(company.EUsage, "the instruction is empty").Fix("say what to do")
	}
	options, err := chooseOptions(env, submission)
	if err != nil {
		return company.Submit{}, err
	}
	acceptable, err := checkSubmission(ctx, env, &options, submission.Instruction)
	err = cmp.Or(err, acceptable.seen.Numbers.Choose(ctx, &acceptable.command, env.PrintNote))
	return acceptable.command, err
}

// chooseOptions converts the fields of a submission into flags. Fields that are config keys become
// config flags of env.
func chooseOptions(env *command.Environment, submission view.Submission) (submitOptions, error) {
	options := submitOptions{
		project: submission.Project, base: submission.Base, follows: submission.Follows, after: submission.After,
		priority: submission.Priority, deadline: submission.Deadline,
		tags: submission.Tags, dryRun: submission.DryRun,
		approve: submission.Approve, budgetUSD: submission.BudgetUSD, tokens: submission.BudgetTokens, detach: true,
		commandID: submission.ID,
	}
	for _, f := range submission.Attachments {
		options.files = append(options.files,
			company.AttachedFile{Attachment: company.Attachment{Name: f.Name}, Content: f.Content})
	}
	var err error
	if options.files, err = attachment.Inspect(options.files); err != nil {
		return options, err
	}
	return options, addConfigFlags(env, options, submission.BudgetUSD != 0, submission.BudgetTokens != "")
}

// resubmitArgs returns the arguments of a process that makes the same submission without
// detaching.
func resubmitArgs(env *command.Environment, options submitOptions) []string {
	args := []string{"submit", "--no-input", "--command-id", options.commandID}
	switch {
	case options.plan != "":
	case len(options.files) > 0:
		args = append(args, "--packed")
	default:
		args = append(args, "--file", "-")
	}
	add := func(flag, v string) {
		if v != "" {
			args = append(args, flag, v)
		}
	}
	add("--project", options.project)
	add("--base", options.base)
	add("--follows", options.follows)
	for _, id := range options.after {
		add("--after", id)
	}
	add("--plan", options.plan)
	add("--priority", options.priority)
	add("--deadline", options.deadline)
	for _, tag := range options.tags {
		add("--tag", tag)
	}
	add("--confirmed-issue", options.confirmed)
	if options.dryRun {
		args = append(args, "--dry-run")
	}
	if env.Yes {
		args = append(args, "--yes")
	}
	return addPlaceArgs(env, args...)
}

// printDetached prints that a company has accepted the submission.
func printDetached(env *command.Environment, taken background.Taken, cmd company.Command) error {
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
	state := "is submitted"
	if s, ok := cmd.(company.Submit); ok && len(s.After) > 0 {
		state = "starts when merged: " + view.JoinIDs(s.After)
	}
	_, err := fmt.Fprintf(env.Out, "%s %s%s\nwatch it: company watch %s\n", taken.Task, state, where, taken.Task)
	return err
}
