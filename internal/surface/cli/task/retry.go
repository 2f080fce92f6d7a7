package task

import (
	"context"

	"github.com/spf13/cobra"

	"company/internal/api"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/foreground"
)

// NewRetry returns the "company retry" command.
func NewRetry(env *command.Environment) *cobra.Command {
	var from, model string
	c := &cobra.Command{
		Use: "retry <task>", Short: "Reopen a task that failed or was cancelled",
		Example: `  company retry t3
  company retry t3 --from t3-02
  company retry t3 --model strong`,
		Long: `Reopens a task that failed, was cancelled or was ended by your no to a question, and
follows it as submit does. Merged subtasks stay merged. Other subtasks continue from
their last saved commit. --from restarts the given subtask and any later ones that
are not merged. A question that you answered with no is asked again. The task keeps
its cap and its spending; company budget raises the cap.

The task uses the agents and models of the current config. --model sets the model
profile of all roles for this task.`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Ended }),
		RunE: func(c *cobra.Command, args []string) error {
			if !company.TaskID(args[0]).Valid() {
				_, err := view.FindTask(nil, args[0])
				return err
			}
			cmd := company.Retry{Task: company.TaskID(args[0]), From: company.SubtaskID(from)}
			if from != "" && (!cmd.From.Valid() || cmd.From.Task() != cmd.Task) {
				return company.E(company.EUsage, "--from is not a subtask of "+args[0]).
					Fix("company show " + args[0] + " lists them")
			}
			err := checkModelFlag(c)
			if err == nil {
				err = env.UseModel(c.Context(), model)
			}
			if err != nil {
				return err
			}
			return runReopening(c.Context(), env, foreground.Reopening{Task: cmd.Task, Command: cmd, ID: api.NewCommandID()})
		},
	}
	addSummaryFlag(env, c)
	c.Flags().StringVar(&from, "from", "", "restart this `subtask` and any later ones that are not merged")
	c.Flags().StringVar(&model, "model", "", "model `profile` for all roles of this task")
	_ = c.RegisterFlagCompletionFunc("model", env.CompleteModels())
	return c
}

// checkModelFlag rejects an empty --model, for example from an unset variable in a script.
func checkModelFlag(c *cobra.Command) error {
	f := c.Flags().Lookup("model")
	if f.Changed && f.Value.String() == "" {
		return company.E(company.EUsage, "--model is empty").
			Fix("name a model profile: company config show lists them, or leave --model out")
	}
	return nil
}

// runReopening sends a command that reopens a task, and follows the task. For a retry the task
// gets the agents of the config.
func runReopening(ctx context.Context, env *command.Environment, job foreground.Reopening) error {
	paths, loaded, err := env.LoadReady(ctx)
	if err != nil {
		return err
	}
	if cmd, ok := job.Command.(company.Retry); ok {
		cmd.Rebind = officeapp.RebindAgents(loaded.Config)
		job.Command = cmd
	}
	return runJob(ctx, env, paths, &job)
}
