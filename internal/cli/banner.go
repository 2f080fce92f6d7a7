package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/config"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/office"
	"company/internal/safetext"
)

// progressDelay is how long the look at a repository may take before a line
// says that it is going on.
const progressDelay = 150 * time.Millisecond

// maxNotes is how many lines about the checks of a repository are shown.
const maxNotes = 4

// printBanner prints the repository, the agents and the limits, before anything
// is made.
func (a *app) printBanner(paths office.Paths, c config.Config, cmd company.Submit, seen repoCheck) {
	base := seen.base
	a.printNote("company %s  %s  base %s@%s (%s)", Version, repoName(base.RemoteURL, cmd.Project.Path), base.Branch, base.OID.Short(), baseState(c, base))
	a.printNote("agents  %s", agentsLine(c, seen.model))
	for _, doubt := range seen.modelWarnings {
		a.printNote("!       %s", safetext.EscapeLine(doubt, 300))
	}
	for i, line := range gateLines(seen) {
		title := "tests"
		if i > 0 {
			title = ""
		}
		a.printNote("%-7s %s", title, line)
	}
	a.printNote("budget  %s   approvals %s   office %s   stop: Ctrl-C", budgetLine(c, cmd.Settings.WithDefaults().Cap, seen.model), approvalsLine(cmd.Settings), safetext.EscapeLine(shortPath(paths.Root), 300))
}

// withProgress names a slow step while it runs. The function that it returns
// ends it.
func (a *app) withProgress(what string) (done func()) {
	if a.output != "text" {
		return func() {}
	}
	said := make(chan struct{})
	t := time.AfterFunc(progressDelay, func() {
		defer close(said)
		a.printNote("company %s  %s ...", Version, safetext.EscapeLine(what, 200))
	})
	return func() {
		if !t.Stop() {
			<-said
		}
	}
}

// baseState is what the base does not hold, and what travels along with it.
func baseState(c config.Config, base gitops.BaseInfo) string {
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

// repoName is owner/name where the remote is on a server, else the name of the
// checkout's folder. Nothing of a remote but its path is shown: the rest may
// hold a password.
func repoName(remote, checkout string) string {
	if r, ok := forge.ParseRemote(remote); ok {
		return safetext.EscapeLine(r.String(), 200)
	}
	return safetext.EscapeLine(filepath.Base(checkout), 200)
}

// agentsLine is each profile with its adapter, its model and the roles it is
// for. chosen is the model of the default profile, where the config names none.
func agentsLine(c config.Config, chosen string) string {
	profiles, users := rolesByProfile(c)
	var parts []string
	for _, name := range profiles {
		m := c.Models[name]
		if name == "default" && chosen != "" {
			m.Model = chosen
		}
		text := m.Adapter
		if m.Model != "" {
			text += " " + m.Model
		}
		if len(profiles) > 1 {
			text += " (" + strings.Join(users[name], ", ") + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// gateLines are what must pass, and what it was found by.
func gateLines(seen repoCheck) []string {
	if seen.gatesError != nil {
		return []string{"not seen yet: " + safetext.EscapeLine(seen.gatesError.Error(), 200)}
	}
	var lines []string
	for i, note := range seen.project.Notes {
		if i == maxNotes && len(seen.project.Notes) > maxNotes+1 {
			lines = append(lines, fmt.Sprintf("and %d more", len(seen.project.Notes)-i))
			break
		}
		lines = append(lines, safetext.EscapeLine(note, 200))
	}
	return lines
}

func approvalsLine(s company.Settings) string {
	var kinds []string
	for _, k := range []struct {
		name string
		mode company.Mode
	}{{"plan", s.Plan}, {"merge", s.Merge}, {"pr", s.PR}} {
		if k.mode == company.Ask {
			kinds = append(kinds, k.name)
		}
	}
	if len(kinds) == 0 {
		return "none"
	}
	return strings.Join(kinds, ", ")
}

// shortPath is a path as seen from where one stands, if that is shorter.
func shortPath(p string) string {
	wd, err := os.Getwd()
	if err != nil {
		return p
	}
	rel, err := filepath.Rel(wd, p)
	if err != nil || len(rel) >= len(p) {
		return p
	}
	return rel
}
