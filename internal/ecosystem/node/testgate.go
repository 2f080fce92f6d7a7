package node

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/shell"
	"company/internal/testreport"
)

// maxTestGates is how many gates the test script of a package is taken apart into. One
// with more checks is a gate as it stands.
const maxTestGates = 4

// namedGate is a check of a package, and the part of its script that it is.
type namedGate struct {
	label   string // empty: it is the only one of its kind
	gate    *company.GateCommand
	program string // that runs the tests; empty: not known
}

// testScript is a package's test script with what runs before and after it, taken apart.
type testScript struct {
	m        Manager
	dir      string
	manifest packageJSON
	groups   [][]step // of pretest, test and posttest
	whole    bool     // nothing was taken out
}

// splitTests takes the test script of a package apart. Checks of the sources and the types that
// it runs are gates of their kinds, and so is each of its runners. Not ok: the script does not
// show its steps.
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
	for _, b := range browsers {
		_, program := b.step.classify()
		c.tests = append(c.tests, namedGate{label(b.step), b.gate, program})
	}
	return true
}

// countChecks returns the steps that are checks, by their kinds, and counts them in the scripts that run them.
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

// kindOf is what a step is for in this package. A linter that is not installed cannot judge by itself.
func (s scriptChecks) kindOf(one step) stepKind {
	kind, program := one.classify()
	if (kind == stepLint || kind == stepTypes) && !s.isInstalled(checkTools[program]) {
		return stepOther
	}
	return kind
}

// takeApart takes the steps out of a script that are checks of other kinds. It returns those that drive a browser.
func (t *testScript) takeApart(s scriptChecks, c *packageChecks) (browsers []browserStep) {
	var before []step // that prepare
	for i := range t.groups {
		var kept []step
		for _, one := range t.groups[i] {
			_, program := one.classify()
			switch kind := s.kindOf(one); kind {
			case stepTests:
				kept = append(kept, one)
				continue
			case stepBrowser:
				c.browsers = append(c.browsers, program)
				if gate, why := s.browserGate(one, program, before); gate != nil {
					browsers = append(browsers, browserStep{one, gate})
				} else {
					s.noteBrowser(one, program, why)
				}
			case stepLint, stepTypes:
				s.addSeparate(c, one, kind, program)
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

// hidesRunner reports whether a step that is no simple command has a runner in it, whose report would be one of several.
func (s step) hidesRunner() bool {
	return s.words == nil && slices.ContainsFunc(strings.FieldsFunc(s.text, isBetweenWords), isRunner)
}

// labelOf names the part of a script that a step is: the script that runs it alone, else its program.
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

// gateOf is the check of one step: with those before it that prepare, and, for the last
// check, those after it.
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
	if gate.Report == "" { // by its manager, and without what that cannot pass on
		t.runByManager(gate, which, one, report, last)
	}
	return gate
}

// stepsOf returns the steps that a check needs, by group, with another text for the check itself.
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

// pinStep is the text of a gate that needs no manager. Empty: only the manager can run it.
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

// commandOf is a check of a script as people run it.
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

// plainPrograms are found without a client of packages.
var plainPrograms = strings.Fields("node npm npx pnpm yarn echo true rm mkdir cp mv sh bash cat chmod touch test ls make python3 git sleep find sed grep docker")

// commandOf is a step as people run it in the folder of its package.
func (m Manager) commandOf(s step) string {
	program := strings.TrimPrefix(s.text, s.env)
	if len(s.words) == 0 || slices.Contains(plainPrograms, s.words[0]) || strings.Contains(s.words[0], "/") {
		return s.text
	}
	return s.env + m.Exec + program
}

// runByManager has the manager run a check, where what it has installed cannot be run without it.
func (t testScript) runByManager(gate *company.GateCommand, which int, one step, report runnerReport, last bool) {
	if !t.whole || which > 0 || !last {
		with := one
		with.text = report.text
		if at := strings.Index(gate.Command, t.m.commandOf(one)); at >= 0 {
			gate.Report = gate.Command[:at] + report.env + t.m.commandOf(with) + gate.Command[at+len(t.m.commandOf(one)):]
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

// endsWith reports whether the test script's last step is this one. It gets the script's arguments then.
func (t testScript) endsWith(one step) bool {
	group := t.groups[1]
	return len(group) > 0 && group[len(group)-1].text == one.text
}

// runnerReport is how a runner reports its tests.
type runnerReport struct {
	format string
	tool   string // the program that must be there
	env    string // stands before the step
	text   string // the step, with what makes it report
	alone  string // the same, for the test of CANARY alone; empty: it cannot
	args   string // what text has more than the step
}

// reportOf returns how a step that runs tests reports them.
func (m Manager) reportOf(one step) runnerReport {
	program, words := findProgram(one.words)
	text := quiet(program, one.text)
	out := runnerReport{format: testreport.FormatPlain}
	only := ""
	switch program {
	case "vitest":
		out.format, out.tool, out.args = testreport.FormatJUnit, "vitest", vitestArguments
		if !slices.Contains(words, "--run") {
			out.args = " --run" + out.args
		}
		only = " " + ecosystem.CanaryPlaceholder
		if choosesFiles(words, "run", "watch", "dev") {
			only = " -t " + ecosystem.CanaryPlaceholder
		}
	case "jest":
		out.format, out.tool, out.args = formatJestJSON, "jest", jestArguments
		only = " " + ecosystem.CanaryPlaceholder
		if choosesFiles(words) {
			only = " -t " + ecosystem.CanaryPlaceholder
		}
	case "mocha":
		out.format, out.tool, out.args, only = formatTAP, "mocha", " --reporter tap", " --grep "+ecosystem.CanaryPlaceholder
	case "ava":
		out.format, out.tool, out.args, only = formatTAP, "ava", " --tap", " '--match=*"+ecosystem.CanaryPlaceholder+"*'"
	case "tape", "tap":
		out.format = formatTAP
	case "node --test":
		out.format, out.env = formatTAP, "export NODE_OPTIONS=--test-reporter=tap; "
		if strings.Contains(text, "NODE_OPTIONS=") { // it would replace the other
			out.env, text = "", strings.Replace(text, "--test", "--test --test-reporter=tap", 1)
		}
		// Behind "--test" come files.
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

// addSeparate adds a check that the test script runs beside its tests, where no gate runs it
// already.
func (s scriptChecks) addSeparate(c *packageChecks, one step, kind stepKind, program string) {
	list, name := &c.lints, "lint"
	if kind == stepTypes {
		list, name = &c.types, "types"
	}
	own := packageJSON{Scripts: map[string]string{name: one.text}, managed: s.manifest.managed}
	gate := &company.GateCommand{Command: s.m.commandOf(one), Report: own.pinScript(s.dir, name, ""), Probe: s.m.Probe(program)}
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
		if known.gate.Provisional { // the script asks for it
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

// browserStep is a step that drives a browser, and its check.
type browserStep struct {
	step step
	gate *company.GateCommand
}

// noteBrowser says that a step is left out, and why.
func (s scriptChecks) noteBrowser(one step, program, why string) {
	script := "test"
	if one.via != nil {
		script = one.via.name
	}
	s.tree.AddNote("%s: the script %s drives a browser (%s), and %s: it alone is left out, and the other tests count; to have it judge a change, install what it needs with container.setup and set gates.test: %s",
		manifestIn(s.dir), ecosystem.PrintablePath(script), ecosystem.PrintablePath(program), why, shell.QuoteArgument(s.m.Name+" test"))
}
