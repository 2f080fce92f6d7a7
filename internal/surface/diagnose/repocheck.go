package diagnose

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/forge"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/gitops/gitlogin"
	"company/internal/lib/safetext"
	"company/internal/office/config"
)

// RepoCheck describes a repository before any work starts: the base that a task would start from,
// and its checks.
type RepoCheck struct {
	Base       gitops.BaseInfo
	Project    gates.Project
	GatesError error  // reason why the checks were not found; the task reports more
	Model      string // replacement for the default model if the config names none
	Numbers    *UsedNumbers
}

// CheckRepo inspects the git objects of a checkout.
func CheckRepo(ctx context.Context, cfg config.Config, repo, ref string) (RepoCheck, error) {
	return checkRepoAs(ctx, nil, cfg, repo, ref)
}

// checkRepoAs is like CheckRepo, and reads the address of the remote with the president's git configuration.
func checkRepoAs(
	ctx context.Context, personal *gitlogin.Logins, cfg config.Config, repo, ref string,
) (RepoCheck, error) {
	mirror, base, done, err := gitops.ViewAs(ctx, personal, repo, cfg.Git.Remote, ref)
	if err != nil {
		return RepoCheck{}, addGitHint(err)
	}
	defer done()
	repoCheck := RepoCheck{Base: base}
	repoCheck.Project, repoCheck.GatesError = gates.Detect(
		ctx, mirror, base.OID,
		gates.Options{Lint: officeapp.ToOverride(cfg.Gates.Lint), Types: officeapp.ToOverride(cfg.Gates.Types),
			Build: officeapp.ToOverride(cfg.Gates.Build),
			Test:  officeapp.ToOverride(cfg.Gates.Test), Paths: cfg.Git.Paths, Services: cfg.ServiceNames(), Proposals: true})
	return repoCheck, nil
}

// addGitHint adds a fix to a git error without one. A retry would fail, too.
func addGitHint(err error) error {
	var fault *company.Error
	if !errors.As(err, &fault) || fault.Code != company.EGit || fault.Hint != "" {
		return err
	}
	return fault.Fix("git status and git fsck show the problem; repair the repository or clone it again").NeedsPerson()
}

// BaseState describes changes that are not part of the base, and commits that are pushed with it.
func BaseState(cfg config.Config, base gitops.BaseInfo) string {
	state := "clean"
	if base.Dirty {
		state = "without the uncommitted changes"
	}
	if base.Detached {
		state += "; detached HEAD, the pull request targets " + base.DefaultBranch
	}
	if base.Shallow {
		state += "; shallow clone, its history is fetched from " + cfg.Git.Remote
	}
	if base.RemoteURL != "" && base.AheadOfRemote > 0 {
		state += "; with " + company.Count(base.AheadOfRemote, "commit") + " not on " + cfg.Git.Remote
	}
	return state
}

// RepoName returns owner/name for a remote on a server, otherwise the name of the checkout's
// folder. It shows only the remote's path, because other parts may contain a password.
func RepoName(remote, checkout string) string {
	if r, ok := forge.ParseRemote(remote); ok {
		return safetext.EscapeLine(r.String(), 200)
	}
	return safetext.EscapeLine(filepath.Base(checkout), 200)
}

// MaxNotes limits the lines shown about the checks of a repository.
const MaxNotes = 4

// GateLines lists the checks that must pass and how they were detected.
func GateLines(seen RepoCheck) []string {
	if seen.GatesError != nil {
		return []string{"not detected yet: " + safetext.EscapeLine(seen.GatesError.Error(), 200)}
	}
	var lines []string
	for i, note := range seen.Project.Notes {
		if i == MaxNotes && len(seen.Project.Notes) > MaxNotes+1 {
			lines = append(lines, fmt.Sprintf("and %d more", len(seen.Project.Notes)-i))
			break
		}
		lines = append(lines, safetext.EscapeLine(note, 200))
	}
	return lines
}
