package command

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	"company/internal/gitops/gitexec"
	"company/internal/present/view"
	"company/internal/surface/officeaccess"
)

// Completer completes a command line.
type Completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// completionPatience limits how long a completion may take, on a busy machine.
const completionPatience = 5 * time.Second

// CompleteIDs completes the first argument with ids of an office.
func (env *Environment) CompleteIDs(list func(view.IDs) []string) Completer {
	each := env.CompleteEachID(list)
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return each(cmd, args, typed)
	}
}

// CompleteFlagIDs completes the value of a flag.
func (env *Environment) CompleteFlagIDs(list func(view.IDs) []string) Completer {
	each := env.CompleteEachID(list)
	return func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return each(c, nil, typed)
	}
}

// CompleteEachID completes every argument with an id that is not among them yet.
func (env *Environment) CompleteEachID(list func(view.IDs) []string) Completer {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if env.ApplyFlags() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), completionPatience)
		defer cancel()
		ids, conn, err := officeaccess.Read(ctx, env.Entrance, (*client.Office).IDs)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer conn.Close()
		left := slices.DeleteFunc(list(ids), func(id string) bool { return slices.Contains(args, id) })
		return left, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteModels completes the model profiles of the config.
func (env *Environment) CompleteModels() Completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), completionPatience)
		defer cancel()
		profiles, err := env.ModelProfiles(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return profiles, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteBranches completes the branches of the current checkout.
func (env *Environment) CompleteBranches() func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), completionPatience)
		defer cancel()
		dir, err := filepath.Abs(env.RepoDir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		out, err := gitexec.Command{Dir: dir,
			Args: []string{"for-each-ref", "--format=%(refname:short)", "refs/heads"}}.Output(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return strings.Fields(string(out)), cobra.ShellCompDirectiveNoFileComp
	}
}
