package node

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/shellquote"
)

// maxTestGates limits the gates into which a package's test script is split. A script with more checks
// becomes a single gate.
const maxTestGates = 4

// namedGate is a check of a package, labeled with the part of the script that it runs.
type namedGate struct {
	label   string // empty if it is the only one of its kind
	gate    *company.GateCommand
	program string // the program that runs the tests, or empty if unknown
}

// testScript is a package's test script, split into steps with its pre and post scripts.
type testScript struct {
	m        Manager
	dir      string
	manifest packageJSON
	groups   [][]step // steps of pretest, test and posttest
	whole    bool     // no step was removed
}

// splitTests splits the test script of a package into gates. Linters and type checks that it runs become
// gates of their kinds, and each runner becomes its own gate. ok is false if the steps of the script cannot
// be determined.
func (s scriptChecks) splitTests(manifest packageJSON, c *packageChecks) (ok bool) {
	t := testScript{m: s.m, dir: s.dir, manifest: manifest, whole: !manifest.parted}
	for _, name := range []string{"pretest", "test", "posttest"} {
		var group []step
		if script := strings.TrimSpace(manifest.Scripts[name]); script != "" {
			if group, ok = s.m.readSteps(manifest, script, s.left); !ok {
				return false
			}
		}
		if slices.ContainsFunc(group, step.hidesRunner) {
			return false
		}
		t.groups = append(t.groups, group)
	}
	checks := t.countChecks(s)
	if n := len(checks[stepTests]) + len(checks[stepBrowser]); n == 0 || n > maxTestGates {
		return false
	}
	browsers := t.takeApart(s, c)
	used := map[string]bool{}
	label := func(one step) string {
		if len(checks[stepTests])+len(browsers) == 1 {
			return ""
		}
		return t.labelOf(one, used)
	}
	for i, one := range checks[stepTests] {
		label := label(one)
		_, program := one.classify()
		c.tests = append(c.tests, namedGate{label, t.gateOf(i, one, i == len(checks[stepTests])-1), program})
	}
	for _, browserStep := range browsers {
		_, program := browserStep.step.classify()
		c.tests = append(c.tests, namedGate{label(browserStep.step), browserStep.gate, program})
	}
	return true
}

// countChecks returns the steps that are checks, by kind. It also counts them in the scripts that contain
// them.
func (t testScript) countChecks(s scriptChecks) map[stepKind][]step {
	out := map[stepKind][]step{}
	for _, group := range t.groups {
		for _, one := range group {
			kind := s.kindOf(one)
			out[kind] = append(out[kind], one)
			if one.via != nil && kind != stepOther && kind != stepNone {
				one.via.steps++
			}
		}
	}
	return out
}

// kindOf returns the kind of a step in this package. A linter that is not installed counts as stepOther.
func (s scriptChecks) kindOf(one step) stepKind {
	kind, program := one.classify()
	if (kind == stepLint || kind == stepTypes) && !s.isInstalled(checkTools[program]) {
		return stepOther
	}
	return kind
}

// takeApart removes the steps that are checks of other kinds from a script. It returns those that run tests
// in a browser.
func (t *testScript) takeApart(s scriptChecks, checks *packageChecks) (browsers []browserStep) {
	var before []step // steps that prepare
	for i := range t.groups {
		var kept []step
		for _, one := range t.groups[i] {
			_, program := one.classify()
			switch kind := s.kindOf(one); kind {
			case stepTests:
				kept = append(kept, one)
				continue
			case stepBrowser:
				checks.browsers = append(checks.browsers, program)
				if gate, reason := s.browserGate(one, program, before); gate != nil {
					browsers = append(browsers, browserStep{one, gate})
				} else {
					s.noteBrowser(one, program, reason)
				}
			case stepLint, stepTypes:
				s.addSeparate(checks, one, kind, program)
			case stepOther:
				before = append(before, one)
				kept = append(kept, one)
				continue
			}
			t.whole = false
		}
		t.groups[i] = kept
	}
	return browsers
}

// hidesRunner reports whether a step that is not a simple command contains a runner. Its report would be
// one of several.
func (s step) hidesRunner() bool {
	return s.words == nil && slices.ContainsFunc(strings.FieldsFunc(s.text, isBetweenWords), isRunner)
}

// labelOf returns a unique label for a step: the name of the script that runs only this step, or else its
// program.
func (t testScript) labelOf(one step, used map[string]bool) string {
	_, name := one.classify()
	if name == "node --test" {
		name = "node"
	}
	if one.via != nil && one.via.steps <= 1 && scriptNameRE.MatchString(one.via.name) {
		name = partLabel(one.via.name)
	}
	label := name
	for n := 2; used[label]; n++ {
		label = fmt.Sprintf("%s %d", name, n)
	}
	used[label] = true
	return label
}

