package node

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"company/internal/company/glob"
	"company/internal/lib/boundedparse/bash"
	"company/internal/lib/lazyregexp"
)

// Limits of one script, including all the scripts that it runs.
const (
	maxFollowed = 8        // depth of scripts that run other scripts
	maxSteps    = 64       // commands of a script in total
	maxScript   = 16 << 10 // bytes
	maxParsed   = 4 << 20  // bytes of all scripts of a tree that are parsed, counting repeated parsing
)

// step is one command of a script. Calls of other scripts are replaced by the commands in them.
type step struct {
	text  string // text for the shell
	env   string // assignments before the program, with a space at their end
	words []string
	// via is the innermost script that contains the step. A nil via means the top script.
	via *scriptCall
}

// scriptCall is a call of another script of the package.
type scriptCall struct {
	name    string
	command string // the command with which a user runs it
	steps   int    // number of checks in it
}

// stepReader splits scripts into the commands that they run in sequence.
type stepReader struct {
	m        Manager
	manifest packageJSON
	room     int  // commands left of maxSteps
	left     *int // bytes left of maxParsed
}

// readSteps returns the commands of a script. ok is false if the script does more than run commands until
// one fails, or if a command changes the effect of later ones.
func (m Manager) readSteps(manifest packageJSON, script string, left *int) (steps []step, ok bool) {
	r := stepReader{m, manifest, maxSteps, left}
	return r.readScript(script, nil, 0)
}

// stateful lists shell commands that change the effect of later commands.
var stateful = []string{"cd", "pushd", "popd", "export", "unset", "set", "source", ".", "exit", "trap", "alias", "eval",
	"exec", "shift", "ulimit", "umask", "wait"}

func (r *stepReader) readScript(script string, via *scriptCall, depth int) (out []step, ok bool) {
	if *r.left -= len(script); len(script) > maxScript || *r.left < 0 {
		return nil, false
	}
	file, err := bash.Parse(script)
	if err != nil || len(file.Stmts) != 1 || len(file.Last) > 0 || strings.ContainsAny(script, "\n\x00") ||
		depth > maxFollowed {
		return nil, false
	}
	for _, s := range splitChain(file.Stmts[0]) {
		one := step{text: script[s.Pos().Offset():s.End().Offset()], via: via}
		call, isCall := s.Cmd.(*syntax.CallExpr)
		switch {
		case len(s.Comments) > 0 || s.Background:
			return nil, false
		case !isCall || s.Negated || len(s.Redirs) > 0: // a pipe, an alternative or a loop
			one.text = strings.TrimRight(one.text, "; ")
			if chain, ok := s.Cmd.(*syntax.BinaryCmd); ok && chain.Op == syntax.OrStmt {
				one.text = "{ " + one.text + "; }" // the braces keep the alternative limited to this step
			}
		case len(call.Args) == 0:
			return nil, false
		default:
			at := call.Args[0].Pos().Offset() - s.Pos().Offset()
			one.env = one.text[:at]
			one.text = strings.TrimRight(one.text, "; ")
			one.words = literalWords(call.Args)
		}
		if len(one.words) > 0 && slices.Contains(stateful, one.words[0]) {
			return nil, false
		}
		inner, followed := r.followCall(one, call, script, depth)
		if !followed {
			inner = []step{one}
		}
		if r.room -= len(inner); r.room < 0 {
			return nil, false
		}
		out = append(out, inner...)
	}
	return out, true
}

// splitChain returns the statements of a && chain in order.
func splitChain(s *syntax.Stmt) []*syntax.Stmt {
	var out []*syntax.Stmt
	for {
		chain, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || chain.Op != syntax.AndStmt || s.Negated || len(s.Redirs) > 0 || s.Background {
			break
		}
		out = append(out, chain.Y)
		s = chain.X
	}
	out = append(out, s)
	slices.Reverse(out)
	return out
}

// literalWords returns the arguments of a command. An argument that only a shell can expand becomes empty.
func literalWords(args []*syntax.Word) []string {
	out := make([]string, len(args))
	for i, w := range args {
		out[i] = literalWord(w)
	}
	return out
}

