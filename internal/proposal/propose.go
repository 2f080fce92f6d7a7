// Package proposal finds the commands by which the people of a repository check it:
// in its CI definitions, its Makefile, the scripts of its manifests, the fenced blocks
// of CONTRIBUTING and README. It owns which shell command is a check, of which kind,
// and whether two commands come to the same; it promises to say where each comes
// from, by file and line, and that no model has a part in it. It is text in and data
// out, and runs nothing: package gates makes gates of what the CI alone runs, and the rest
// is run once a person writes it into company.yaml.
package proposal

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/cifile"
	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/lazyregexp"
)

// Kinds of checks, by the gates that they are for.
const (
	Lint = "lint"
	Test = "test"
)

// Command is a command that people of the repository run as a check.
type Command struct {
	Kind    string   // Lint or Test
	Command string   // in one line, as its file has it
	Dir     string   // "" is the root
	At      []string // file:line, the strongest first
	Agrees  bool     // what detection chose checks the same, by arguments that select the same
	// CIOnly says that the command has a value that only the CI knows: it agrees or
	// not, and cannot be set as it stands.
	CIOnly bool
	OfCI   bool     // a step of the CI runs it
	InCI   bool     // a step of the CI runs another command that comes to it
	Env    []string // variables that the step has, NAME=value each, where their values are written there
	Gate   string   // the name of the gate that checks the same, or that it is itself
	Why    string   // that no gate runs it
	Aside  string   // why its CI judges no change by it, where a step of it runs it
	call   call
	in     string // the folder that its script begins in
	// elsewhere says that it runs in a folder that is not known, or is none of the tree.
	elsewhere bool
}

// Line is the line of the config that makes the command a gate. ok is false for commands that
// only a CI runs.
func (c Command) Line() (l company.ConfigLine, ok bool) {
	if c.CIOnly || len(c.call.params) > 0 { // a config has none of the CI's variables
		return company.ConfigLine{}, false
	}
	text := c.Command
	if c.Dir != "" {
		text = "cd " + c.Dir + " && " + text
	}
	l = company.ConfigLine{Key: "gates." + c.Kind, Value: text}
	if len(c.At) > 0 {
		l.Why = "its people run it: " + c.At[0]
	}
	return l, true
}

// Setting is Line as company.yaml has it, or nothing.
func (c Command) Setting() string {
	l, ok := c.Line()
	if !ok {
		return ""
	}
	return l.Key + ": '" + strings.ReplaceAll(l.Value, "'", "''") + "'"
}

// TestLine is the line by which the strongest test command becomes the gate that can.
func (f Found) TestLine() (l company.ConfigLine, ok bool) {
	for _, c := range f.OfKind(Test) {
		// A value in brackets would be read as a list of arguments.
		if l, ok := c.Line(); ok && !strings.ContainsAny(l.Value[:1], "[{\"'") {
			return l, true
		}
	}
	return company.ConfigLine{}, false
}

// Found is what the files of a repository propose.
type Found struct {
	Commands []Command // tests before lints, the strongest first
	Problems []string  // files that could not be read, and gates that ask a person
	Unread   []Unread  // definitions of the CI of which not all could be read
}

// Unread is a definition of the CI of which not all could be read.
type Unread struct{ File, Why string }

// asking are programs and words of a shell that wait for a person.
var asking = []string{"read", "select", "vim", "vi", "nano", "emacs", "less", "more", "dialog", "whiptail", "gdb", "script watch"}

const (
	// maxCommands is how many commands of a kind are kept: a person chooses from them.
	maxCommands = 16
	// Bounds of a repository's text: commands that are compared with one another, places of one
	// command, and scripts that are parsed to find out what commands come to.
	maxCollected = 500
	maxPlaces    = 20
	maxFollowed  = 20_000
)

