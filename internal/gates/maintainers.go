package gates

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/checkfinder"
	"company/internal/ecosystem/ciconfig"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
	"company/internal/lib/shellquote"
)

// Limits for the maintainers' checks.
const (
	maxOwnGates  = 6  // gates of their own; and as many whose programs our images lack, which cost no time
	maxUnrun     = 24 // that are listed
	maxNameCells = 40 // of a command in the name of its gate
)

// addMaintainerChecks adds gates for checks that the CI runs and no gate does. They count only if they are green on
// the base, since a CI may have a device or a network. A check that cannot be a gate is listed as not run.
func (p *Project) addMaintainerChecks(tree *ecosystem.Tree, found *checkfinder.Found, options Options) {
	unasked, others := "the repository names it, and its CI does not run it", ciconfig.ListOthers(tree)
	if len(others) > 0 {
		unasked = "the repository names it, and " + others[0] + ", which may run it, is not read"
	}
	own, unknown := 0, 0
	for i := range found.Commands {
		command := &found.Commands[i]
		if command.Agrees {
			if g := slices.IndexFunc(p.Gates, func(g company.GateCommand) bool { return g.Name == command.Gate }); g >= 0 &&
				p.Gates[g].From == "" {
				p.Gates[g].From = command.At[0]
			}
			if len(command.Closer) > 0 {
				p.addUnrunAt(command.At[0], inFolder(command.Dir, command.Command),
					"its tests are run here without "+strings.Join(command.Closer, " "), false)
			}
			continue
		}
		if command.InCI {
			command.Why = "its CI runs it within another check"
			continue
		}
		if !command.OfCI {
			p.addUnrun(command, cmp.Or(command.Aside, unasked))
			continue
		}
		reason := p.explainUnrun(tree, *command, options)
		count := &own
		if !isProvided(*command) {
			count = &unknown
		}
		if reason == "" && *count == maxOwnGates {
			reason = fmt.Sprintf("there are more than %d such checks", maxOwnGates)
		}
		if reason != "" {
			p.addUnrun(command, reason)
			continue
		}
		*count++
		g := gateOf(*command, p.Gates)
		p.Gates, command.Gate = append(p.Gates, g), g.Name
		p.Notes = append(
			p.Notes, fmt.Sprintf("%s: %s of %s, where it is green on the base", command.Kind,
				safetext.EscapeLine(command.Command, 160),
				safetext.EscapeLine(command.At[0], 120)))
	}
	for _, unread := range found.Unread {
		file := ecosystem.PrintablePath(unread.File)
		p.addUnrunAt(file, "the jobs of "+file, "not all of it can be read: "+safetext.EscapeLine(unread.Why, 160), true)
	}
	for _, file := range others {
		p.addUnrunAt(file, "the jobs of "+file, "definitions of this kind of CI are not read", false)
	}
	for _, definition := range ciconfig.ReadDefinitions(tree) {
		for _, action := range definition.Foreign {
			if aideRE.MatchString(action.Name) {
				continue
			}
			p.addUnrunAt(fmt.Sprintf("%s:%d", definition.File, action.Line), action.Name,
				"defined outside this repository", false)
		}
		for _, j := range definition.Jobs {
			for _, action := range j.Actions {
				if action.IsCheck() && !strings.HasPrefix(action.Name, "./") { // the repository's own actions are read
					p.addUnrunAt(fmt.Sprintf("%s:%d", definition.File, action.Line), action.Name,
						"an action from outside this repository", false)
				}
			}
		}
	}
}

// ListNewer lists the checks of p's CI that were added since an older commit. These are run by none of that commit's
// gates and are missing from its list of checks not run.
func (p Project) ListNewer(gates []company.GateCommand, named []company.UnrunCheck) (out []company.UnrunCheck) {
	for _, gateCommand := range p.Gates {
		if gateCommand.From == "" || slices.ContainsFunc(gates, func(o company.GateCommand) bool {
			return o.Command == gateCommand.Command && o.Dir == gateCommand.Dir && o.Report == gateCommand.Report
		}) {
			continue
		}
		out = append(
			out, newUnrun(gateCommand.From, inFolder(gateCommand.Dir, gateCommand.Command),
				"the CI has it since the work on this pull request "+
					"began, and the gates are from before", true))
	}
	for _, unrunCheck := range p.Unrun {
		if unrunCheck.OfCI && !slices.ContainsFunc(
			named, func(o company.UnrunCheck) bool { return o.Command == unrunCheck.Command && o.OfCI }) {
			out = append(out, unrunCheck)
		}
	}
	return out
}

// addUnrun lists a check that no gate runs.
func (p *Project) addUnrun(command *checkfinder.Command, reason string) {
	command.Why = reason
	p.addUnrunAt(command.At[0], inFolder(command.Dir, command.Command), reason, command.OfCI)
}

// inFolder formats a command of a folder as people run it from the repository root.
func inFolder(dir, command string) string {
	if dir == "" {
		return command
	}
	return "cd " + dir + " && " + command
}

