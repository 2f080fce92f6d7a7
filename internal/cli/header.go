package cli

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/office"
)

// slowLook is how long the look at a repository may take before a line says
// that it is going on: nobody stares at an empty terminal.
const slowLook = 150 * time.Millisecond

// introduce says what will be worked on and by whom, before anything is made.
func (a *app) introduce(paths office.Paths, c office.Config, cmd company.Submit, base gitops.BaseInfo) {
	a.note("company %s  %s  base %s@%s (%s)", Version, repoName(base.RemoteURL, cmd.Project.Path), base.Branch, base.OID.Short(), baseState(c, base))
	a.note("agents  %s   tests  %s", agentsLine(c), testsLine(c))
	a.note("budget  %s   approvals  %s   office %s   stop: Ctrl-C", cmd.Settings.WithDefaults().Cap, approvalsLine(cmd.Settings), shortPath(paths.Root))
}

// slowly says what is being looked at, when that takes a while. The function
// that it returns ends it.
func (a *app) slowly(what string) (done func()) {
	if a.output != "text" {
		return func() {}
	}
	said := make(chan struct{})
	t := time.AfterFunc(slowLook, func() {
		defer close(said)
		a.note("company %s  %s ...", Version, what)
	})
	return func() {
		if !t.Stop() {
			<-said
		}
	}
}

// baseState is what the base does not hold, and what travels along with it.
func baseState(c office.Config, base gitops.BaseInfo) string {
	state := "clean"
	if base.Dirty {
		state = "uncommitted changes are not part of it"
	}
	if base.RemoteURL != "" && base.AheadOfRemote > 0 {
		commits := "1 commit that " + c.Git.Remote + " lacks travels along"
		if base.AheadOfRemote > 1 {
			commits = fmt.Sprintf("%d commits that %s lacks travel along", base.AheadOfRemote, c.Git.Remote)
		}
		state += "; " + commits
	}
	return state
}

// repoName is owner/name where the remote is somewhere else, else the name of
// the checkout's folder. Nothing of a remote but its path is shown: the rest
// may hold a password.
func repoName(remote, checkout string) string {
	p := ""
	if u, err := url.Parse(remote); err == nil && u.Scheme != "" && strings.Contains(remote, "://") {
		if u.Scheme != "file" {
			p = u.Path
		}
	} else if host, rest, ok := strings.Cut(remote, ":"); ok && host != "" && !strings.ContainsAny(host, "/\\") {
		p = rest // git@host:owner/name.git
	}
	p = strings.TrimSuffix(strings.Trim(p, "/"), ".git")
	name, owner := path.Base(p), path.Base(path.Dir(p))
	switch {
	case p == "" || name == "." || name == "/":
		return filepath.Base(checkout)
	case owner == "." || owner == "/":
		return name
	}
	return owner + "/" + name
}

// agentsLine is each profile with its adapter, its model and the roles it is
// for.
func agentsLine(c office.Config) string {
	profiles, users := rolesOf(c)
	var parts []string
	for _, name := range profiles {
		m := c.Models[name]
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

// testsLine is what must pass, as far as the config says. What is detected is
// told with the base commit, once that is read.
func testsLine(c office.Config) string {
	var parts []string
	for _, g := range []struct {
		name string
		cmd  office.Command
	}{{"lint", c.Gates.Lint}, {"test", c.Gates.Test}} {
		if g.cmd.IsCommand() {
			parts = append(parts, g.cmd.String())
		} else {
			parts = append(parts, g.name+" "+g.cmd.Mode)
		}
	}
	return strings.Join(parts, ", ")
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
