package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/client"
	"company/internal/company"
	"company/internal/office"
	"company/internal/safetext"
	"company/internal/shell"
	"company/internal/view"
)

func newProject(a *app) *cobra.Command {
	c := commandGroup("project", "The repositories that this office works on", `  company project list
  company project add ~/src/api --name api
  company submit --project api "add rate limiting"`)
	var name string
	add := &cobra.Command{
		Use: "add <path>", Short: "Make a git checkout known by a name",
		Example: "  company project add ~/src/api\n  company project add . --name api",
		Long:    "A project is known from its first task on, by its folder's name; this gives it a\nname before that, or another one. Nothing of the repository is touched.",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.addProject(c.Context(), args[0], name) },
	}
	add.Flags().StringVar(&name, "name", "", "what it is called (default: the folder's name)")
	c.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the projects, the one used last first", Example: "  company project list\n  company project list -o json",
			RunE: func(c *cobra.Command, _ []string) error { return a.listProjects(c.Context()) },
		},
		add,
		&cobra.Command{
			Use: "remove <project>", Short: "Take a project from the list", Example: "  company project remove api",
			Long: "Its tasks and their evidence stay, and a new task puts it back. Nothing of the\nrepository is touched.",
			Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeIDs(func(v view.IDs) []string { return v.Projects }),
			RunE: func(c *cobra.Command, args []string) error { return a.removeProject(c.Context(), args[0]) },
		},
	)
	return c
}

func (a *app) listProjects(ctx context.Context) error {
	known, conn, err := read(ctx, a, (*client.Office).Projects)
	if err != nil {
		return err
	}
	defer conn.Close()
	all := known.Projects
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "projects": all})
	}
	if len(all) == 0 && known.Epoch == 0 { // project add would be refused
		_, err := fmt.Fprintln(a.out, "no projects yet, and nobody works in this office yet: company serve, or company submit --project PATH \"…\"")
		return err
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(a.out, "no projects yet: company submit \"…\" in a git checkout, or company project add PATH")
		return err
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PROJECT\tTASKS\tBASE\tUSED\tPATH")
	for _, p := range all {
		base := p.DefaultBranch
		if base == "" {
			base = "-"
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s ago\t%s\n", p.Name, p.Tasks, safetext.EscapeLine(base, 40), view.FormatAge(conn.Now().Sub(p.LastUsed)), safetext.EscapeLine(p.WorkDir, 200))
	}
	return table.Flush()
}

func (a *app) addProject(ctx context.Context, path, name string) error {
	top, err := checkoutAt(path)
	if err != nil {
		return err
	}
	paths, err := a.findOffice()
	if err != nil {
		return err
	}
	off, err := a.openOffice(ctx, paths) // this may be the first event of the office
	if err != nil {
		return err
	}
	if err := off.Close(); err != nil {
		return err
	}
	known, conn, err := read(ctx, a, (*client.Office).Projects)
	if err != nil {
		return err
	}
	defer conn.Close()
	if known.Epoch == 0 {
		return company.E(company.ENotFound, "nobody works in this office yet").Fix("company serve, or company submit --project " + shell.Quote(top) + ` "…"`)
	}
	if _, err := conn.Do(ctx, "", company.AddProject{Project: officeapp.ProjectOf(top), Name: name}); err != nil {
		return err
	}
	if known, err = conn.Projects(ctx); err != nil {
		return err
	}
	return a.printProject(known.Projects, officeapp.ProjectOf(top).ID, "is known")
}

func (a *app) removeProject(ctx context.Context, arg string) error {
	known, conn, err := read(ctx, a, (*client.Office).Projects)
	if err != nil {
		return err
	}
	defer conn.Close()
	p, err := findProject(known.Projects, arg)
	if err != nil {
		return err
	}
	if p.ID == "" {
		return company.E(company.ENotFound, "there is no project "+safetext.EscapeLine(arg, 80)).Fix("company project list")
	}
	if _, err := conn.Do(ctx, "", company.RemoveProject{ID: p.ID}); err != nil {
		return err
	}
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "removed": p})
	}
	_, err = fmt.Fprintf(a.out, "%s is not listed any more\n", p.Name)
	return err
}

func (a *app) printProject(all []company.ProjectRecord, id, what string) error {
	i := slices.IndexFunc(all, func(p company.ProjectRecord) bool { return p.ID == id })
	if i < 0 {
		return company.E(company.EConflict, "the project was removed meanwhile").Fix("company project list")
	}
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "project": all[i]})
	}
	_, err := fmt.Fprintf(a.out, "%s %s: %s\n", all[i].Name, what, safetext.EscapeLine(all[i].WorkDir, 200))
	return err
}

// findProject looks a project up by id, name or path; the zero record: there is
// none. A name that two have is refused.
func findProject(all []company.ProjectRecord, arg string) (company.ProjectRecord, error) {
	var named []company.ProjectRecord
	for _, p := range all {
		if p.ID == arg {
			return p, nil
		}
		if p.Name == arg {
			named = append(named, p)
		}
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		if top, err := checkoutAt(arg); err == nil {
			for _, p := range all {
				if p.WorkDir == top {
					return p, nil
				}
			}
		}
		return company.ProjectRecord{}, nil
	}
	var list []string
	for _, p := range named {
		list = append(list, p.ID+" at "+safetext.EscapeLine(p.WorkDir, 100))
	}
	return company.ProjectRecord{}, company.E(company.EConflict, fmt.Sprintf("%d projects are called %s", len(named), arg)).
		Because(strings.Join(list, "\n        ")).Fix("name it by its id: " + named[0].ID)
}

// projectPath is the checkout that --project names: a known project, or a
// path. What looks like a path is one.
func (a *app) projectPath(ctx context.Context, arg string) (string, error) {
	if strings.ContainsRune(arg, filepath.Separator) || arg == "." || arg == ".." {
		return checkoutAt(arg)
	}
	known, conn, err := read(ctx, a, (*client.Office).Projects)
	if err != nil {
		return "", err
	}
	conn.Close()
	p, err := findProject(known.Projects, arg)
	if err != nil {
		return "", err
	}
	if p.ID != "" {
		return checkoutAt(p.WorkDir)
	}
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		return checkoutAt(arg)
	}
	e := company.E(company.ENotFound, "there is no project "+safetext.EscapeLine(arg, 80))
	var names []string
	for _, p := range known.Projects {
		names = append(names, p.Name)
	}
	if len(names) > 0 {
		e = e.Because("there are: " + strings.Join(names, ", "))
	}
	return "", e.Fix("company project list shows them; --project takes a path, too")
}

// checkoutAt is the top of the git checkout that a folder is in.
func checkoutAt(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", company.E(company.ENotFound, "there is no such folder").Wrap(err).Fix("name a git checkout")
	}
	for top := dir; ; top = filepath.Dir(top) {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			return top, nil
		}
		if top == filepath.Dir(top) {
			if bare, ok := office.FindBareRepo(dir); ok {
				return "", office.BareRepoError(bare)
			}
			return "", company.E(company.ENotFound, "there is no git repository here: "+dir).Fix("run company inside a git checkout, or name one with --repo or --project")
		}
	}
}
