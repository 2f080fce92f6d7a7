package cli

import (
	"context"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"company/internal/api"
	"company/internal/company"
	"company/internal/view"
)

// readWork is how far tasks are: those named, or all that have not ended.
func readWork(ctx context.Context, acc *officeClient, ids ...company.TaskID) (*view.Work, error) {
	q := url.Values{}
	for _, id := range ids {
		q.Add("task", string(id))
	}
	w, err := api.Get[view.Work](ctx, acc.Client, "work?"+q.Encode())
	return &w, err
}

// readTask is how far one task is.
func readTask(ctx context.Context, acc *officeClient, id string) (*view.Progress, error) {
	if !company.TaskID(id).Valid() {
		_, err := view.FindTask(nil, id)
		return nil, err
	}
	w, err := readWork(ctx, acc, company.TaskID(id))
	if err != nil {
		return nil, err
	}
	return &w.Tasks[0], nil
}

// read reads a resource of the office, for a command that does nothing else.
func read[T any](ctx context.Context, a *app, path string) (v T, acc *officeClient, err error) {
	acc, _, err = a.connectOffice(ctx)
	if err != nil {
		return v, nil, err
	}
	if v, err = api.Get[T](ctx, acc.Client, path); err != nil {
		acc.Close()
		return v, nil, err
	}
	return v, acc, nil
}

// completeIDs completes the ids of an office on the command line.
func (a *app) completeIDs(list func(view.IDs) []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || a.applyFlags() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		ids, acc, err := read[view.IDs](ctx, a, "ids")
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer acc.Close()
		return list(ids), cobra.ShellCompDirectiveNoFileComp
	}
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}
