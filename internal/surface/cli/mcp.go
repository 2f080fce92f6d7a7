package cli

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	"company/internal/app/hostops"
	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/cli/task"
	"company/internal/surface/foreground"
	"company/internal/surface/mcpserver"
	"company/internal/surface/terminalio"
)

func newMCP(env *command.Environment) *cobra.Command {
	var grants mcpserver.Grants
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve the office over the Model Context Protocol",
		Example: "  company mcp\n  company mcp --allow-write\n  company mcp --repo ~/app --allow-write --allow-approve\n  " +
			"claude mcp add company -- company mcp --allow-write",
		Long: `Speaks the Model Context Protocol on stdin and stdout, for an agent or editor that
starts it as a server. It ends when stdin is closed.

The read-only tools are always available: status, list, show, feed, wait, diff, logs,
costs, pr_list and pr_show. --allow-write adds submit, answer, tell, pause, resume,
stop and cancel. --allow-approve adds approve and reject, which lets the client
decide in your place. Tools without their flag are not listed.

Each call does what the command of the same name does. Log messages go to stderr.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runMCP(c.Context(), env, grants) },
	}
	cmd.Flags().BoolVar(&grants.Write, "allow-write", false, "offer tools that submit, answer, pause, stop and cancel")
	cmd.Flags().BoolVar(&grants.Approve, "allow-approve", false, "offer tools that approve and reject in your place")
	return cmd
}

func runMCP(ctx context.Context, env *command.Environment, grants mcpserver.Grants) error {
	log := env.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	err := mcpserver.New(mcpHost{hostops.New(env.Entrance, task.PrepareSubmission)}, grants, command.Version, log).ServeIO(
		ctx, env.In, env.Out)
	switch {
	case ctx.Err() == nil:
		return err
	case errors.Is(context.Cause(ctx), terminalio.ErrTerminated):
		return nil // its client requested the end
	}
	return &command.CodedError{Code: command.ExitInterrupt}
}

// mcpHost implements mcpserver.Host for this program.
type mcpHost struct{ hostops.Desk }

// Connect connects to the office in its current state.
func (h mcpHost) Connect(ctx context.Context) (*client.Office, error) {
	o, _, err := h.NewCall().ConnectOffice(ctx)
	return o, err
}

// Log returns the conversation of a run as text.
func (h mcpHost) Log(
	ctx context.Context, office *client.Office, id string, full bool,
) (company.RunID, string, error) {
	paths, err := h.NewCall().FindOffice()
	if err != nil {
		return "", "", err
	}
	run, t, err := foreground.ReadLog(ctx, office, paths, id)
	return run, t.RenderText(foreground.MostLines(false), foreground.VisibilityOf(full)), err
}

// Submit submits an instruction like company submit --detach.
func (h mcpHost) Submit(ctx context.Context, s view.Submission) (company.TaskID, error) {
	return task.SubmitInBackground(ctx, h.NewCall(), s)
}

// GoOn starts the work of the office if a task can continue.
func (h mcpHost) GoOn(ctx context.Context, id company.TaskID) (bool, error) {
	ent := h.NewCall()
	paths, err := ent.FindOffice()
	if err != nil {
		return false, err
	}
	return ent.GoOn(ctx, paths, id)
}

// Wait waits for tasks like company wait.
func (h mcpHost) Wait(ctx context.Context, ids []company.TaskID) error {
	return foreground.Wait(ctx, h.NewCall(), ids)
}
