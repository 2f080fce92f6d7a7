package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/attend"
	"company/internal/cli/command"
	"company/internal/cli/task"
	"company/internal/client"
	"company/internal/company"
	"company/internal/console"
	"company/internal/mcpserver"
	"company/internal/view"
)

func newMCP(env *command.Environment) *cobra.Command {
	var grants mcpserver.Grants
	c := &cobra.Command{
		Use: "mcp", Short: "Serve the office to an agent, over the Model Context Protocol",
		Example: "  company mcp\n  company mcp --allow-write\n  company mcp --repo ~/app --allow-write --allow-approve\n  claude mcp add company -- company mcp --allow-write",
		Long: `Speaks the Model Context Protocol on stdin and stdout, for the agent of an editor
that starts it. It ends when stdin is closed.

Tools that read are always there: status, list, show, feed, wait, diff, logs, costs,
pr_list and pr_show. --allow-write adds submit, answer, tell, pause, resume, stop and
cancel. --allow-approve adds approve and reject: whatever may use the tools then
decides in your place. A tool without its flag is not listed.

Each call goes to the company at work on the office, else the office is opened for it,
as by the commands of the same names. What stderr has is for people.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runMCP(c.Context(), env, grants) },
	}
	c.Flags().BoolVar(&grants.Write, "allow-write", false, "also tools that submit work, answer, pause, stop and cancel")
	c.Flags().BoolVar(&grants.Approve, "allow-approve", false, "also tools that approve and reject in your place")
	return c
}

func runMCP(ctx context.Context, env *command.Environment, grants mcpserver.Grants) error {
	log := env.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	err := mcpserver.New(mcpHost{env}, grants, command.Version, log).ServeIO(ctx, env.In, env.Out)
	switch {
	case ctx.Err() == nil:
		return err
	case errors.Is(context.Cause(ctx), console.ErrTerminated):
		return nil // its client asked for that
	}
	return &command.CodedError{Code: command.ExitInterrupt}
}

// mcpHost is this program around a server of tools.
type mcpHost struct{ env *command.Environment }

// newCall is the environment of one call: a config is read anew for each, stdin and stdout
// are the protocol's, and none asks anything.
func (h mcpHost) newCall() *command.Environment {
	c := *h.env.Console
	c.In, c.Out, c.Output, c.NoInput, c.Quiet, c.Yes = strings.NewReader(""), io.Discard, "text", true, !c.Verbose, false
	env := command.NewEnvironment(c)
	env.OfficeDir, env.RepoDir, env.ConfigFlags, env.Clocks = h.env.OfficeDir, h.env.RepoDir, slices.Clone(h.env.ConfigFlags), h.env.Clocks
	return env
}

// Connect reaches the office as it is now.
func (h mcpHost) Connect(ctx context.Context) (*client.Office, error) {
	o, _, err := h.newCall().ConnectOffice(ctx)
	return o, err
}

// Patch is the diff of a range, from the git objects that the company holds.
func (h mcpHost) Patch(ctx context.Context, r view.Range) (mcpserver.Patch, error) {
	paths, err := h.newCall().FindOffice()
	if err != nil {
		return mcpserver.Patch{}, err
	}
	p, err := officeapp.ReadPatch(ctx, paths, r, officeapp.MaxPatch)
	return mcpserver.Patch{Stat: p.StatText(), Text: string(p.Text), Notes: strings.Join(p.Notes(r), "\n")}, err
}

// Log is a run's conversation.
func (h mcpHost) Log(ctx context.Context, o *client.Office, id string) (company.RunID, string, error) {
	paths, err := h.newCall().FindOffice()
	if err != nil {
		return "", "", err
	}
	run, t, err := attend.ReadLog(ctx, o, paths, id)
	return run, t.RenderText(attend.MostLines(false)), err
}

// PullPage is a pull request as company pr show prints it.
func (h mcpHost) PullPage(ctx context.Context, r view.PullRecord) (string, error) {
	env := h.newCall()
	paths, err := env.FindOffice()
	if err != nil {
		return "", err
	}
	body, err := officeapp.PullText(paths, r)
	if err != nil {
		return "", err
	}
	changed := ""
	if p, err := officeapp.ReadPatch(ctx, paths, view.PullRange(r.Task()), 0); err == nil {
		changed = p.StatText()
	}
	next := view.NextPullStep(r.Task(), func() string { return "" })
	return view.PullPage(r.Task(), officeapp.PlainPullText(body), changed, next, view.Style{}), nil
}

// Submit gives an instruction away, as company submit --detach does.
func (h mcpHost) Submit(ctx context.Context, s mcpserver.Submission) (mcpserver.Submitted, error) {
	taken, err := task.SubmitApart(ctx, h.newCall(), s)
	return mcpserver.Submitted{Task: taken.Task, Log: taken.Log}, err
}

// Wait is company wait.
func (h mcpHost) Wait(ctx context.Context, ids []company.TaskID) error {
	return attend.Wait(ctx, h.newCall().Entrance, ids)
}
