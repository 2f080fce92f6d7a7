package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/client"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/office"
	"company/internal/safetext"
	"company/internal/shell"
	"company/internal/view"
)

func newPR(a *app) *cobra.Command {
	c := commandGroup("pr", "The pull requests that wait for your review", "  company pr list\n  company pr show 7\n  company pr merge 7")
	one := func(use, short, long, example string, run func(ctx context.Context, number string) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Long: long, Example: example, Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeIDs(func(v view.IDs) []string { return v.PullRequests }),
			RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), args[0]) },
		}
	}
	var why string
	closing := one("close <number>", "Close a pull request without merging it", "", "  company pr close 7 --why \"squashed as 3f9c2ab\"",
		func(ctx context.Context, n string) error { return a.closePR(ctx, n, why) })
	closing.Flags().StringVar(&why, "why", "", "why, for the record")
	c.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the pull requests", Example: "  company pr list\n  company pr list -o json",
			RunE: func(c *cobra.Command, _ []string) error { return a.listPRs(c.Context()) },
		},
		one("show <number>", "Show a pull request with its evidence", "", "  company pr show 7", a.showPR),
		one("diff <number>", "Show what a pull request changes", "", "  company pr diff 7 | less", func(ctx context.Context, n string) error {
			return a.printDiff(ctx, func(ctx context.Context, conn *client.Office) (view.Range, error) { return prRange(ctx, conn, n) })
		}),
		one("merge <number>", "Note that a pull request is merged, once it is",
			"The company never moves main: you merge, with your own git. This command looks\nwhether the base branch holds the pull request's head, and notes it; where it\ndoes not yet, it prints the commands to run.", "  company pr merge 7", a.mergePR),
		closing, newPRSync(a),
	)
	return c
}

// readPR is the pull request of a number or of a task, as the office's own
// record has it, and the task that opened it.
func readPR(ctx context.Context, conn *client.Office, ref string) (view.PullRecord, *company.Task, error) {
	r, err := conn.PullRequest(ctx, ref)
	if err != nil {
		return r, nil, err
	}
	return r, r.Task(), nil
}

func (a *app) listPRs(ctx context.Context) error {
	views, conn, err := read(ctx, a, (*client.Office).PullRequests)
	if err != nil {
		return err
	}
	defer conn.Close()
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "pull_requests": views})
	}
	_, err = fmt.Fprint(a.out, view.PullRequestsText(views))
	return err
}

func (a *app) showPR(ctx context.Context, number string) error {
	conn, paths, err := a.connectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	r, t, err := readPR(ctx, conn, number)
	if err != nil {
		return err
	}
	body, err := prText(paths, r)
	if err != nil {
		return err
	}
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "pull_request": view.NewPullRequest(t), "body": body})
	}
	changed := ""
	if m, err := openMirror(paths, t.Project); err == nil {
		if d, err := m.Diff(ctx, t.Prepared.Base.OID, t.PR.Head, 0); err == nil {
			changed = "  " + changeStat(d)
		}
	}
	where := ""
	if isOnForge(t.PR) {
		where = safetext.Escape(t.PR.URL) + "\n"
	}
	if t.BranchChange != nil {
		where += "The branch " + view.BranchText(t.BranchChange) + "\n"
	}
	fmt.Fprintf(a.out, "#%d  %s  %s -> %s @ %s%s\n%s\n%s\nNEXT  %s\n",
		t.PR.Number, t.PR.State, safetext.Escape(t.PR.Branch), safetext.Escape(t.PR.Base), t.PR.Head.Short(), changed, where, safetext.Escape(readableBody(body)), a.nextStep(ctx, paths, t))
	return nil
}

// readPage is the text of a pull request, as the office keeps it.
func readPage(p office.Paths, pr *company.PullRequest) (string, error) {
	file, name := pagePath(p, pr), officeapp.PullsDir+"/"+strconv.Itoa(pr.Number)+".md"
	var text []byte
	state, err := p.Folder(p.State)
	if err == nil {
		defer state.Close()
		text, err = state.ReadFile(name, 0)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "(its page is gone: " + file + ")\n", nil
	}
	if err != nil {
		return "", company.E(company.EForge, "the page of the pull request cannot be read").Wrap(err).Fix("see that the file is yours")
	}
	return string(text), nil
}

