package diagnose

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/forge"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/safetext"
)

// RepoCheck is what there is to see of a repository before anything is made: where
// a task would start from, and what its checks would be there.
type RepoCheck struct {
	Base          gitops.BaseInfo
	Project       gates.Project
	GatesError    error    // why the checks could not be looked for; the task will tell more
	Model         string   // the model that stands for the default, where the config names none
	ModelWarnings []string // models that their servers do not list
	Numbers       *UsedNumbers
}

// CheckRepo looks at the objects of a checkout.
func CheckRepo(ctx context.Context, c config.Config, repo, ref string) (RepoCheck, error) {
	m, base, done, err := gitops.View(ctx, repo, c.Git.Remote, ref)
	if err != nil {
		return RepoCheck{}, addGitHint(err)
	}
	defer done()
	s := RepoCheck{Base: base}
	s.Project, s.GatesError = gates.Detect(ctx, m, base.OID, gates.Options{Lint: officeapp.ToOverride(c.Gates.Lint), Types: officeapp.ToOverride(c.Gates.Types), Build: officeapp.ToOverride(c.Gates.Build),
		Test: officeapp.ToOverride(c.Gates.Test), Paths: c.Git.Paths, Services: c.ServiceNames(), Proposals: true})
	return s, nil
}

// addGitHint says what to do about a repository that git cannot read, where the
// error does not: trying again goes no better.
func addGitHint(err error) error {
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.EGit || e.Hint != "" {
		return err
	}
	return e.Fix("git status and git fsck name the fault; mend it, or clone it anew").NeedsPerson()
}

// BaseState is what the base does not hold, and what travels along with it.
func BaseState(c config.Config, base gitops.BaseInfo) string {
	state := "clean"
	if base.Dirty {
		state = "uncommitted changes are not part of it"
	}
	if base.Detached {
		state += "; detached, the pull request goes into " + base.DefaultBranch
	}
	if base.Shallow {
		state += "; a shallow clone, its history is completed from " + c.Git.Remote
	}
	if base.RemoteURL != "" && base.AheadOfRemote > 0 {
		state += "; with " + company.Count(base.AheadOfRemote, "commit") + " that " + c.Git.Remote + " lacks"
	}
	return state
}

// RepoName is owner/name where the remote is on a server, else the name of the
// checkout's folder. Nothing of a remote but its path is shown: the rest may
// hold a password.
func RepoName(remote, checkout string) string {
	if r, ok := forge.ParseRemote(remote); ok {
		return safetext.EscapeLine(r.String(), 200)
	}
	return safetext.EscapeLine(filepath.Base(checkout), 200)
}

// MaxNotes is how many lines about the checks of a repository are shown.
const MaxNotes = 4

// GateLines are what must pass, and what it was found by.
func GateLines(seen RepoCheck) []string {
	if seen.GatesError != nil {
		return []string{"not seen yet: " + safetext.EscapeLine(seen.GatesError.Error(), 200)}
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