// Find looks through a tree. gates are what detection chose, or the config gave.
func Find(t *ecosystem.Tree, gates []company.GateCommand) Found {
	var f Found
	c := collector{tree: t, scripts: map[string][]string{}, room: maxFollowed}
	var named []ecosystem.Proposal
	for _, e := range catalog.Of[ecosystem.Proposer]() {
		named = append(named, e.Propose(t)...)
	}
	for _, p := range named {
		c.addIndirection(p)
	}
	for _, d := range cifile.ReadDefinitions(t) {
		if d.Problem != "" {
			f.Problems = append(f.Problems, ecosystem.PrintablePath(d.File)+" cannot be read: "+d.Problem)
			f.Unread = append(f.Unread, Unread{d.File, d.Problem})
		}
		for _, j := range d.Jobs {
			shared := literalVariables(j.Env)
			var shell shellState
			for _, s := range j.Steps {
				if !s.Continues {
					shell = shellState{}
				}
				env := append(slices.Clone(shared), literalVariables(s.Env)...)
				shell = c.addScript(s.Script, source{file: cmp.Or(s.File, d.File), line: s.Line, dir: s.Dir, elsewhere: s.Elsewhere, ofCI: s.Aside == "", aside: s.Aside, env: env}, shell)
			}
		}
	}
	if c.unread != "" {
		f.Unread = append(f.Unread, Unread{c.unread, fmt.Sprintf("the definitions have more than %d checks", maxCollected)})
	}
	for _, p := range named {
		c.addScript(p.Command, source{file: p.File, line: p.Line, dir: p.Dir}, shellState{})
	}
	for _, s := range findSnippets(t) {
		c.addScript(s.text, source{file: s.file, line: s.line}, shellState{})
	}
	var chosen []chosenCall
	byGate := make([][]chosenCall, len(gates))
	for i, g := range gates {
		own := c.resolveCalls(g.Command, g.Dir)
		chosen, byGate[i] = append(chosen, own...), own
		for _, one := range own {
			if slices.Contains(asking, one.key) {
				f.Problems = append(f.Problems, ecosystem.PrintablePath(g.Command)+" asks at a terminal ("+one.key+"), and a check has none")
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
			if cmd.Agrees && cmd.OfCI {
				if i := slices.IndexFunc(byGate, covers); i >= 0 {
					cmd.Gate = gates[i].Name
				}
				if cmd.isAnotherVariant(f.Commands) {
					cmd.Agrees, cmd.Gate = false, ""
				}
			}
			if n++; n > maxCommands && cmd.Agrees {
				continue // the CI's checks without a gate are told in any case
			}
			f.Commands = append(f.Commands, cmd)
		}
	}
	c.markOfCI(f.Commands)
	return f
}

// markOfCI marks the commands that other files name and that a command of the CI runs, which no gate does.
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

// OfKind are the commands of a kind.
func (f Found) OfKind(kind string) (out []Command) {
	for _, c := range f.Commands {
		if c.Kind == kind {
			out = append(out, c)
		}
	}
	return out
}

// collector gathers commands, each once, with all the places that name it.
type collector struct {
	tree     *ecosystem.Tree
	commands []Command
	scripts  map[string][]string // by key: what a target or a script comes to
	parsed   map[string][]call   // what they run, by its text
	kinds    map[string]string   // which checks they are, by key
	room     int                 // what is left of maxFollowed
	unread   string              // the definition of the CI from which on commands had no room
}

// addIndirection keeps what a target or a script comes to.
func (c *collector) addIndirection(p ecosystem.Proposal) {
	for _, call := range parseScript(p.Command) {
		if key := call.commandKey(); key != "" && len(p.Runs) > 0 {
			key = scopeKey(key, p.Dir)
			c.scripts[key] = append(c.scripts[key], p.Runs...)
		}
	}
}

// source is where a script stands, and how it is run.
type source struct {
	file string
	line int
	dir  string
	ofCI bool
	// elsewhere says that it runs in a folder that is not known.
	elsewhere bool
	aside     string // why the CI judges no change by it
	env       []string
}

// addScript adds the checks among the commands of a script, which a shell reads in a state, and returns the state behind it.
func (c *collector) addScript(text string, from source, state shellState) shellState {
	calls, state := parseWithin(text, state, 0)
	for _, call := range calls {
		call, env := call.nameSession(append(slices.Clone(from.env), call.exports...))
		at := from.dir
		if call.dir != "" {
			at = path.Join(from.dir, call.dir)
		}
		kind := call.checkKind()
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
			Kind: kind, Command: flattenLines(call.text), Dir: at, CIOnly: call.open || !call.knowsVariables(env) || from.elsewhere || strings.HasPrefix(at, ".."),
			elsewhere: from.elsewhere || call.lost || strings.HasPrefix(at, ".."), Aside: from.aside,
			OfCI: from.ofCI, Env: append(env, runnerVariables[path.Base(call.unwrapCommand()[0])]...), call: call, in: from.dir,
		}, from.file, from.line+call.line)
	}
	return state
}

