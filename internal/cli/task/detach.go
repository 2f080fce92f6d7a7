package task

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"company/internal/attachment"
	"company/internal/attend"
	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/desk"
	"company/internal/detach"
	"company/internal/entrance"
	"company/internal/office"
	"company/internal/view"
)

// submitDetached gives the submission to a company that goes on without this terminal.
// text is its instruction.
func submitDetached(ctx context.Context, env *command.Environment, paths office.Paths, o submitOptions, cmd company.Command, text string) error {
	taken, err := giveAway(ctx, env, paths, o, cmd, text)
	if err != nil {
		return err
	}
	if o.watch {
		sums, err := attend.WatchSubmitted(ctx, env.Entrance, taken.Task, background{env})
		if err != nil || len(sums) > 0 {
			return cmp.Or(err, printSummaries(env, sums))
		}
	}
	return printDetached(env, taken, cmd)
}

// background submits from a terminal that shows screens, and has tasks go on apart from it.
type background struct{ env *command.Environment }

// NewBackground makes the background of tasks that screens submit.
func NewBackground(env *command.Environment) attend.Background { return background{env} }

// Submit gives an instruction away, as company submit --detach does.
func (b background) Submit(ctx context.Context, s view.Submission) (company.TaskID, error) {
	taken, err := SubmitApart(ctx, desk.New(b.env.Entrance, PrepareSubmission).NewCall(), s)
	return taken.Task, err
}

// GoOn has a company in the background resume a task.
func (b background) GoOn(ctx context.Context, task company.TaskID) error {
	paths, err := b.env.FindOffice()
	if err != nil {
		return err
	}
	return GoOnApart(ctx, b.env.Entrance, paths, task)
}

// addPlaceArgs adds the office and the config flags of env to the arguments of a command.
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

func giveAway(ctx context.Context, env *command.Environment, paths office.Paths, o submitOptions, cmd company.Command, text string) (detach.Taken, error) {
	return detach.Submit(ctx, env.Entrance, paths, detach.Submission{
		Args: resubmitArgs(env, o), Instruction: text, Files: o.files, Command: cmd, ID: o.commandID, Task: company.TaskID(o.plan),
	})
}

// SubmitApart does for a program what company submit --detach does for a person: the task
// has its id when it returns.
func SubmitApart(ctx context.Context, ent *entrance.Entrance, s view.Submission) (detach.Taken, error) {
	env := &command.Environment{Console: ent.Console, Entrance: ent}
	o, err := chooseOptions(env, s)
	if err != nil {
		return detach.Taken{}, err
	}
	a, err := checkSubmission(ctx, env, &o, s.Instruction)
	if err = cmp.Or(err, a.seen.Numbers.Choose(ctx, &a.command, env.PrintNote)); err != nil {
		return detach.Taken{}, err
	}
	return giveAway(ctx, env, a.paths, o, a.command, s.Instruction)
}

// GoOnApart starts a company in the background that works on a task, where none is at work.
// Where none has the office in time that is EHeld.
func GoOnApart(ctx context.Context, ent *entrance.Entrance, paths office.Paths, id company.TaskID) error {
	return detach.GoOn(ctx, ent, paths, addPlaceArgs(&command.Environment{Console: ent.Console, Entrance: ent}, "resume", string(id), "--no-input"))
}

// PrepareSubmission checks an instruction as company submit does, and makes its command.
func PrepareSubmission(ctx context.Context, ent *entrance.Entrance, s view.Submission) (company.Submit, error) {
	env := &command.Environment{Console: ent.Console, Entrance: ent}
	if strings.TrimSpace(s.Instruction) == "" {
		return company.Submit{}, company.E(company.EUsage, "the instruction is empty").Fix("say what is to be done")
	}
	o, err := chooseOptions(env, s)
	if err != nil {
		return company.Submit{}, err
	}
	a, err := checkSubmission(ctx, env, &o, s.Instruction)
	err = cmp.Or(err, a.seen.Numbers.Choose(ctx, &a.command, env.PrintNote))
	return a.command, err
}

// chooseOptions turns the fields of a submission into flags, and those that are keys of the
// config into flags of env.
func chooseOptions(env *command.Environment, s view.Submission) (submitOptions, error) {
	o := submitOptions{
		project: s.Project, base: s.Base, follows: s.Follows, after: s.After, priority: s.Priority, deadline: s.Deadline, tags: s.Tags, dryRun: s.DryRun,
		approve: s.Approve, budgetUSD: s.BudgetUSD, tokens: s.BudgetTokens, detach: true, commandID: s.ID,
	}
	for _, f := range s.Attachments {
		o.files = append(o.files, company.AttachedFile{Attachment: company.Attachment{Name: f.Name}, Content: f.Content})
	}
	var err error
	if o.files, err = attachment.Inspect(o.files); err != nil {
		return o, err
	}
	return o, addConfigFlags(env, o, s.BudgetUSD != 0, s.BudgetTokens != "")
}

// resubmitArgs are the arguments of the same submission, followed by itself.
func resubmitArgs(env *command.Environment, o submitOptions) []string {
	args := []string{"submit", "--no-input", "--command-id", o.commandID}
	switch {
	case o.plan != "":
	case len(o.files) > 0:
		args = append(args, "--packed")
	default:
		args = append(args, "--file", "-")
	}
	add := func(flag, v string) {
		if v != "" {
			args = append(args, flag, v)
		}
	}
	add("--project", o.project)
	add("--base", o.base)
	add("--follows", o.follows)
	for _, id := range o.after {
		add("--after", id)
	}
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
	return addPlaceArgs(env, args...)
}

// printDetached says that a submission is taken.
func printDetached(env *command.Environment, taken detach.Taken, cmd company.Command) error {
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
	state := "is under way"
	if s, ok := cmd.(company.Submit); ok && len(s.After) > 0 {
		state = "begins once merged: " + view.JoinIDs(s.After)
	}
	_, err := fmt.Fprintf(env.Out, "%s %s%s\nwatch it: company watch %s\n", taken.Task, state, where, taken.Task)
	return err
}
