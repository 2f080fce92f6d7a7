// Package checkfinder finds the commands with which people check a repository. It reads the CI definitions, the
// Makefile, the scripts of manifests, and the fenced blocks of CONTRIBUTING and README. It decides which shell
// commands are checks, of which kind, and whether two commands are equivalent. It reports the file and line of each
// command and uses no model. It only turns text into data and runs no commands. Package gates makes gates of commands
// that only the CI runs. Other commands run only after a user writes them into company.yaml.
package checkfinder

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/ciconfig"
)

// Kinds of checks, named after their gates.
const (
	Lint = "lint"
	Test = "test"
)

// Command is a command that people of the repository run as a check.
type Command struct {
	Kind    string   // Lint or Test
	Command string   // in one line, as its file has it
	Dir     string   // "" is the root
	At      []string // file:line, the most authoritative first
	Agrees  bool     // a gate checks the same, with equivalent arguments
	// CIOnly means that the command depends on a value that only the CI knows. It can agree with a gate but cannot be
	// configured as it is.
	CIOnly bool
	OfCI   bool     // a step of the CI runs it
	InCI   bool     // a step of the CI runs it indirectly
	Env    []string // NAME=value variables of the step whose values are literal
	Gate   string   // the name of the gate that checks the same, or its own name as a gate
	Why    string   // the reason why no gate runs it
	Closer []string // flags with which it looks closer than the gate that checks the same
	Aside  string   // the reason why the CI does not judge changes by its step
	// AsksGit means that it depends on git, as far as its text and the scripts that it runs show.
	AsksGit bool
	// Behind holds the builds that its job runs before it. It may be empty.
	Behind string
	call   call
	in     string // the folder in which its script begins
	// elsewhere means that its folder is unknown or outside of the tree.
	elsewhere bool
}

// Line returns the configuration line that makes the command a gate. It returns false for commands that only a CI can
// run.
func (c Command) Line() (configLine company.ConfigLine, ok bool) {
	if c.CIOnly || len(c.call.params) > 0 { // a configuration has no CI variables
		return company.ConfigLine{}, false
	}
	text := c.Command
	if c.Dir != "" {
		text = "cd " + c.Dir + " && " + text
	}
	configLine = company.ConfigLine{Key: "gates." + c.Kind, Value: text}
	if len(c.At) > 0 {
		configLine.Why = "its people run it: " + c.At[0]
	}
	return configLine, true
}

// Setting returns Line in the form of company.yaml, or "".
func (c Command) Setting() string {
	configLine, ok := c.Line()
	if !ok {
		return ""
	}
	return configLine.Key + ": '" + strings.ReplaceAll(configLine.Value, "'", "''") + "'"
}

// TestLine returns the configuration line for the most authoritative test command that can be a gate.
func (f Found) TestLine() (l company.ConfigLine, ok bool) {
	for _, command := range f.OfKind(Test) {
		// A value in brackets would be read as a list of arguments.
		if l, ok := command.Line(); ok && !strings.ContainsAny(l.Value[:1], "[{\"'") {
			return l, true
		}
	}
	return company.ConfigLine{}, false
}

// Found holds the commands that the files of a repository propose.
type Found struct {
	Commands []Command // tests before lints, the most authoritative first
	Problems []string  // unreadable files, and gates that ask at a terminal
	Unread   []Unread  // CI definitions that could not be read completely
}

// Unread is a CI definition that could not be read completely.
type Unread struct{ File, Why string }

// asking lists programs and shell commands that wait for input from a user.
var asking = []string{"read", "select", "vim", "vi", "nano", "emacs", "less", "more", "dialog", "whiptail", "gdb",
	"script watch"}

const (
	// maxCommands limits the commands of a kind from which a user can choose.
	maxCommands = 16
	// Limits for a repository's text: commands that are compared with one another, places of one command, and parsed
	// scripts.
	maxCollected = 500
	maxPlaces    = 20
	maxFollowed  = 20_000
	maxWriters   = 12 // commands before one comparison of the tree
)