// gateOf returns the check for one step. It includes the steps before it that prepare and, for the last
// check, the steps after it.
func (t testScript) gateOf(which int, one step, last bool) *company.GateCommand {
	report := t.m.reportOf(one)
	gate := &company.GateCommand{Parse: report.format}
	if report.tool != "" {
		gate.Probe = t.m.Probe(report.tool)
	}
	gate.Command = t.m.formatTestCommand(t.manifest)
	if !t.whole || which > 0 || !last {
		gate.Command = t.commandOf(which, one, last)
	}
	gate.Report = t.pinStep(which, report.env, report.text, last)
	if report.alone != "" {
		gate.Canary = t.pinStep(which, report.env, report.alone, last)
	}
	if gate.Canary != "" {
		gate.Plant = plantScript
	}
	if gate.Report == "" { // run by its manager, without options that the manager cannot pass on
		t.runByManager(gate, which, one, report, last)
	}
	return gate
}

// stepsOf returns the steps that a check needs, by group. text replaces the text of the check's own step.
func (t testScript) stepsOf(which int, text string, last bool) [][]step {
	var out [][]step
	n := 0
	for _, group := range t.groups {
		var kept []step
		for _, one := range group {
			kind, _ := one.classify()
			if kind == stepTests {
				if n == which {
					one.text = text
					kept = append(kept, one)
				}
				n++
				continue
			}
			if n <= which || last {
				kept = append(kept, one)
			}
		}
		out = append(out, kept)
	}
	return out
}

// pinStep returns the text of a gate that needs no manager. It returns "" if only the manager can run it.
func (t testScript) pinStep(which int, env, text string, last bool) string {
	var texts []string
	for _, group := range t.stepsOf(which, text, last) {
		var all []string
		for _, one := range group {
			all = append(all, one.text)
		}
		line := strings.Join(all, " && ")
		if slices.ContainsFunc(group, func(s step) bool { return s.text == text }) {
			line = env + line
		}
		texts = append(texts, line)
	}
	return t.manifest.pinTexts(t.dir, texts...)
}

// commandOf returns the command with which a user runs one check of a script.
func (t testScript) commandOf(which int, one step, last bool) string {
	var out []string
	for _, group := range t.stepsOf(which, one.text, last) {
		for _, s := range group {
			command := t.m.commandOf(s)
			if s.via != nil && (s.via == one.via && one.via.steps == 1 || s.via != one.via && s.via.steps == 0) {
				command = s.via.command
			}
			if len(out) == 0 || out[len(out)-1] != command {
				out = append(out, command)
			}
		}
	}
	return strings.Join(out, " && ")
}

// plainPrograms lists programs that can be called without a package manager.
var plainPrograms = strings.Fields(
	"node npm npx pnpm yarn echo true rm mkdir cp mv sh bash cat chmod touch test ls make python3 git sleep find sed " +
		"grep docker")

// commandOf returns the command with which a user runs a step in the folder of its package.
func (m Manager) commandOf(s step) string {
	program := strings.TrimPrefix(s.text, s.env)
	if len(s.words) == 0 || slices.Contains(plainPrograms, s.words[0]) || strings.Contains(s.words[0], "/") {
		return s.text
	}
	return s.env + m.Exec + program
}

// runByManager changes a gate so that the manager runs its check. It is for programs that only the manager
// can run.
func (t testScript) runByManager(gate *company.GateCommand, which int, one step, report runnerReport, last bool) {
	if !t.whole || which > 0 || !last {
		with := one
		with.text = report.text
		if index := strings.Index(gate.Command, t.m.commandOf(one)); index >= 0 {
			gate.Report = gate.Command[:index] + report.env + t.m.commandOf(with) + gate.Command[index+len(t.m.commandOf(one)):]
			return
		}
		gate.Parse = testreport.FormatPlain
		return
	}
	if ends := one.via == nil || one.via.steps == 1; !ends || !t.endsWith(one) {
		gate.Report, gate.Parse = "", testreport.FormatPlain
		return
	}
	gate.Report = strings.TrimSuffix(gate.Command+t.m.Arguments+report.args, t.m.Arguments)
	if report.env != "" {
		gate.Report = strings.Replace(gate.Command, t.m.Name+" test", "NODE_OPTIONS=--test-reporter=tap "+t.m.Name+" test", 1)
	}
}

// endsWith reports whether this is the last step of the test script, which gets the script's arguments.
func (t testScript) endsWith(one step) bool {
	group := t.groups[1]
	return len(group) > 0 && group[len(group)-1].text == one.text
}