// publishRE is the name of a target or a script that tests before it does something else.
var publishRE = lazyregexp.New(`(?i)(^|[-_:./])(pre|post)?(publish(only)?|release|deploy|pack|prepare|version|install|setup|docs?|start|serve|dev|run|watch|clean|bump|upload|commit|push)($|[-_:./])`)

// kindOfParts is the kind of check that a target or a script is by what it runs: make ci, npm run unit. One that prepares or
// publishes is none.
func (c *collector) kindOfParts(one call, at string) string {
	key := one.commandKey()
	_, name, _ := strings.Cut(key, " ")
	if key == "" || slices.Contains(preparing, name) || publishRE.MatchString(name) || slices.ContainsFunc(one.words, asksToWatch) {
		return ""
	}
	return c.kindOfKey(scopeKey(key, at), at)
}

// kindOfKey is the same for the key of a target or a script. Each is looked at once.
func (c *collector) kindOfKey(key, at string) (kind string) {
	if known, ok := c.kinds[key]; ok || len(c.scripts[key]) == 0 || c.room < 0 {
		return known
	}
	if c.kinds == nil {
		c.kinds = map[string]string{}
	}
	c.kinds[key] = "" // where it comes to itself
	for _, runs := range c.scripts[key] {
		c.room--
		for _, inner := range c.parse(runs) {
			own := inner.checkKind()
			if key := inner.commandKey(); own == "" && key != "" {
				in := path.Join(at, inner.dir)
				own = c.kindOfKey(scopeKey(key, in), in)
			}
			if kind = cmp.Or(kind, own); own == Test {
				kind = Test
			}
		}
	}
	c.kinds[key] = kind
	return kind
}

// parse is parseScript of what a target or a script runs, each read once.
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
	if i := slices.IndexFunc(c.commands, func(o Command) bool {
		return o.Kind == cmd.Kind && o.Command == cmd.Command && o.Dir == cmd.Dir && o.CIOnly == cmd.CIOnly && (!o.OfCI || !cmd.OfCI || slices.Equal(o.choosingVariables(), cmd.choosingVariables()))
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

// maxIndirection bounds targets that call one another.
const maxIndirection = 4

// resolveCalls are the commands of a text, and those that they come to, each once.
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

// followCall adds a call that runs in a folder, and what it comes to.
func (c *collector) followCall(call call, dir string, depth int, out *[]chosenCall) {
	key, at := call.commandKey(), path.Join(dir, call.dir)
	if c.room--; key == "" || c.room < 0 {
		return
	}
	one := chosenCall{scopeKey(key, at), at, keepChoosing(call.assigns), call.readSelection(key)}
	if slices.ContainsFunc(*out, func(o chosenCall) bool {
		return o.key == one.key && o.dir == one.dir && slices.Equal(o.assigns, one.assigns) && slices.Equal(o.flags, one.flags) && slices.Equal(o.names, one.names)
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

// scopeKey is a key as it stands in one folder: what a target or a script does
// depends on the file there; what go test does does not.
func scopeKey(key, dir string) string {
	name, _, _ := strings.Cut(key, " ")
	if slices.Contains([]string{"script", "make", "tox", "nox", "composer"}, name) || strings.Contains(key, "/") {
		return "/" + dir + " " + key
	}
	return key
}

// flattenLines is a command in one line.
func flattenLines(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\\\n", " ")), " ")
}
