package gates_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/gates"
	"company/internal/lib/hosttest"
)

// A branch that rewrites its scripts does not rewrite its gate: what runs is
// the base's text, with what npm would run before and after it, and with the
// programs of the folder and of those above.
func TestPinnedScripts(t *testing.T) {
	p := detect(t, map[string]string{
		"package.json":     `{"workspaces":["web"],"devDependencies":{"vitest":"1","eslint":"9"}}`,
		"web/package.json": `{"scripts":{"pretest":"echo before","test":"CI=1 vitest --dir 'a b'","posttest":"echo after","lint":"eslint ."},"devDependencies":{"vitest":"1"}}`,
	}, gates.Options{})
	if len(p.Gates) != 2 {
		t.Fatalf("%+v", p.Gates)
	}
	// A project in which everything is renamed, with programs that say how
	// they are called.
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("web/package.json", `{"scripts":{"test":"true","lint":"true"}}`)
	write("node_modules/.bin/vitest", "#!/bin/sh\necho \"vitest of the root: $@\"\nexit 5\n")
	write("web/node_modules/.bin/eslint", "#!/bin/sh\necho \"eslint of web: $@\"\nexit 6\n")
	for i, want := range []struct {
		code int
		out  []string
	}{
		{6, []string{"eslint of web: .\n"}},
		{5, []string{"before\n", "vitest of the root: --dir a b --run --passWithNoTests --reporter=default"}},
	} {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", p.Gates[i].Report)
		cmd.Dir = filepath.Join(dir, "web")
		out, _ := cmd.CombinedOutput() // the exit code is looked at
		if cmd.ProcessState.ExitCode() != want.code || strings.Contains(string(out), "after") {
			t.Errorf("%s: exit %d, %s", p.Gates[i].Report, cmd.ProcessState.ExitCode(), out)
		}
		for _, w := range want.out {
			if !strings.Contains(string(out), w) {
				t.Errorf("no %q in\n%s", w, out)
			}
		}
	}
	// An audit is left out, what stands beside it is not.
	for scripts, want := range map[string][2]string{
		`"test":"tape x.js","posttest":"npx npm@'>=10.2' audit --production"`: {"npm test --ignore-scripts",
			"( tape x.js )"},
		`"pretest":"npm run lint","test":"tape x.js","posttest":"npx aud --production"`: {"npm run pretest && npm test --ignore-scripts", "( npm run lint ) && ( tape x.js )"},
		`"pretest":"npm audit && tsc","test":"tape x.js","posttest":"npm run audit-log"`: {"npm test",
			"( tsc ) && ( tape x.js ) && ( npm run audit-log )"},
		`"test":"tape x.js","posttest":"npm audit | tee audit.txt"`: {"npm test",
			"( tape x.js ) && ( npm audit | tee audit.txt )"},
		`"pretest":"echo $npm_package_name","test":"node --test","posttest":"npm audit"`: {"npm run pretest && npm test --ignore-scripts", "npm run pretest && NODE_OPTIONS=--test-reporter=tap npm test --ignore-scripts"},
	} {
		g := detect(t, map[string]string{"package.json": `{"scripts":{` + scripts + `}}`}, gates.Options{}).Gates[0]
		if g.Command != want[0] || !strings.HasSuffix(g.Report, want[1]) {
			t.Errorf("%s: %s, as %s; want %s, as %s", scripts, g.Command, g.Report, want[0], want[1])
		}
	}
	// What only npm can run is left to it.
	p = detect(
		t, map[string]string{
			"package.json": `{"scripts":{"pretest":"echo $npm_package_name","test":"vitest"},"devDependencies":{"vitest":"1"}}`},
		gates.Options{})
	if got := p.Gates[0].Report; !strings.HasPrefix(got, "npm test -- --run ") {
		t.Errorf("%s", got)
	}
	p = detect(
		t, map[string]string{"package.json": `{"scripts":{"pretest":"echo $npm_package_name","test":"node --test"}}`},
		gates.Options{})
	if got := p.Gates[0].Report; got != "NODE_OPTIONS=--test-reporter=tap npm test" {
		t.Errorf("%s", got)
	}
}

// A script that waits for changes never ends, and one that reports to a place of
// its own is in the way of the gate's report: both are left to the gate, and
// nothing else of the script is touched.
func TestScriptsLeaveReportingToTheGate(t *testing.T) {
	hosttest.Long(t, "one of many kinds of checks")
	const vitest = " --run --passWithNoTests --reporter=default --reporter=junit --outputFile=/tmp/company-report"
	const jest = " --ci --passWithNoTests --json --outputFile=/tmp/company-report"
	for script, want := range map[string]string{
		"vitest --watch":         "vitest" + vitest,
		"vitest watch --dir src": "vitest run --dir src" + vitest,
		"tsc --watch=false && vitest run --reporter=json --outputFile=out.json --bail 1": "tsc --watch=false && vitest run " +
			"--bail 1" + vitest,
		"vitest --reporter verbose --outputFile.json 'a b.json' src": "vitest src" + vitest,
		"jest --watchAll": "jest" + jest,
		"jest --json --outputFile=x.json --runInBand": "jest --runInBand" + jest,
		"jest --watchAll=false --outputFile x a":      "jest --watchAll=false a" + jest,
		"mocha --watch -w --watch-files a":            "mocha --watch-files a --reporter tap",
		"jest -w 2":                                   "jest -w 2" + jest,
		"ava --watch":                                 "ava --tap",
		"node --test --watch test/":                   "export NODE_OPTIONS=--test-reporter=tap; node --test test/",
		"node --watch tool.js":                        "node tool.js",
		"./watch --watch":                             "./watch --watch",
	} {
		js, err := json.Marshal(map[string]any{"scripts": map[string]string{"test": script}})
		if err != nil {
			t.Fatal(err)
		}
		p := detect(t, map[string]string{"package.json": string(js)}, gates.Options{Lint: gates.None})
		if len(p.Gates) != 1 {
			t.Errorf("%s: %+v", script, p.Gates)
			continue
		}
		_, got, _ := strings.Cut(p.Gates[0].Report, "; export PATH; ")
		if got != "( "+want+" )" {
			t.Errorf("%s is run as\n%s, want\n( %s )", script, got, want)
		}
	}
}
