package command

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"company/internal/client"
	"company/internal/company"
	"company/internal/gitexec"
	"company/internal/view"
)

// ReadWork is how far tasks are: those named, or all that have not ended.
func ReadWork(ctx context.Context, conn *client.Office, ids ...company.TaskID) (*view.Work, error) {
	w, err := conn.Work(ctx, ids...)
	return &w, err
}

// ReadTask is how far one task is.
func ReadTask(ctx context.Context, conn *client.Office, id string) (*view.Progress, error) {
	if !company.TaskID(id).Valid() {
		_, err := view.FindTask(nil, id)
		return nil, err
	}
	w, err := ReadWork(ctx, conn, company.TaskID(id))
	if err != nil {
		return nil, err
	}
	return &w.Tasks[0], nil
}

// Read connects to the office and reads something of it.
func Read[T any](ctx context.Context, env *Environment, get func(*client.Office, context.Context) (T, error)) (v T, conn *client.Office, err error) {
	conn, _, err = env.ConnectOffice(ctx)
	if err != nil {
		return v, nil, err
	}
	if v, err = get(conn, ctx); err != nil {
		conn.Close()
		return v, nil, err
	}
	return v, conn, nil
}

// ReadAfter reads what a command has left that conn carried. The company that did it may
// have ended meanwhile, as after a no that ends its last task: then the office is connected
// to anew. The caller closes the office that it gets, which is conn where there is an error.
func ReadAfter[T any](ctx context.Context, env *Environment, conn *client.Office, get func(*client.Office, context.Context) (T, error)) (T, *client.Office, error) {
	v, err := get(conn, ctx)
	if company.CodeOf(err) != company.EHeld {
		return v, conn, err
	}
	v, again, err := Read(ctx, env, get)
	if err != nil {
		return v, conn, err
	}
	conn.Close()
	return v, again, nil
}

// ReadApproval connects to the office and reads a question.
func ReadApproval(ctx context.Context, env *Environment, id string) (view.Approval, *client.Office, error) {
	return Read(ctx, env, func(o *client.Office, ctx context.Context) (view.Approval, error) {
		return o.Approval(ctx, company.ApprovalID(id))
	})
}

// Completer completes a command line.
type Completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// CompleteIDs completes the first argument with ids of an office.
func (env *Environment) CompleteIDs(list func(view.IDs) []string) Completer {
	each := env.CompleteEachID(list)
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return each(c, args, typed)
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
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		ids, conn, err := Read(ctx, env, (*client.Office).IDs)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer conn.Close()
		left := slices.DeleteFunc(list(ids), func(id string) bool { return slices.Contains(args, id) })
		return left, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteBranches completes the branches of the checkout that one stands in.
func (env *Environment) CompleteBranches() func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		dir, err := filepath.Abs(env.RepoDir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		out, err := gitexec.Command{Dir: dir, Args: []string{"for-each-ref", "--format=%(refname:short)", "refs/heads"}}.Output(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return strings.Fields(string(out)), cobra.ShellCompDirectiveNoFileComp
	}
}

// PrintRecovery says which tasks recovery: ask has paused.
func (env *Environment) PrintRecovery(paused []company.TaskID) {
	if len(paused) > 0 {
		env.PrintNote("recovery: ask: %s is unfinished and paused; go on with: company resume", JoinIDs(paused))
	}
}

// JoinIDs lists tasks in a line.
func JoinIDs(ids []company.TaskID) string {
	out := ""
	for i, id := range ids {
		if i > 0 {
			out += ", "
		}
		out += string(id)
	}
	return out
}