func literalWord(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok {
					return ""
				}
				b.WriteString(strings.ReplaceAll(lit.Value, `\`, ""))
			}
		default:
			return ""
		}
	}
	return b.String()
}

// followCall returns the steps of the scripts that a command runs. ok is false if it runs none or one that
// cannot be split.
func (r *stepReader) followCall(s step, call *syntax.CallExpr, script string, depth int) (out []step, ok bool) {
	if len(s.words) == 0 {
		return nil, false
	}
	if text, ok := r.readWireit(s); ok {
		return r.readScript(text, s.via, depth+1)
	}
	names, args := r.findScripts(s.words)
	if len(names) == 0 {
		return nil, false
	}
	rest := ""
	if args < len(call.Args) {
		rest = " " + script[call.Args[args].Pos().Offset():call.Args[len(call.Args)-1].End().Offset()]
	}
	for _, name := range names {
		name, more, _ := strings.Cut(name, " ") // run-s "test:unit -- --run"
		more = strings.TrimPrefix(strings.TrimSpace(more), "-- ")
		if more != "" {
			more = " " + more
		}
		text := strings.TrimSpace(r.manifest.Scripts[name])
		if text == "" {
			return nil, false
		}
		via := &scriptCall{name: name, command: r.m.Name + " run " + name}
		if rest+more != "" {
			via.command += r.m.Arguments + rest + more
		}
		for _, part := range []string{r.manifest.Scripts["pre"+name], text + rest + more, r.manifest.Scripts["post"+name]} {
			if strings.TrimSpace(part) == "" {
				continue
			}
			inner, ok := r.readScript(part, via, depth+1)
			if !ok {
				return nil, false
			}
			for i := range inner {
				inner[i] = inner[i].within(s.env)
			}
			out = append(out, inner...)
		}
	}
	return out, true
}

// within returns the step with the assignments of the command that runs its script.
func (s step) within(env string) step {
	if env == "" {
		return s
	}
	if s.words == nil {
		s.text = "export " + env + "; " + s.text
		s.text = "( " + s.text + " )"
		return s
	}
	s.env, s.text = env+s.env, env+s.text
	return s
}

// quietFlags lists flags of clients, and of programs like run-s, that do not select scripts.
var quietFlags = []string{"-s", "--silent", "--if-present", "-q", "--quiet", "-c", "--continue-on-error", "-l",
	"--print-label", "-n", "--print-name", "--aggregate-output", "-p", "--parallel", "--sequential", "--serial", "--color"}

// findScripts returns the names of the scripts that a command runs, and the index of the first argument for
// them.
func (r *stepReader) findScripts(words []string) (names []string, args int) {
	program := path.Base(words[0])
	i := 1
	skip := func() {
		for i < len(words) && slices.Contains(quietFlags, words[i]) {
			i++
		}
	}
	skip()
	switch program {
	case "run-s", "run-p", "npm-run-all", "npm-run-all2":
		for ; i < len(words); i++ {
			if slices.Contains(quietFlags, words[i]) {
				continue
			}
			if words[i] == "--" { // the rest replaces "{@}"
				return names, i + 1
			}
			found := r.matchScripts(strings.TrimSuffix(words[i], " {@}"))
			if strings.HasPrefix(words[i], "-") || len(found) == 0 {
				return nil, 0
			}
			names = append(names, found...)
		}
		return names, i
	case "npm", "pnpm", "yarn", "node":
	default:
		return nil, 0
	}
	if i == len(words) {
		return nil, 0
	}
	name := words[i]
	switch {
	case program == "node":
		if name != "--run" || i+1 == len(words) {
			return nil, 0
		}
		i++
		name = words[i]
	case name == "run" || name == "run-script":
		i++
		skip()
		if i == len(words) {
			return nil, 0
		}
		name = words[i]
	case name == "test" || name == "t" || name == "tst":
		name = "test"
	case program == "npm":
		return nil, 0
	}
	if r.manifest.Scripts[name] == "" || strings.ContainsAny(name, " \t") {
		return nil, 0
	}
	i++
	skip()
	if i < len(words) && words[i] == "--" {
		i++
	} else if program == "npm" && i < len(words) && strings.HasPrefix(words[i], "-") {
		return nil, 0 // a flag for npm itself, such as --workspaces
	}
	return []string{name}, i
}

// matchScripts returns the scripts that match a pattern of npm-run-all, such as "test:*".
func (r *stepReader) matchScripts(pattern string) []string {
	name, rest, _ := strings.Cut(pattern, " ")
	if !strings.Contains(name, "*") {
		if r.manifest.Scripts[name] == "" {
			return nil
		}
		return []string{pattern}
	}
	if rest != "" {
		return nil
	}
	// Colons separate the parts of a script name, as slashes separate those of a path.
	wanted, err := glob.ParsePattern(strings.ReplaceAll(name, ":", "/"), glob.Full)
	if err != nil {
		return nil
	}
	var out []string
	budget := projectSteps
	for _, script := range slices.Sorted(maps.Keys(r.manifest.Scripts)) {
		if wanted.MatchWithin(strings.ReplaceAll(script, ":", "/"), &budget) {
			out = append(out, script)
		}
	}
	return out
}

// wireitScript is the configuration of a script that wireit runs, from the package.json.
type wireitScript struct {
	Command      string            `json:"command"`
	Dependencies []json.RawMessage `json:"dependencies"`
}

// readWireit returns the commands that wireit runs for a script: the scripts of this package that it
// depends on, and then its own command.
func (r *stepReader) readWireit(s step) (text string, ok bool) {
	if s.via == nil && r.manifest.Scripts["test"] != s.text || len(s.words) != 1 || s.words[0] != "wireit" {
		return "", false
	}
	name := "test"
	if s.via != nil {
		name = s.via.name
	}
	script := r.manifest.Wireit[name]
	var all []string
	for _, raw := range script.Dependencies {
		var dependency struct{ Script string }
		if json.Unmarshal(raw, &dependency.Script) != nil && json.Unmarshal(raw, &dependency) != nil {
			return "", false
		}
		if !scriptNameRE.MatchString(dependency.Script) || r.manifest.Scripts[dependency.Script] == "" {
			return "", false // a script of another package
		}
		all = append(all, "npm run "+dependency.Script)
	}
	if script.Command != "" {
		all = append(all, script.Command)
	}
	return strings.Join(all, " && "), len(all) > 0
}

// scriptNameRE matches script names that are safe in a command and in the name of a gate.
var scriptNameRE = lazyregexp.New(`^[A-Za-z0-9][\w:.-]{0,39}$`)
