package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"

	"company/internal/company"
	"company/internal/delivery/prbody"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/gitops/gitlogin"
	"company/internal/lib/shellquote"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/present/view"
)

// PullText returns the text of a pull request: the office's page, or for one on a forge the text
// that the office stores there.
func PullText(paths office.Paths, pullRecord view.PullRecord) (string, error) {
	task := pullRecord.Task()
	if !task.PR.IsOnForge() {
		return readPullPage(paths, task.PR)
	}
	latest, before := task, []*company.Task(nil)
	if n := len(pullRecord.Pull.Tasks); n > 0 {
		latest, before = pullRecord.Pull.Tasks[n-1], pullRecord.Pull.Tasks[:n-1]
	}
	lines := forge.ClosingLines(append(slices.Clone(before), latest),
		func(i company.IssueRef) string { return forge.ClosingLineAt(task.PR.URL, i) })
	return prbody.PRBody(latest, prbody.PROptions{Pushed: true, EarlierTasks: before, ClosingLines: lines}), nil
}

// readPullPage reads the page of a pull request that the office stores.
func readPullPage(paths office.Paths, pr *company.PullRequest) (string, error) {
	var text []byte
	state, err := paths.Folder(paths.State)
	if err == nil {
		defer state.Close()
		text, err = state.ReadFile(pullPageName(pr), 0)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "(its page is gone: " + pullPagePath(paths, pr) + ")\n", nil
	}
	if err != nil {
		return "", company.E(company.EForge, "cannot read the page of the pull request").Wrap(err).
			Fix("check that you own the file")
	}
	return string(text), nil
}

func pullPageName(pr *company.PullRequest) string {
	return fmt.Sprintf("%s/%d.md", PullsDir, pr.Number)
}

func pullPagePath(p office.Paths, pr *company.PullRequest) string {
	return filepath.Join(p.State, filepath.FromSlash(pullPageName(pr)))
}

// PullReview checks the state of a pull request on its forge or in the repository. The office need
// not be open.
type PullReview struct {
	Paths  office.Paths
	Config config.Config
	Office string // id of the office
	Env    func(string) (string, bool)
	Logger *slog.Logger
}

// findForge returns the forge of a pull request.
func (r PullReview) findForge(ctx context.Context, task *company.Task) (forge.Forge, forge.Ref, error) {
	ref := forge.Ref{Office: r.Office, Task: task.ID, Number: task.PR.Number, URL: task.PR.URL, Branch: task.PR.Branch}
	_, remote, err := r.openMirror(ctx, task)
	if err != nil {
		return nil, ref, err
	}
	// The office's own pages are not searched: they need no requests.
	f, err := OpenForges(nil, r.Config, r.Logger, r.Env).ForPullRequest(ctx, ref, remote)
	return f, ref, err
}

// openMirror opens the mirror of a task's project for reading, and returns the address of its
// remote, or "" if there is none.
func (r PullReview) openMirror(ctx context.Context, task *company.Task) (*gitops.Mirror, string, error) {
	mirrors := gitops.ReadOnlyMirrors{Root: r.Paths.Git, Remote: r.Config.Git.Remote, Personal: gitlogin.New(r.Env)}
	mirror, err := mirrors.MirrorOf(ctx, task)
	if err != nil {
		return nil, "", err
	}
	remote, err := mirror.RemoteURL(ctx, task.Project.Path)
	return mirror, remote, err
}

// CheckMerged returns nil if an open pull request is merged. Otherwise it returns an error with
// the next step. The company never merges it by itself (REV-1).
func (r PullReview) CheckMerged(ctx context.Context, task *company.Task) error {
	check := r.checkBase
	if task.PR.IsOnForge() {
		check = r.checkForge
	}
	err := check(ctx, task)
	if task.PR.State != company.PRClosed || company.CodeOf(err) != company.EProtected {
		return err
	}
	refused := company.E(company.EConflict, fmt.Sprintf("#%d is closed and not merged", task.PR.Number)).
		Because("company never merges a closed pull request")
	if task.PR.IsOnForge() {
		return refused.Fix(
			fmt.Sprintf("open it again at %s, then: company pr sync %d && company pr merge %d", task.PR.URL, task.PR.Number,
				task.PR.Number))
	}
	return refused.Fix(fmt.Sprintf("see it by company pr diff %d; merge %s with your own git, then: company pr merge "+
		"%d", task.PR.Number, task.PR.Head.Short(), task.PR.Number))
}

