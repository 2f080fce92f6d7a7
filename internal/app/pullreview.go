package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"

	"company/internal/company"
	"company/internal/config"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/office"
	"company/internal/prbody"
	"company/internal/shell"
	"company/internal/view"
)

// PullText is the text of a pull request: the office's page, or for one on a forge
// what the office keeps in it.
func PullText(p office.Paths, r view.PullRecord) (string, error) {
	t := r.Task()
	if !t.PR.IsOnForge() {
		return readPullPage(p, t.PR)
	}
	latest, before := t, []*company.Task(nil)
	if n := len(r.Pull.Tasks); n > 0 {
		latest, before = r.Pull.Tasks[n-1], r.Pull.Tasks[:n-1]
	}
	lines := forge.ClosingLines(append(slices.Clone(before), latest), func(i company.IssueRef) string { return forge.ClosingLineAt(t.PR.URL, i) })
	return prbody.PRBody(latest, prbody.PROptions{Pushed: true, EarlierTasks: before, ClosingLines: lines}), nil
}

// readPullPage is the text of a pull request, as the office keeps it.
func readPullPage(p office.Paths, pr *company.PullRequest) (string, error) {
	var text []byte
	state, err := p.Folder(p.State)
	if err == nil {
		defer state.Close()
		text, err = state.ReadFile(pullPageName(pr), 0)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "(its page is gone: " + pullPagePath(p, pr) + ")\n", nil
	}
	if err != nil {
		return "", company.E(company.EForge, "the page of the pull request cannot be read").Wrap(err).Fix("see that the file is yours")
	}
	return string(text), nil
}

func pullPageName(pr *company.PullRequest) string {
	return fmt.Sprintf("%s/%d.md", PullsDir, pr.Number)
}

func pullPagePath(p office.Paths, pr *company.PullRequest) string {
	return filepath.Join(p.State, filepath.FromSlash(pullPageName(pr)))
}

// PullReview asks what became of a pull request where it is: on its forge, or in
// the repository. The office need not be open.
type PullReview struct {
	Paths  office.Paths
	Config config.Config
	Office string // its id
	Env    func(string) (string, bool)
	Logger *slog.Logger
}

// findForge is the forge that a pull request is on.
func (r PullReview) findForge(ctx context.Context, t *company.Task) (forge.Forge, forge.Ref, error) {
	ref := forge.Ref{Office: r.Office, Task: t.ID, Number: t.PR.Number, URL: t.PR.URL, Branch: t.PR.Branch}
	_, remote, err := r.openMirror(ctx, t)
	if err != nil {
		return nil, ref, err
	}
	// The pages of the office are not looked at: nothing has to be asked of them.
	f, err := OpenForges(nil, r.Config, r.Logger, r.Env).ForPullRequest(ctx, ref, remote)
	return f, ref, err
}

// openMirror opens the mirror of a task's project to read, and finds the address
// of its remote; "" where there is none.
func (r PullReview) openMirror(ctx context.Context, t *company.Task) (*gitops.Mirror, string, error) {
	m, err := gitops.LookAt(r.Paths.Git, r.Config.Git.Remote, t.Project.ID, t.Project.Path)
	if err != nil {
		return nil, "", err
	}
	remote, err := m.RemoteURL(ctx, t.Project.Path)
	return m, remote, err
}

// CheckMerged is nil when an open pull request is merged. The company never merges
// it by itself (REV-1), so otherwise it is a refusal with what to do.
func (r PullReview) CheckMerged(ctx context.Context, t *company.Task) error {
	check := r.checkBase
	if t.PR.IsOnForge() {
		check = r.checkForge
	}
	err := check(ctx, t)
	if t.PR.State != company.PRClosed || company.CodeOf(err) != company.EProtected {
		return err
	}
	refused := company.E(company.EConflict, fmt.Sprintf("#%d is closed, and not merged", t.PR.Number)).Because("what is closed is merged by no command of company")
	if t.PR.IsOnForge() {
		return refused.Fix(fmt.Sprintf("open it again at %s, then: company pr sync %d && company pr merge %d", t.PR.URL, t.PR.Number, t.PR.Number))
	}
	return refused.Fix(fmt.Sprintf("see it by company pr diff %d; merge %s with your own git, then: company pr merge %d", t.PR.Number, t.PR.Head.Short(), t.PR.Number))
}