// newUnrun returns a check that no gate runs. It escapes the texts that come from the repository.
func newUnrun(at, command, reason string, ofCI bool) company.UnrunCheck {
	return company.UnrunCheck{Command: safetext.EscapeLine(command, 160), At: safetext.EscapeLine(at, 120), Why: reason,
		OfCI: ofCI}
}

func (p *Project) addUnrunAt(at, command, reason string, ofCI bool) {
	one := newUnrun(at, command, reason, ofCI)
	if slices.ContainsFunc(p.Unrun,
		func(u company.UnrunCheck) bool { return u.Command == one.Command && u.OfCI == one.OfCI }) {
		return
	}
	if len(p.Unrun) == maxUnrun && ofCI { // the CI's checks take precedence over other listed ones
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

// aideRE matches names of CI definitions that check no code: they manage pull requests or publish.
var aideRE = lazyregexp.New(
	`(?i)(auto-?merge|mergify|dependabot|renovate|stale|label|lock|release|publish|deploy|triage|greet|pull-requests?|issue|docs?|project|sync|notify|backport)[a-z-]*\.ya?ml$`)

// explainUnrun returns why a check of the CI cannot be a gate, or "" if it can.
func (p *Project) explainUnrun(tree *ecosystem.Tree, command checkfinder.Command, o Options) string {
	switch given := o.overrideOf(command.Kind); {
	case given == None:
		return "gates." + command.Kind + " is none"
	case !given.isAuto():
		return "gates." + command.Kind + " names another command"
	case command.CIOnly:
		return "it has a value that only the CI knows"
	case strings.Contains(" "+command.Command+" ", " sudo "):
		return "it wants to be root"
	case command.Dir != "" && len(tree.FilesBelow(command.Dir)) == 0:
		return "its folder is not in the repository"
	}
	if name := ToolchainOf(command.Bare()); name != "" && !slices.Contains(p.Toolchains, name) && !isInEveryBase(name) {
		return "it needs " + name + ", which no other check needs"
	}
	return ""
}

// inRepository runs a command inside a git repository, because the trees of checks have none. It uses a copy of the
// tree, since files written there would disturb other checks.
func inRepository(dir, command string) string {
	top := "."
	if dir != "" {
		top = strings.Repeat("../", strings.Count(dir, "/")+1)
	}
	return `copy=$(mktemp -d) && trap 'rm -rf -- "$copy"' EXIT && cp -a ` + top + `/. "$copy" && cd -- "$copy"/` +
		shellquote.QuoteArgument(dir) +
		` && git init -q "$copy" && git -C "$copy" add -A && git -C "$copy" -c user.name=company -c user.email=company@localhost commit -q --allow-empty --no-verify -m base && { ` + command + "\n}"
}

// behindBuilds runs a command after the builds that precede it in its CI job. If a build fails, its output is shown
// and the check is red, as in the CI; otherwise the command might find no tests and be green. The output goes to a
// file, so a process that the builds leave running is not waited for.
func behindBuilds(builds, command string) string {
	return `built=$(mktemp) && { ( ` + builds + ` ) >"$built" 2>&1 </dev/null || { cat "$built"; exit 1; }; } && { ` +
		command + "\n}"
}

// isProvided reports whether a check's program is in the tree or in an image that provides it on demand.
func isProvided(c checkfinder.Command) bool {
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

// foreignCargoRE matches cargo subcommands that are separate programs and that Debian lacks.
var foreignCargoRE = lazyregexp.New(
	`\bcargo (hack|miri|llvm-cov|tarpaulin|nextest|careful|machete|udeps|semver-checks|make)\b`)

// gateOf returns a gate for a check of the CI, with a name that differs from those of the others.
func gateOf(command checkfinder.Command, others []company.GateCommand) company.GateCommand {
	label := strings.NewReplacer("(", "", ")", "").Replace(safetext.EscapeLine(command.Command, maxNameCells))
	if command.Dir != "" {
		label = safetext.EscapeLine(command.Dir, maxNameCells) + " " + label
	}
	name := command.Kind + " (" + label + ")"
	for n := 2; slices.ContainsFunc(others, func(g company.GateCommand) bool { return g.Name == name }); n++ {
		name = fmt.Sprintf("%s (%s %d)", command.Kind, label, n)
	}
	gateCommand := company.GateCommand{Name: name, Command: command.Bare(), Dir: command.Dir, Provisional: true,
		From: command.At[0]}
	if command.Kind == Test {
		gateCommand.Parse = testreport.FormatPlain
	}
	if command.Behind != "" {
		gateCommand.Report = behindBuilds(command.Behind, gateCommand.Command)
	}
	if command.AsksGit {
		gateCommand.Report = inRepository(command.Dir, cmp.Or(gateCommand.Report, gateCommand.Command))
	}
	if len(command.Env) > 0 {
		var b strings.Builder
		for _, kv := range command.Env {
			key, value, _ := strings.Cut(kv, "=")
			b.WriteString("export " + key + "=" + shellquote.Quote(value) + "; ")
		}
		gateCommand.Report = b.String() + cmp.Or(gateCommand.Report, gateCommand.Command)
	}
	return gateCommand
}