// checkForge returns nil if the pull request is merged on its forge.
func (r PullReview) checkForge(ctx context.Context, task *company.Task) error {
	f, ref, err := r.findForge(ctx, task)
	if err != nil {
		return err
	}
	fb, err := f.Feedback(ctx, ref)
	if err != nil || fb.State == company.PRMerged {
		return err
	}
	return company.E(company.EProtected,
		fmt.Sprintf("#%d is %s, and the company never merges it on its own", task.PR.Number, fb.State)).
		Because("only you decide what goes to " + task.PR.Base).
		Fix(fmt.Sprintf("company pr merge %d at a terminal; or merge it at %s, and then the same", task.PR.Number,
			task.PR.URL))
}

// checkBase returns nil if the base branch contains the pull request's head. It checks the base of
// the remote, or of the checkout if there is no remote.
func (r PullReview) checkBase(ctx context.Context, task *company.Task) error {
	mirror, remote, err := r.openMirror(ctx, task)
	if err != nil {
		return err
	}
	src := gitops.Source{Path: task.Project.Path}
	if remote != "" {
		src = gitops.Source{URL: remote}
	}
	base, err := mirror.FetchBase(ctx, nil, src, task.PR.Base)
	if err != nil {
		return err
	}
	in, err := mirror.IsAncestor(ctx, task.PR.Head, base.OID)
	if err != nil || in {
		return err
	}
	refused := company.E(company.EProtected,
		fmt.Sprintf("%s lacks %s, and the company never moves it on its own", task.PR.Base, task.PR.Head.Short())).
		Because(fmt.Sprintf("%s is at %s; only you decide what goes to it", task.PR.Base, base.OID.Short()))
	// The mirror has the delivered commit, even if no branch has it any more.
	name := r.Config.Git.Remote
	from := shellquote.Quote(mirror.Dir())
	what := string(task.PR.Head)
	var push, instead string
	if remote != "" && !task.PR.Unpushed {
		push = fmt.Sprintf(" && git push %s %s", shellquote.Quote(name), shellquote.Quote(task.PR.Base))
		if task.BranchChange.LosesDelivery() {
			refused = refused.Because("the branch " + task.BranchChange.String())
			instead = fmt.Sprintf("; or, where people merged it in another form: company pr close %d --why \"…\"",
				task.PR.Number)
		} else if pushed, err := mirror.PushTarget(ctx, task.Project.Path, task.PR.Branch); err == nil &&
			pushed.Main(remote) == remote {
			from, what = shellquote.Quote(name), shellquote.Quote(task.PR.Branch)
		}
	}
	refused = refused.Because(
		fmt.Sprintf("%s; at a terminal this merges it, once you confirm it: company pr merge %d", refused.Why,
			task.PR.Number))
	return refused.Fix(fmt.Sprintf("cd %s && git fetch %s %s && git switch %s && git merge --no-ff FETCH_HEAD%s && "+
		"company pr merge %d%s",
		shellquote.Quote(task.Project.Path), from, what, shellquote.Quote(task.PR.Base), push, task.PR.Number, instead))
}

// Close closes an open pull request on its forge. Pages cannot be closed.
func (r PullReview) Close(ctx context.Context, t *company.Task, reason string) error {
	f, ref, err := r.findForge(ctx, t)
	if err != nil {
		return err
	}
	if reason != "" {
		if err := f.Comment(ctx, ref, "closed", reason); err != nil {
			return err
		}
	}
	return f.Close(ctx, ref)
}

// OpenCommand returns the command to open a pull request by hand, for a branch that was pushed to a forge without a
// login to open it. It returns "" if no command is known.
func (r PullReview) OpenCommand(ctx context.Context, task *company.Task) string {
	mirror, remote, err := r.openMirror(ctx, task)
	if err != nil || task.PR.Unpushed {
		return ""
	}
	byHand := forge.ByHand{Base: task.PR.Base, Branch: task.PR.Branch, Title: forge.CleanTitle(task.PR.Title),
		BodyFile: pullPagePath(r.Paths, task.PR)}
	pushed, err := mirror.PushTarget(ctx, task.Project.Path, task.PR.Branch)
	if main := pushed.Main(remote); err == nil && main != remote {
		fork, ok := forge.ParseRemote(main)
		if !ok {
			return ""
		}
		byHand.Branch = fork.Owner + ":" + byHand.Branch
	}
	return openCommand(remote, byHand)
}

func openCommand(remote string, byHand forge.ByHand) string {
	repo, ok := forge.ParseRemote(remote)
	for _, driver := range ForgeDrivers {
		if ok && driver.OpenByHand != nil && driver.ServesHost(repo.Host) {
			return driver.OpenByHand(repo, byHand)
		}
	}
	return ""
}

// PlainPullText renders the text of a pull request for people at a terminal.
func PlainPullText(body string) string { return prbody.PlainText(body) }