func prRange(ctx context.Context, conn *client.Office, number string) (view.Range, error) {
	_, t, err := readPR(ctx, conn, number)
	if err != nil {
		return view.Range{}, err
	}
	return view.Range{Of: fmt.Sprintf("#%d", t.PR.Number), Project: t.Project, From: t.Prepared.Base.OID, To: t.PR.Head}, nil
}

func (a *app) mergePR(ctx context.Context, number string) error {
	conn, paths, err := a.connectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	r, t, err := readPR(ctx, conn, number)
	if err != nil {
		return err
	}
	if t.PR.State == company.PROpen && isOnForge(t.PR) {
		if err := a.checkMergedOnForge(ctx, paths, r.Office, t); err != nil {
			return err
		}
	} else if t.PR.State == company.PROpen {
		loaded, err := a.loadConfig(ctx, paths)
		if err != nil {
			return err
		}
		if err := checkMerged(ctx, paths, loaded.Config.Git.Remote, t); err != nil {
			return err
		}
	}
	return a.settlePR(ctx, conn, t, company.PRMerged, "")
}

// checkMerged is nil when the base branch holds the pull request's head: that of
// the remote, or of the checkout where there is no remote. The company never
// moves the base itself (REV-1), so otherwise it is a refusal with what to do.
func checkMerged(ctx context.Context, p office.Paths, remote string, t *company.Task) error {
	m, err := gitops.LookAt(p.Git, remote, t.Project.ID, t.Project.Path)
	if err != nil {
		return err
	}
	url, err := m.RemoteURL(ctx, t.Project.Path)
	if err != nil {
		return err
	}
	src := gitops.Source{Path: t.Project.Path}
	if url != "" {
		src = gitops.Source{URL: url}
	}
	base, err := m.FetchBase(ctx, nil, src, t.PR.Base)
	if err != nil {
		return err
	}
	in, err := m.IsAncestor(ctx, t.PR.Head, base.OID)
	if err != nil || in {
		return err
	}
	refused := company.E(company.EProtected, fmt.Sprintf("%s does not hold %s yet, and the company never moves it", t.PR.Base, t.PR.Head.Short())).
		Because(fmt.Sprintf("%s is at %s; what goes to it is yours to decide", t.PR.Base, base.OID.Short()))
	// The mirror has the delivered commit, also where no branch has it any
	// more.
	from, what, push, instead := shell.Quote(m.Dir()), string(t.PR.Head), "", ""
	if url != "" {
		push = fmt.Sprintf(" && git push %s %s", shell.Quote(remote), shell.Quote(t.PR.Base))
		if lostBranch(t) {
			refused = refused.Because("the branch " + t.BranchChange.String())
			instead = fmt.Sprintf("; or, where people merged it in another form: company pr close %d --why \"…\"", t.PR.Number)
		} else {
			from, what = shell.Quote(remote), shell.Quote(t.PR.Branch)
		}
	}
	return refused.Fix(fmt.Sprintf("cd %s && git fetch %s %s && git switch %s && git merge --no-ff FETCH_HEAD%s && company pr merge %d%s",
		shell.Quote(t.Project.Path), from, what, shell.Quote(t.PR.Base), push, t.PR.Number, instead))
}

func (a *app) closePR(ctx context.Context, number, why string) error {
	conn, paths, err := a.connectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	r, t, err := readPR(ctx, conn, number)
	if err != nil {
		return err
	}
	if err := a.closeOnForge(ctx, paths, r.Office, t, why); err != nil {
		return err
	}
	return a.settlePR(ctx, conn, t, company.PRClosed, why)
}

// settlePR notes what became of a pull request.
func (a *app) settlePR(ctx context.Context, conn *client.Office, t *company.Task, state company.PRState, why string) error {
	if _, err := conn.Do(ctx, "", company.SettlePR{Task: t.ID, State: state, Why: why}); err != nil {
		return err
	}
	if a.output == "json" {
		v := view.NewPullRequest(t)
		v.State, v.BranchChange = state, nil
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "pull_request": v})
	}
	fmt.Fprintf(a.out, "#%d is %s\n", t.PR.Number, state)
	return nil
}
