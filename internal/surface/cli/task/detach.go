package task

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"company/internal/api/client"
	"company/internal/app/hostops"
	"company/internal/company"
	"company/internal/office"
	"company/internal/office/attachment"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/foreground"
	"company/internal/surface/officeaccess"
)

// submitDetached sends a command that starts work to a company in the background. task is the task that
// the command is about, if it exists already.
func submitDetached(
	ctx context.Context, env *command.Environment, paths office.Paths, options submitOptions, cmd company.Command,
	task company.TaskID,
) error {
	taken, err := sendToBackground(ctx, env.Entrance, paths, options.commandID, cmd)
	if err != nil {
		return err
	}
	task = cmp.Or(taken, task)
	if options.watch {
		sums, err := foreground.WatchSubmitted(ctx, env.Entrance, task, NewSubmitter(env))
		if err != nil || len(sums) > 0 {
			return cmp.Or(err, printSummaries(env, sums))
		}
	}
	return printDetached(env, task, cmd)
}

// sendToBackground starts the work of the office in the background and sends it a command. It returns the task
// of a submission.
func sendToBackground(
	ctx context.Context, ent *officeaccess.Entrance, paths office.Paths, id string, cmd company.Command,
) (company.TaskID, error) {
	var task company.TaskID
	err := ent.InBackground().UseForWork(ctx, paths, func(conn *client.Office) error {
		paused, err := conn.StartWork(ctx)
		if err != nil {
			return err
		}
		ent.Console.PrintNotes(view.RecoveryNotes(paused))
		done, err := conn.Do(ctx, id, cmd)
		task = done.Task
		return err
	})
	return task, err
}

// answerBefore sets the answers of --yes to the questions before the work, which a detached submission asks nobody.
func answerBefore(settings *company.Settings) {
	if settings.NoGates == "ask" {
		settings.NoGates = "allow"
	}
	if settings.Plan == company.Ask {
		settings.Plan = company.Auto
	}
}

// NewSubmitter returns the function that submits what a user of the terminal UI enters.
func NewSubmitter(env *command.Environment) foreground.Submitter {
	return func(ctx context.Context, s view.Submission) (company.TaskID, error) {
		return SubmitInBackground(ctx, hostops.New(env.Entrance, PrepareSubmission).NewCall(), s)
	}
}

// SubmitInBackground submits like company submit --detach, for a program. It returns the task.
func SubmitInBackground(
	ctx context.Context, ent *officeaccess.Entrance, submission view.Submission,
) (company.TaskID, error) {
	env := &command.Environment{Console: ent.Console, Entrance: ent}
	options, acceptable, err := prepareSubmission(ctx, env, submission)
	if err != nil {
		return "", err
	}
	return sendToBackground(ctx, ent, acceptable.paths, options.commandID, acceptable.command)
}

// PrepareSubmission validates an instruction like company submit and returns its command.
func PrepareSubmission(
	ctx context.Context, ent *officeaccess.Entrance, submission view.Submission,
) (company.Submit, error) {
	_, acceptable, err := prepareSubmission(ctx, &command.Environment{Console: ent.Console, Entrance: ent}, submission)
	return acceptable.command, err
}

// prepareSubmission validates a submission of a program.
func prepareSubmission(
	ctx context.Context, env *command.Environment, submission view.Submission,
) (options submitOptions, accepted acceptable, err error) {
	if strings.TrimSpace(submission.Instruction) == "" {
		return options, accepted, company.E(company.EUsage, "the instruction is empty").Fix("say what to do")
	}
	if options, err = chooseOptions(env, submission); err != nil {
		return options, accepted, err
	}
	accepted, err = checkSubmission(ctx, env, &options, submission.Instruction)
	return options, accepted, cmp.Or(err, accepted.seen.Numbers.Choose(ctx, &accepted.command, env.PrintNote))
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

// printDetached prints that a company has accepted the submission.
func printDetached(env *command.Environment, task company.TaskID, cmd company.Command) error {
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "task": task})
	}
	state := "is submitted"
	if s, ok := cmd.(company.Submit); ok && len(s.After) > 0 {
		state = "starts when merged: " + view.JoinIDs(s.After)
	}
	_, err := fmt.Fprintf(env.Out, "%s %s\nwatch it: company watch %s\n", task, state, task)
	return err
}