// Find searches a tree for checks. gates are the detected or configured gates.
func Find(tree *ecosystem.Tree, gates []company.GateCommand) Found {
	var found Found
	c := collector{tree: tree, scripts: map[string][]string{}, room: maxFollowed}
	var named []ecosystem.Proposal
	for _, e := range catalog.Of[ecosystem.Proposer]() {
		named = append(named, e.Propose(tree)...)
	}
	for _, p := range named {
		c.addIndirection(p)
	}
	for _, definition := range ciconfig.ReadDefinitions(tree) {
		if definition.Problem != "" {
			found.Problems = append(found.Problems,
				ecosystem.PrintablePath(definition.File)+" cannot be read: "+definition.Problem)
			found.Unread = append(found.Unread, Unread{definition.File, definition.Problem})
		}
		for _, job := range definition.Jobs {
			shared := literalVariables(job.Env)
			c.before, c.built = nil, nil
			var shell shellState
			for _, step := range job.Steps {
				if !step.Continues {
					shell = shellState{}
				}
				env := append(slices.Clone(shared), literalVariables(step.Env)...)
				shell = c.addScript(
					step.Script,
					source{file: cmp.Or(step.File, definition.File), line: step.Line, dir: step.Dir, elsewhere: step.Elsewhere,
						ofCI:  step.Aside == "",
						aside: step.Aside, env: env}, shell)
			}
		}
	}
	if c.unread != "" {
		found.Unread = append(found.Unread,
			Unread{c.unread, fmt.Sprintf("the definitions have more than %d checks", maxCollected)})
	}
	for _, p := range named {
		c.addScript(p.Command, source{file: p.File, line: p.Line, dir: p.Dir}, shellState{})
	}
	for _, s := range findSnippets(tree) {
		c.addScript(s.text, source{file: s.file, line: s.line}, shellState{})
	}
	var chosen []chosenCall
	byGate := make([][]chosenCall, len(gates))
	for i, gateCommand := range gates {
		own := c.resolveCalls(gateCommand.Command, gateCommand.Dir)
		chosen, byGate[i] = append(chosen, own...), own
		for _, one := range own {
			if slices.Contains(asking, one.key) {
				found.Problems = append(found.Problems,
					ecosystem.PrintablePath(gateCommand.Command)+" asks at a terminal ("+one.key+"), and a check has none")
			}
		}
	}
	for _, kind := range []string{Test, Lint} {
		n := 0
		for _, cmd := range c.commands {
			if cmd.Kind != kind || n >= maxCommands && !cmd.OfCI {
				continue
			}
			covers := func(own []chosenCall) bool {
				return c.coverageOf(cmd.call, cmd.in, own, 0) == covered && !(cmd.elsewhere && cmd.OfCI) ||
					slices.ContainsFunc(own, chosenCall.isOfBuild) && c.testsBuild(cmd.call, cmd.in, cmd.elsewhere)
			}
			cmd.Agrees = covers(chosen)
			cmd.AsksGit = cmd.OfCI && c.asksGit(cmd.Command, cmd.call, cmd.in, 0)
			if cmd.Agrees && cmd.OfCI {
				if i := slices.IndexFunc(byGate, covers); i >= 0 {
					cmd.Gate = gates[i].Name
					var own []chosenCall
					c.followCall(cmd.call, cmd.in, 0, &own)
					cmd.Closer = listCloser(own, byGate[i])
				}
				if cmd.isAnotherVariant(found.Commands) {
					cmd.Agrees, cmd.Gate = false, ""
				}
			}
			if n++; n > maxCommands && cmd.Agrees {
				continue // the CI's checks without a gate are always reported
			}
			found.Commands = append(found.Commands, cmd)
		}
	}
	c.markOfCI(found.Commands)
	return found
}

// markOfCI marks the commands of other files that a CI command without a gate runs.
func (c *collector) markOfCI(commands []Command) {
	var own []chosenCall
	for _, cmd := range commands {
		if cmd.OfCI && !cmd.Agrees {
			c.followCall(cmd.call, cmd.in, 0, &own)
		}
	}
	for i, cmd := range commands {
		commands[i].InCI = !cmd.OfCI && !cmd.Agrees && c.coverageOf(cmd.call, cmd.in, own, 0) == covered
	}
}

// OfKind returns the commands of a kind.
func (f Found) OfKind(kind string) (out []Command) {
	for _, command := range f.Commands {
		if command.Kind == kind {
			out = append(out, command)
		}
	}
	return out
}

// collector gathers commands without duplicates, with all the places that name them.
type collector struct {
	tree     *ecosystem.Tree
	commands []Command
	scripts  map[string][]string // the commands of a target or script, by key
	parsed   map[string][]call   // parsed scripts, by text
	kinds    map[string]string   // kinds of checks of targets and scripts, by key
	built    []wrote             // the builds of a job so far
	before   []wrote             // calls of a job that may have written since its last comparison
	room     int                 // the rest of maxFollowed
	unread   string              // the first CI definition with commands beyond the limit
}

// addIndirection stores the commands of a target or script.
func (c *collector) addIndirection(proposal ecosystem.Proposal) {
	for _, call := range parseScript(proposal.Command) {
		if key := call.commandKey(); key != "" && len(proposal.Runs) > 0 {
			key = scopeKey(key, proposal.Dir)
			c.scripts[key] = append(c.scripts[key], proposal.Runs...)
		}
	}
}

// source is the place of a script, and how it is run.
type source struct {
	file string
	line int
	dir  string
	ofCI bool
	// elsewhere means that its folder is unknown.
	elsewhere bool
	aside     string // the reason why the CI does not judge changes by it
	env       []string
}

