// Package project has the commands for the repositories that an office works on.
package project

import (
	"context"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/lib/shellquote"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/officeaccess"
)

// New returns the "company project" command.
func New(env *command.Environment) *cobra.Command {
	cmd := command.NewGroup("project", "Manage the repositories of this office", `  company project list
  company project add ~/src/api --name api
  company submit --project api "add rate limiting"`)
	var name string
	add := &cobra.Command{
		Use: "add <path>", Short: "Add a git checkout to the office under a name",
		Example: "  company project add ~/src/api\n  company project add . --name api",
		Long: "The first task of a project adds it under the name of its folder. This command adds\nit earlier, or " +
			"renames it. The repository itself is not changed.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return addProject(c.Context(), env, args[0], name) },
	}
	add.Flags().StringVar(&name, "name", "", "name of the project (default: the folder's name)")
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List projects, most recently used first",
			Example: "  company project list\n  company project list -o json",
			RunE:    func(c *cobra.Command, _ []string) error { return listProjects(c.Context(), env) },
		},
		add,
		&cobra.Command{
			Use: "remove <project>", Short: "Remove a project from the list", Example: "  company project remove api",
			Long: "Its tasks and their evidence are kept, and a new task adds it again. The repository\nitself is not changed.",
			Args: cobra.ExactArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Projects }),
			RunE: func(c *cobra.Command, args []string) error { return removeProject(c.Context(), env, args[0]) },
		},
	)
	return cmd
}

func listProjects(ctx context.Context, env *command.Environment) error {
	known, conn, err := officeaccess.Read(ctx, env.Entrance, (*client.Office).Projects)
	if err != nil {
		return err
	}
	defer conn.Close()
	records := known.Projects
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "projects": records})
	}
	if len(records) == 0 && known.Epoch == 0 { // project add would be rejected
		_, err := fmt.Fprintln(env.Out,
			"no projects yet, and this office has not been started: company serve, or company submit --project PATH \"…\"")
		return err
	}
	if len(records) == 0 {
		_, err := fmt.Fprintln(env.Out,
			"no projects yet: company submit \"…\" in a git checkout, or company project add PATH")
		return err
	}
	table := tabwriter.NewWriter(env.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PROJECT\tTASKS\tBASE\tUSED\tPATH\tREMOTE")
	for _, record := range records {
		base := record.DefaultBranch
		if base == "" {
			base = "-"
		}
		remote := safetext.EscapeLine(record.Remote, 200)
		if remote == "" {
			remote = "-"
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s ago\t%s\t%s\n", record.Name, record.Tasks, safetext.EscapeLine(base, 40),
			view.FormatAge(conn.Now().Sub(record.LastUsed)), safetext.EscapeLine(record.WorkDir, 200), remote)
	}
	return table.Flush()
}

func addProject(ctx context.Context, env *command.Environment, path, name string) error {
	top, err := officeaccess.CheckoutAt(path)
	if err != nil {
		return err
	}
	paths, err := env.FindOffice()
	if err != nil {
		return err
	}
	off, err := env.OpenOffice(ctx, paths) // this may be the first event of the office
	if err != nil {
		return err
	}
	if err := off.Close(); err != nil {
		return err
	}
	known, conn, err := officeaccess.Read(ctx, env.Entrance, (*client.Office).Projects)
	if err != nil {
		return err
	}
	defer conn.Close()
	if known.Epoch == 0 {
		return company.E(company.ENotFound, "this office has not been started yet").
			Fix("company serve, or company submit --project " + shellquote.Quote(top) + ` "…"`)
	}
	if _, err := conn.Do(ctx, "", company.AddProject{Project: officeapp.ProjectOf(top), Name: name}); err != nil {
		return err
	}
	if known, err = conn.Projects(ctx); err != nil {
		return err
	}
	return printProject(env, known.Projects, officeapp.ProjectOf(top).ID, "added")
}

func removeProject(ctx context.Context, env *command.Environment, arg string) error {
	known, conn, err := officeaccess.Read(ctx, env.Entrance, (*client.Office).Projects)
	if err != nil {
		return err
	}
	defer conn.Close()
	record, err := officeaccess.FindProject(known.Projects, arg)
	if err != nil {
		return err
	}
	if record.ID == "" {
		return company.E(company.ENotFound, "unknown project "+safetext.EscapeLine(arg, 80)).Fix("company project list")
	}
	if _, err := conn.Do(ctx, "", company.RemoveProject{ID: record.ID}); err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "removed": record})
	}
	_, err = fmt.Fprintf(env.Out, "removed %s from the list\n", record.Name)
	return err
}

func printProject(env *command.Environment, records []company.ProjectRecord, id, what string) error {
	i := slices.IndexFunc(records, func(p company.ProjectRecord) bool { return p.ID == id })
	if i < 0 {
		return company.E(company.EConflict, "the project was removed in the meantime").Fix("company project list")
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "project": records[i]})
	}
	_, err := fmt.Fprintf(env.Out, "%s %s: %s\n", records[i].Name, what, safetext.EscapeLine(records[i].WorkDir, 200))
	return err
}
