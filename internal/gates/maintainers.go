package gates

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"company/internal/cifile"
	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/proposal"
	"company/internal/safetext"
	"company/internal/shell"
	"company/internal/testreport"
)

// Bounds of the checks of a repository's own people.
const (
	maxOwnGates  = 6  // that are gates of their own; and as many of programs that no image of ours has, which cost nothing
	maxUnrun     = 24 // that are named
	maxNameCells = 40 // of a command in the name of its gate
)

// addMaintainerChecks makes gates of the checks that the CI runs and no gate does. They judge only
// where they are green on the base: a CI may have a device or a network. A check that cannot be a
// gate is named.
func (p *Project) addMaintainerChecks(t *ecosystem.Tree, found *proposal.Found, o Options) {
	own, unknown := 0, 0
	for i := range found.Commands {
		c := &found.Commands[i]
		if c.Agrees {
			if g := slices.IndexFunc(p.Gates, func(g company.GateCommand) bool { return g.Name == c.Gate }); g >= 0 && p.Gates[g].From == "" {
				p.Gates[g].From = c.At[0]
			}
			continue
		}
		if c.InCI {
			c.Why = "its CI runs it within another check"
			continue
		}
		if !c.OfCI {
			p.addUnrun(c, cmp.Or(c.Aside, "the repository names it, and its CI does not run it"))
			continue
		}
		why := p.explainUnrun(t, *c, o)
		count := &own
		if !isProvided(*c) {
			count = &unknown
		}
		if why == "" && *count == maxOwnGates {
			why = fmt.Sprintf("there are more than %d such checks", maxOwnGates)
		}
		if why != "" {
			p.addUnrun(c, why)
			continue
		}
		*count++
		g := gateOf(*c, p.Gates)
		p.Gates, c.Gate = append(p.Gates, g), g.Name
		p.Notes = append(p.Notes, fmt.Sprintf("%s: %s of %s, where it is green on the base", c.Kind, safetext.EscapeLine(c.Command, 160), safetext.EscapeLine(c.At[0], 120)))
	}
	for _, u := range found.Unread {
		file := ecosystem.PrintablePath(u.File)
		p.addUnrunAt(file, "the jobs of "+file, "not all of it can be read: "+safetext.EscapeLine(u.Why, 160), true)
	}
	for _, file := range cifile.ListOthers(t) {
		p.addUnrunAt(file, "the jobs of "+file, "definitions of this kind of CI are not read", false)
	}
	for _, d := range cifile.ReadDefinitions(t) {
		for _, a := range d.Foreign {
			if aideRE.MatchString(a.Name) {
				continue
			}
			p.addUnrunAt(fmt.Sprintf("%s:%d", d.File, a.Line), a.Name, "a definition of others, not in this repository", false)
		}
		for _, j := range d.Jobs {
			for _, a := range j.Actions {
				if a.IsCheck() && !strings.HasPrefix(a.Name, "./") { // the repository's own are read
					p.addUnrunAt(fmt.Sprintf("%s:%d", d.File, a.Line), a.Name, "an action of others, not a command of this repository", false)
				}
			}
		}
	}
}

// ListNewer lists the checks of p's CI that are new since an older commit: the gates that were found there do not run
// them, and the list of what was not run there does not name them.
func (p Project) ListNewer(gates []company.GateCommand, named []company.UnrunCheck) (out []company.UnrunCheck) {
	for _, g := range p.Gates {
		if g.From == "" || slices.ContainsFunc(gates, func(o company.GateCommand) bool {
			return o.Command == g.Command && o.Dir == g.Dir && o.Report == g.Report
		}) {
			continue
		}
		out = append(out, newUnrun(g.From, inFolder(g.Dir, g.Command), "the CI has it since the work on this pull request began, and the gates are from before", true))
	}
	for _, u := range p.Unrun {
		if u.OfCI && !slices.ContainsFunc(named, func(o company.UnrunCheck) bool { return o.Command == u.Command && o.OfCI }) {
			out = append(out, u)
		}
	}
	return out
}

// addUnrun names a check that no gate runs.
func (p *Project) addUnrun(c *proposal.Command, why string) {
	c.Why = why
	p.addUnrunAt(c.At[0], inFolder(c.Dir, c.Command), why, c.OfCI)
}

// inFolder writes a command of a folder as people run it from the root of the repository.
func inFolder(dir, command string) string {
	if dir == "" {
		return command
	}
	return "cd " + dir + " && " + command
}