// addScript adds the checks in a script, which a shell reads in a given state. It returns the state after the script.
func (c *collector) addScript(text string, from source, state shellState) shellState {
	calls, state := parseWithin(text, state, 0)
	chooses := choosesRE.MatchString(text)
	for _, call := range calls {
		call, env := call.nameSession(append(slices.Clone(from.env), call.exports...))
		at := from.dir
		if call.dir != "" {
			at = path.Join(from.dir, call.dir)
		}
		kind := call.checkKind()
		text := flattenLines(call.text)
		open := call.open
		var behind string
		if from.ofCI && kind == Test {
			behind = c.joinBuilds(at)
		}
		if from.ofCI && !from.elsewhere && !chooses && call.isBuild() && len(c.built) < maxWriters {
			c.built = append(c.built, wrote{call, at})
		}
		switch {
		case !from.ofCI:
		case call.comparesTree():
			joined, unknown, ok := joinWriters(c.before, call, at)
			if c.before = nil; !ok {
				continue // there is nothing to compare
			}
			text, open = joined, open || unknown
		case call.mayWrite() && len(c.before) < maxWriters:
			c.before = append(c.before, wrote{call, at})
		}
		if kind == "" && (from.ofCI || from.aside != "") {
			kind = c.kindOfParts(call, at)
		}
		if kind == "" || call.soft {
			continue
		}
		if len(c.commands) == maxCollected {
			c.unread = cmp.Or(c.unread, map[bool]string{true: from.file}[from.ofCI])
			continue
		}
		c.addCommand(Command{
			Kind: kind, Command: text, Dir: at,
			CIOnly:    open || !call.knowsVariables(env) || from.elsewhere || strings.HasPrefix(at, ".."),
			elsewhere: from.elsewhere || call.lost || strings.HasPrefix(at, ".."), Aside: from.aside,
			OfCI: from.ofCI, Behind: behind, Env: append(env, runnerVariables[path.Base(call.unwrapCommand()[0])]...),
			call: call, in: from.dir,
		}, from.file, from.line+call.line)
	}
	return state
}

// parse is parseScript with a cache, for the commands of targets and scripts.
func (c *collector) parse(text string) []call {
	calls, ok := c.parsed[text]
	if !ok {
		calls = parseScript(text)
		if c.parsed == nil {
			c.parsed = map[string][]call{}
		}
		c.parsed[text] = calls
	}
	return calls
}

func (c *collector) addCommand(cmd Command, file string, line int) {
	at := fmt.Sprintf("%s:%d", ecosystem.PrintablePath(file), line)
	if i := slices.IndexFunc(c.commands, func(command Command) bool {
		return command.Kind == cmd.Kind && command.Command == cmd.Command && command.Dir == cmd.Dir &&
			command.CIOnly == cmd.CIOnly &&
			(!command.OfCI || !cmd.OfCI || slices.Equal(command.choosingVariables(), cmd.choosingVariables()))
	}); i >= 0 {
		c.commands[i].OfCI = c.commands[i].OfCI || cmd.OfCI
		if len(c.commands[i].At) < maxPlaces && !slices.Contains(c.commands[i].At, at) {
			c.commands[i].At = append(c.commands[i].At, at)
		}
		return
	}
	cmd.At = []string{at}
	c.commands = append(c.commands, cmd)
}

// maxIndirection limits how deep targets that call one another are followed.
const maxIndirection = 4

// resolveCalls returns the commands of a text, and the commands that they run, without duplicates.
func (c *collector) resolveCalls(text, dir string) []chosenCall {
	var out []chosenCall
	c.followCommand(text, dir, 0, &out)
	return out
}

func (c *collector) followCommand(text, dir string, depth int, out *[]chosenCall) {
	if c.room--; c.room < 0 {
		return
	}
	for _, call := range c.parse(text) {
		c.followCall(call, dir, depth, out)
	}
}

// followCall adds a call in a folder, and the commands that it runs.
func (c *collector) followCall(call call, dir string, depth int, out *[]chosenCall) {
	key, at := call.commandKey(), path.Join(dir, call.dir)
	if c.room--; key == "" || c.room < 0 {
		return
	}
	one := chosenCall{scopeKey(key, at), at, keepChoosing(call.assigns), call.readSelection(key)}
	if slices.ContainsFunc(*out, func(o chosenCall) bool {
		return o.key == one.key && o.dir == one.dir && slices.Equal(o.assigns, one.assigns) &&
			slices.Equal(o.flags, one.flags) && slices.Equal(o.names, one.names)
	}) {
		return
	}
	*out = append(*out, one)
	if depth == maxIndirection {
		return
	}
	for _, runs := range c.scripts[one.key] {
		c.followCommand(runs, at, depth+1, out)
	}
}

// scopeKey returns a key that includes the folder if the meaning depends on files there, as for targets and scripts.
// It does not for commands like go test.
func scopeKey(key, dir string) string {
	name, _, _ := strings.Cut(key, " ")
	if slices.Contains([]string{"script", "make", "tox", "nox", "composer"}, name) || strings.Contains(key, "/") {
		return "/" + dir + " " + key
	}
	return key
}

// flattenLines returns a command as one line.
func flattenLines(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\\\n", " ")), " ")
}
