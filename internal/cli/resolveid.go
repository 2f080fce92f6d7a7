package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"company/internal/client"
	"company/internal/company"
	"company/internal/view"
)

// readWork is how far tasks are: those named, or all that have not ended.
func readWork(ctx context.Context, conn *client.Office, ids ...company.TaskID) (*view.Work, error) {
	w, err := conn.Work(ctx, ids...)
	return &w, err
}

// readTask is how far one task is.
func readTask(ctx context.Context, conn *client.Office, id string) (*view.Progress, error) {
	if !company.TaskID(id).Valid() {
		_, err := view.FindTask(nil, id)
		return nil, err
	}
	w, err := readWork(ctx, conn, company.TaskID(id))
	if err != nil {
		return nil, err
	}
	return &w.Tasks[0], nil
}

// read connects to the office and reads something of it.
func read[T any](ctx context.Context, a *app, get func(*client.Office, context.Context) (T, error)) (v T, conn *client.Office, err error) {
	conn, _, err = a.connectOffice(ctx)
	if err != nil {
		return v, nil, err
	}
	if v, err = get(conn, ctx); err != nil {
		conn.Close()
		return v, nil, err
	}
	return v, conn, nil
}

// readApproval connects to the office and reads a question.
func readApproval(ctx context.Context, a *app, id string) (view.Approval, *client.Office, error) {
	return read(ctx, a, func(o *client.Office, ctx context.Context) (view.Approval, error) {
		return o.Approval(ctx, company.ApprovalID(id))
	})
}

// completeIDs completes the ids of an office on the command line.
func (a *app) completeIDs(list func(view.IDs) []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || a.applyFlags() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		ids, conn, err := read(ctx, a, (*client.Office).IDs)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer conn.Close()
		return list(ids), cobra.ShellCompDirectiveNoFileComp
	}
}