// checkForge is nil when the forge says that the pull request is merged.
func (r PullReview) checkForge(ctx context.Context, t *company.Task) error {
	f, ref, err := r.findForge(ctx, t)
	if err != nil {
		return err
	}
	fb, err := f.Feedback(ctx, ref)
	if err != nil || fb.State == company.PRMerged {
		return err
	}
	return company.E(company.EProtected, fmt.Sprintf("#%d is %s, and the company never merges it by itself", t.PR.Number, fb.State)).
		Because("what goes to " + t.PR.Base + " is yours to decide").Fix(fmt.Sprintf("company pr merge %d at a terminal; or merge it at %s, and then the same", t.PR.Number, t.PR.URL))
}

// checkBase is nil when the base branch holds the pull request's head: that of the
// remote, or of the checkout where there is no remote.
func (r PullReview) checkBase(ctx context.Context, t *company.Task) error {
	m, remote, err := r.openMirror(ctx, t)
	if err != nil {
		return err
	}
	src := gitops.Source{Path: t.Project.Path}
	if remote != "" {
		src = gitops.Source{URL: remote}
	}
	base, err := m.FetchBase(ctx, nil, src, t.PR.Base)
	if err != nil {
		return err
	}
	in, err := m.IsAncestor(ctx, t.PR.Head, base.OID)
	if err != nil || in {
		return err
	}
	refused := company.E(company.EProtected, fmt.Sprintf("%s does not hold %s yet, and the company never moves it by itself", t.PR.Base, t.PR.Head.Short())).
		Because(fmt.Sprintf("%s is at %s; what goes to it is yours to decide", t.PR.Base, base.OID.Short()))
	// The mirror has the delivered commit, also where no branch has it any
	// more.
	name := r.Config.Git.Remote
	from, what, push, instead := shell.Quote(m.Dir()), string(t.PR.Head), "", ""
	if remote != "" {
		push = fmt.Sprintf(" && git push %s %s", shell.Quote(name), shell.Quote(t.PR.Base))
		if t.BranchChange.LosesDelivery() {
			refused = refused.Because("the branch " + t.BranchChange.String())
			instead = fmt.Sprintf("; or, where people merged it in another form: company pr close %d --why \"…\"", t.PR.Number)
		} else {
			from, what = shell.Quote(name), shell.Quote(t.PR.Branch)
		}
	}
	refused = refused.Because(fmt.Sprintf("%s; at a terminal this merges it, once you confirm it: company pr merge %d", refused.Why, t.PR.Number))
	return refused.Fix(fmt.Sprintf("cd %s && git fetch %s %s && git switch %s && git merge --no-ff FETCH_HEAD%s && company pr merge %d%s",
		shell.Quote(t.Project.Path), from, what, shell.Quote(t.PR.Base), push, t.PR.Number, instead))
}

// Close closes an open pull request on its forge; a page has nothing to close.
func (r PullReview) Close(ctx context.Context, t *company.Task, why string) error {
	f, ref, err := r.findForge(ctx, t)
	if err != nil {
		return err
	}
	if why != "" {
		if err := f.Comment(ctx, ref, "closed", why); err != nil {
			return err
		}
	}
	return f.Close(ctx, ref)
}

// OpenCommand is how to open a pull request by hand, where its branch is on GitHub
// and there was no login to open it with. Empty: it is not there.
func (r PullReview) OpenCommand(ctx context.Context, t *company.Task) string {
	_, remote, err := r.openMirror(ctx, t)
	if err != nil {
		return ""
	}
	return openCommand(remote, pullPagePath(r.Paths, t.PR), t.PR)
}

func openCommand(remote, body string, pr *company.PullRequest) string {
	r, ok := forge.ParseRemote(remote)
	if !ok || r.Host != "github.com" {
		return ""
	}
	return fmt.Sprintf("gh pr create --repo %s --base %s --head %s --title %s --body-file %s\n      or https://github.com/%s/compare/%s...%s?expand=1",
		r, shell.Quote(pr.Base), shell.Quote(pr.Branch), shell.Quote(forge.CleanTitle(pr.Title)), shell.Quote(body), r, url.PathEscape(pr.Base), url.PathEscape(pr.Branch))
}

// PlainPullText is the text of a pull request for people at a terminal.
func PlainPullText(body string) string { return prbody.PlainText(body) }
