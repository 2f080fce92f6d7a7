package task

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/officeaccess"
)

// NewPlan returns the "company plan" command.
func NewPlan(env *command.Environment) *cobra.Command {
	cmd := command.NewGroup("plan", "Show or edit the plan of a task",
		"  company plan show t12\n  company plan edit t12")
	cmd.AddCommand(newPlanShow(env), newPlanEdit(env))
	return cmd
}

func newPlanShow(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "show <task>", Short: "Print the plan of a task as an editable file",
		Example: "  company plan show t12 > plan.yaml",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Open }),
		RunE: func(c *cobra.Command, args []string) error {
			taskDetail, conn, err := readPlan(c.Context(), env, args[0])
			if err != nil {
				return err
			}
			defer conn.Close()
			if env.Output == "json" {
				return env.PrintJSON(
					env.Out, map[string]any{"schema_version": 1, "task": taskDetail.ID, "plan": taskDetail.PlanFile().Plan()})
			}
			text, err := taskDetail.PlanFile().RenderFor(taskDetail.ID)
			if err == nil {
				_, err = fmt.Fprint(env.Out, text)
			}
			return err
		},
	}
}

func newPlanEdit(env *command.Environment) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "edit <task>", Short: "Edit the plan of a task before you approve it",
		Example: `  company plan edit t12
  company plan edit t12 -f plan.yaml`,
		Long: `Opens the plan that waits for your approval in your editor. Your plan must follow the
same rules as the manager's. If it is refused, your file is kept. The edited plan
still needs your approval: company approve starts the work. To be asked about a plan,
use company submit --approve plan.`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Open }),
		RunE: func(c *cobra.Command, args []string) error {
			return runPlanEdit(c.Context(), env, args[0], file)
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "read the plan from a file, or from stdin (-)")
	return cmd
}

// readPlan reads a task and its plan. The caller closes the office.
func readPlan(ctx context.Context, env *command.Environment, id string) (*view.TaskDetail, *client.Office, error) {
	if !company.TaskID(id).Valid() {
		return nil, nil, company.E(company.EUsage, fmt.Sprintf("invalid task id %q", id)).
			Fix("task ids look like t12: company status lists them")
	}
	shown, conn, err := officeaccess.Read(
		ctx, env.Entrance, func(o *client.Office, ctx context.Context) (view.Shown, error) { return o.Shown(ctx, id) })
	if err != nil {
		return nil, nil, err
	}
	if len(shown.Task.Plan) == 0 {
		conn.Close()
		return nil, nil, company.E(company.EConflict, id+" has no plan yet").Because("it is " + shown.Task.Status.Text()).
			Fix("company wait " + id)
	}
	return shown.Task, conn, nil
}

// maxPlanFile limits a plan file, in bytes. A request may have 1 MiB.
const maxPlanFile = 512 << 10

func runPlanEdit(ctx context.Context, env *command.Environment, id, file string) error {
	taskDetail, conn, err := readPlan(ctx, env, id)
	if err != nil {
		return err
	}
	defer conn.Close()
	before := taskDetail.PlanFile()
	cmd := company.EditPlan{Task: taskDetail.ID, Plan: before.Plan()}
	if i := slices.IndexFunc(taskDetail.NeedsYou,
		func(a view.Approval) bool { return a.Kind == company.AskPlan }); i >= 0 {
		cmd.Question = taskDetail.NeedsYou[i].ID
	}
	// Check before the person edits. An invalid plan may be corrected.
	if _, err := conn.Try(ctx, cmd); err != nil && company.CodeOf(err) != company.EPlan {
		return err
	}
	text, err := before.RenderFor(taskDetail.ID)
	if err != nil {
		return err
	}
	again := "company plan edit " + id + " -f "
	edited, err := env.EditFile(ctx, file, text, again, maxPlanFile)
	if err != nil {
		return err
	}
	after, err := view.ParsePlanFile(edited.Text)
	if err != nil {
		return keepFile(err, edited.File, again)
	}
	if after.Equal(before) {
		return printPlanEdit(env, taskDetail, len(before.Subtasks), false)
	}
	cmd.Plan = after.Plan()
	if _, err := conn.Do(ctx, "", cmd); err != nil {
		return keepFile(err, edited.File, again)
	}
	return printPlanEdit(env, taskDetail, len(after.Subtasks), true)
}

// keepFile adds to a plan error which file to correct and how to retry.
func keepFile(err error, file, again string) error {
	var fault *company.Error
	if file == "" || !errors.As(err, &fault) || fault.Code != company.EPlan && fault.Code != company.EInvalid {
		return err
	}
	return fault.Fix("correct " + file + ", then: " + again + file)
}

// printPlanEdit prints the result of an edit of the plan.
func printPlanEdit(env *command.Environment, taskDetail *view.TaskDetail, subtasks int, changed bool) error {
	if env.Output == "json" {
		return env.PrintJSON(
			env.Out, map[string]any{"schema_version": 1, "task": taskDetail.ID, "changed": changed, "subtasks": subtasks})
	}
	if !changed {
		fmt.Fprintf(env.Out, "the plan of %s is unchanged\n", taskDetail.ID)
		return nil
	}
	fmt.Fprintf(env.Out, "the plan of %s was replaced by yours: %s\n", taskDetail.ID, company.Count(subtasks, "subtask"))
	env.PrintNote("start the work with: company approve %s", taskDetail.ID)
	return nil
}