// newUnrun is a check that no gate runs. Its texts are of the repository.
func newUnrun(at, command, why string, ofCI bool) company.UnrunCheck {
	return company.UnrunCheck{Command: safetext.EscapeLine(command, 160), At: safetext.EscapeLine(at, 120), Why: why, OfCI: ofCI}
}

func (p *Project) addUnrunAt(at, command, why string, ofCI bool) {
	one := newUnrun(at, command, why, ofCI)
	if slices.ContainsFunc(p.Unrun, func(u company.UnrunCheck) bool { return u.Command == one.Command && u.OfCI == one.OfCI }) {
		return
	}
	if len(p.Unrun) == maxUnrun && ofCI { // what the CI judges by goes before what others name
		for i, u := range slices.Backward(p.Unrun) {
			if !u.OfCI {
				p.Unrun = slices.Delete(p.Unrun, i, i+1)
				break
			}
		}
	}
	if len(p.Unrun) < maxUnrun {
		p.Unrun = append(p.Unrun, one)
	}
}

// aideRE is the name of a definition that checks nothing: it cares for pull requests, or publishes.
var aideRE = lazyregexp.New(`(?i)(auto-?merge|mergify|dependabot|renovate|stale|label|lock|release|publish|deploy|triage|greet|pull-requests?|issue|docs?|project|sync|notify|backport)[a-z-]*\.ya?ml$`)

// explainUnrun says why a check of the CI is no gate, and nothing where it can be one.
func (p *Project) explainUnrun(t *ecosystem.Tree, c proposal.Command, o Options) string {
	switch given := o.overrideOf(c.Kind); {
	case given == None:
		return "gates." + c.Kind + " is none"
	case !given.isAuto():
		return "gates." + c.Kind + " names another command"
	case c.CIOnly:
		return "it has a value that only the CI knows"
	case strings.Contains(" "+c.Command+" ", " sudo "):
		return "it wants to be root"
	case askingGitRE.MatchString(c.Command):
		return "it asks git, and a check here has no repository"
	case c.Dir != "" && len(t.FilesBelow(c.Dir)) == 0:
		return "its folder is not in the repository"
	}
	if name := ToolchainOf(c.Bare()); name != "" && !slices.Contains(p.Toolchains, name) && !isInEveryBase(name) {
		return "it needs " + name + ", which no other check needs"
	}
	return ""
}

// askingGitRE finds a command that goes by what git says. Without an answer many have no files, and are green.
var askingGitRE = lazyregexp.New("(^|[|&;(`]\\s*)git\\s+[a-z]")

// isProvided reports whether the program of a check is of the tree, or one that images have where a check calls it.
func isProvided(c proposal.Command) bool {
	text := c.Bare()
	if ToolchainOf(text) != "" {
		return !foreignCargoRE.MatchString(text)
	}
	for word := range strings.FieldsSeq(text) {
		if strings.Contains(word, "=") {
			continue
		}
		return strings.Contains(word, "/") || !strings.ContainsAny(word, "\"'$") && isToolchain(word)
	}
	return false
}

// foreignCargoRE is a subcommand of cargo that is a program of its own, which Debian does not have.
var foreignCargoRE = lazyregexp.New(`\bcargo (hack|miri|llvm-cov|tarpaulin|nextest|careful|machete|udeps|semver-checks|make)\b`)

// gateOf is a check of the CI as a gate beside those that there are.
func gateOf(c proposal.Command, others []company.GateCommand) company.GateCommand {
	label := strings.NewReplacer("(", "", ")", "").Replace(safetext.EscapeLine(c.Command, maxNameCells))
	if c.Dir != "" {
		label = safetext.EscapeLine(c.Dir, maxNameCells) + " " + label
	}
	name := c.Kind + " (" + label + ")"
	for n := 2; slices.ContainsFunc(others, func(g company.GateCommand) bool { return g.Name == name }); n++ {
		name = fmt.Sprintf("%s (%s %d)", c.Kind, label, n)
	}
	g := company.GateCommand{Name: name, Command: c.Bare(), Dir: c.Dir, Provisional: true, From: c.At[0]}
	if c.Kind == Test {
		g.Parse = testreport.FormatPlain
	}
	if len(c.Env) > 0 {
		var b strings.Builder
		for _, kv := range c.Env {
			key, value, _ := strings.Cut(kv, "=")
			b.WriteString("export " + key + "=" + shell.Quote(value) + "; ")
		}
		g.Report = b.String() + g.Command
	}
	return g
}
