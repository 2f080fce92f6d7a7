package cli

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/office"
	"company/internal/prbody"
	"company/internal/safetext"
	"company/internal/shell"
	"company/internal/view"
)

// isOnForge reports whether a pull request is on a forge, and not a page of the
// office's own.
func isOnForge(pr *company.PullRequest) bool { return strings.HasPrefix(pr.URL, "http") }

// forgeOf is the forge that a pull request is on.
func (a *app) forgeOf(ctx context.Context, p office.Paths, officeID string, t *company.Task) (forge.Forge, forge.Ref, error) {
	ref := forge.Ref{Office: officeID, Task: t.ID, Number: t.PR.Number, URL: t.PR.URL, Branch: t.PR.Branch}
	loaded, err := a.loadConfig(ctx, p)
	if err != nil {
		return nil, ref, err
	}
	remote, err := remoteURL(ctx, p, loaded.Config, t)
	if err != nil {
		return nil, ref, err
	}
	// The pages of the office are not looked at: nothing has to be asked of them.
	f, err := officeapp.OpenForges(nil, loaded.Config, a.log, a.env).ForPullRequest(ctx, ref, remote)
	return f, ref, err
}

// prText is the text of a pull request: the office's page, or for one on a
// forge what we keep in it.
func prText(p office.Paths, r view.PullRecord) (string, error) {
	t := r.Task()
	if !isOnForge(t.PR) {
		return readPage(p, t.PR)
	}
	latest, before := t, []*company.Task(nil)
	if n := len(r.Pull.Tasks); n > 0 {
		latest, before = r.Pull.Tasks[n-1], r.Pull.Tasks[:n-1]
	}
	return prbody.PRBody(latest, prbody.PROptions{Pushed: true, EarlierTasks: before}), nil
}

// readableBody is the text of a pull request for people at a terminal: what makes
// it harmless on a forge's page is taken off again, and what a page does not
// show is left out.
func readableBody(body string) string {
	var out []string
	for line := range strings.SplitSeq(body, "\n") {
		switch bare := strings.TrimSpace(line); {
		case strings.HasPrefix(bare, "<!--") && strings.HasSuffix(bare, "-->"), bare == "<details>", bare == "</details>":
		case strings.HasPrefix(bare, "<details><summary>"), strings.HasPrefix(bare, "<summary>"):
			out = append(out, strings.NewReplacer("<details>", "", "<summary>", "", "</summary>", "").Replace(bare))
		default:
			out = append(out, line)
		}
	}
	return unescapeBody.Replace(strings.Join(out, "\n"))
}

var unescapeBody = strings.NewReplacer("\u200b", "", "&lt;", "<", "&gt;", ">", "&amp;", "&", "!\\[", "![", "\\|", "|")

// nextStep says what to do with a pull request.
func (a *app) nextStep(ctx context.Context, p office.Paths, t *company.Task) string {
	n := t.PR.Number
	switch t.PR.State {
	case company.PRMerged:
		return "nothing: it is merged"
	case company.PRClosed:
		return fmt.Sprintf("nothing: it is closed; its branch stays. See the work with company pr diff %d; company submit \"…\" begins anew", n)
	}
	if isOnForge(t.PR) {
		return fmt.Sprintf("review and merge it at %s; company pr sync %d hears what came of it", safetext.Escape(t.PR.URL), n) + uncheckedBranchHint(t)
	}
	if lostBranch(t) {
		on := "goes on from what is there"
		if t.BranchChange.Kind == company.BranchGone {
			on = "makes the branch anew, with what was delivered"
		}
		return fmt.Sprintf("company pr diff %d; how to merge what was delivered: company pr merge %d; where people did that in another form, company pr close %d --why \"…\"; company submit --follows %s \"…\" %s",
			n, n, n, t.ID, on)
	}
	next := fmt.Sprintf("company pr diff %d; merge it with your own git, then company pr merge %d", n, n) + uncheckedBranchHint(t)
	if loaded, err := a.loadConfig(ctx, p); err == nil {
		if remote, err := remoteURL(ctx, p, loaded.Config, t); err == nil {
			if open := openCommand(remote, pagePath(p, t.PR), t.PR); open != "" {
				next += "\nOPEN  " + open
			}
		}
	}
	return next
}

// uncheckedBranchHint names the commits of a branch that were never checked.
func uncheckedBranchHint(t *company.Task) string {
	if t.BranchChange == nil || t.BranchChange.Now == "" {
		return ""
	}
	return fmt.Sprintf("; what people put on the branch went through no gate and no review here: company submit --follows %s \"…\" goes on from it", t.ID)
}

// lostBranch says whether the branch of a pull request lacks the delivered
// commit.
func lostBranch(t *company.Task) bool {
	return t.BranchChange != nil && t.BranchChange.Kind != company.BranchAhead
}

// pagePath is the path of a pull request's page.
func pagePath(p office.Paths, pr *company.PullRequest) string {
	return filepath.Join(p.State, officeapp.PullsDir, fmt.Sprint(pr.Number)+".md")
}

// openCommand is how to open a pull request by hand, where its branch is on GitHub
// and there was no login to open it with. Empty: it is not there.
func openCommand(remote, body string, pr *company.PullRequest) string {
	r, ok := forge.ParseRemote(remote)
	if !ok || r.Host != "github.com" {
		return ""
	}
	return fmt.Sprintf("gh pr create --repo %s --base %s --head %s --title %s --body-file %s\n      or https://github.com/%s/compare/%s...%s?expand=1",
		r, shell.Quote(pr.Base), shell.Quote(pr.Branch), shell.Quote(forge.CleanTitle(pr.Title)), shell.Quote(body), r, url.PathEscape(pr.Base), url.PathEscape(pr.Branch))
}

// checkMergedOnForge is nil when the forge says that the pull request is merged.
func (a *app) checkMergedOnForge(ctx context.Context, p office.Paths, officeID string, t *company.Task) error {
	f, ref, err := a.forgeOf(ctx, p, officeID, t)
	if err != nil {
		return err
	}
	fb, err := f.Feedback(ctx, ref)
	if err != nil || fb.State == company.PRMerged {
		return err
	}
	return company.E(company.EProtected, fmt.Sprintf("#%d is %s, and the company never merges it", t.PR.Number, fb.State)).
		Because("what goes to " + t.PR.Base + " is yours to decide").Fix(fmt.Sprintf("merge it at %s, then: company pr merge %d", t.PR.URL, t.PR.Number))
}

// closeOnForge closes a pull request on its forge; a page has nothing to close.
func (a *app) closeOnForge(ctx context.Context, p office.Paths, officeID string, t *company.Task, why string) error {
	if !isOnForge(t.PR) || t.PR.State != company.PROpen {
		return nil
	}
	f, ref, err := a.forgeOf(ctx, p, officeID, t)
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

func remoteURL(ctx context.Context, p office.Paths, c config.Config, t *company.Task) (string, error) {
	m, err := gitops.LookAt(p.Git, c.Git.Remote, t.Project.ID, t.Project.Path)
	if err != nil {
		return "", err
	}
	return m.RemoteURL(ctx, t.Project.Path)
}
