package cli

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"company/internal/company"
)

// readState gives the state of the office, for a command that only reads.
func (a *app) readState(ctx context.Context) (*company.State, officeClient, error) {
	acc, _, err := a.connectOffice(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, err := acc.State(ctx)
	if err != nil {
		acc.Close()
		return nil, nil, err
	}
	return s, acc, nil
}

// completeIDs completes the ids of an office on the command line.
func (a *app) completeIDs(list func(*company.State) []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || a.applyFlags() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s, acc, err := a.readState(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer acc.Close()
		return list(s), cobra.ShellCompDirectiveNoFileComp
	}
}

func taskIDs(s *company.State) []string {
	var out []string
	for _, t := range s.SortedTasks() {
		out = append(out, string(t.ID))
	}
	return out
}

// allIDs are the tasks with their subtasks and runs.
func allIDs(s *company.State) []string {
	var out []string
	for _, t := range s.SortedTasks() {
		out = append(out, string(t.ID))
		for _, sub := range t.Subtasks {
			out = append(out, string(sub.ID))
		}
		for id := range t.Runs {
			out = append(out, string(id))
		}
	}
	return out
}

func openIDs(s *company.State) []string {
	var out []string
	for _, q := range s.OpenApprovals("") {
		out = append(out, string(q.ID))
	}
	return out
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}