// runnerReport describes how a runner reports its tests.
type runnerReport struct {
	format string
	tool   string // the program that must be installed
	env    string // text before the step
	text   string // the step, changed so that it reports
	alone  string // like text, for only the test named CANARY, or empty if the runner cannot select tests
	args   string // arguments in text that the step lacks
}

// reportOf returns how a step that runs tests reports its results.
func (m Manager) reportOf(one step) runnerReport {
	program, words := findProgram(one.words)
	text := quiet(program, one.text)
	out := runnerReport{format: testreport.FormatPlain}
	only := ""
	switch program {
	case "vitest":
		out.format = testreport.FormatJUnit
		out.tool = "vitest"
		out.args = vitestArguments
		if !slices.Contains(words, "--run") {
			out.args = " --run" + out.args
		}
		only = " " + ecosystem.CanaryPlaceholder
		if choosesFiles(words, "run", "watch", "dev") {
			only = " -t " + ecosystem.CanaryPlaceholder
		}
	case "jest":
		out.format = formatJestJSON
		out.tool = "jest"
		out.args = jestArguments
		only = " " + ecosystem.CanaryPlaceholder
		if choosesFiles(words) {
			only = " -t " + ecosystem.CanaryPlaceholder
		}
	case "mocha":
		out.format = formatTAP
		out.tool = "mocha"
		out.args = " --reporter tap"
		only = " --grep " + ecosystem.CanaryPlaceholder
	case "ava":
		out.format = formatTAP
		out.tool = "ava"
		out.args = " --tap"
		only = " '--match=*" + ecosystem.CanaryPlaceholder + "*'"
	case "tape", "tap":
		out.format = formatTAP
	case "node --test":
		out.format, out.env = formatTAP, "export NODE_OPTIONS=--test-reporter=tap; "
		if strings.Contains(text, "NODE_OPTIONS=") { // the step's own value would replace the exported one
			out.env, text = "", strings.Replace(text, "--test", "--test --test-reporter=tap", 1)
		}
		// The arguments after "--test" are files.
		out.alone = strings.Replace(text, "--test", "--test --test-name-pattern="+ecosystem.CanaryPlaceholder, 1)
	}
	if env, all, ok := forPackages(one); ok {
		out.env, out.text = env, all
		return out
	}
	out.text = text + out.args
	if only != "" {
		out.alone = out.text + only
	}
	return out
}

// addSeparate adds a lint or type check that the test script also runs, unless a gate runs it already.
func (s scriptChecks) addSeparate(checks *packageChecks, one step, kind stepKind, program string) {
	list, name := &checks.lints, "lint"
	if kind == stepTypes {
		list, name = &checks.types, "types"
	}
	own := packageJSON{Scripts: map[string]string{name: one.text}, managed: s.manifest.managed}
	gate := &company.GateCommand{Command: s.m.commandOf(one), Report: own.pinScript(s.dir, name, ""),
		Probe: s.m.Probe(program)}
	if program == "tsc" {
		gate.Parse = formatTypeScript
	}
	if one.via != nil && one.via.steps == 1 {
		gate.Command = one.via.command
	}
	for i, known := range *list {
		if known.gate.Report != "" && known.gate.Report == gate.Report || known.gate.Command == gate.Command {
			return
		}
		if known.gate.Provisional { // the script asks for this check, so it replaces the provisional one
			*list = slices.Delete(*list, i, i+1)
			break
		}
	}
	if len(*list) > 0 {
		if len(*list) == maxTestGates {
			return
		}
		label := program
		for n := 2; slices.ContainsFunc(*list, func(g namedGate) bool { return g.label == label }); n++ {
			label = fmt.Sprintf("%s %d", program, n)
		}
		*list = append(*list, namedGate{label: label, gate: gate})
		return
	}
	*list = append(*list, namedGate{gate: gate})
}

// browserStep is a step that runs tests in a browser, and its check.
type browserStep struct {
	step step
	gate *company.GateCommand
}

// noteBrowser adds a note that a step is left out, with the reason.
func (s scriptChecks) noteBrowser(one step, program, reason string) {
	script := "test"
	if one.via != nil {
		script = one.via.name
	}
	s.tree.AddNote("%s: the script %s drives a browser (%s), and %s: it alone is left out, and the other tests count; "+
		"to have it judge a change, install what it needs with container.setup and set gates.test: %s",
		manifestIn(s.dir), ecosystem.PrintablePath(script), ecosystem.PrintablePath(program), reason,
		shellquote.QuoteArgument(s.m.Name+" test"))
}
