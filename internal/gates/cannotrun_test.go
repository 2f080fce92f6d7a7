package gates_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/hosttest"
)

// otherProcessor is a program for a processor of 32 bits in base64: it makes one system call, exit(0). This kernel starts
// it, and the sandbox ends it.
var otherProcessor = base64.StdEncoding.EncodeToString([]byte("\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x02\x00\x03\x00\x01\x00\x00\x00\x54\x80\x04\x08\x34\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x34\x00\x20\x00\x01\x00" +
	"\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x80\x04\x08\x00\x80\x04\x08\x5d\x00\x00\x00\x5d\x00\x00\x00" +
	"\x05\x00\x00\x00\x00\x10\x00\x00\x31\xc0\x40\x31\xdb\xcd\x80\xeb\xfe"))

// runOther writes the program for another processor beside the tree and runs it.
var runOther = "echo " + otherProcessor + " | base64 -d >/tmp/other && chmod +x /tmp/other && /tmp/other"

// checkAbsent judges a base and a change by provisional checks that cannot run here. Each is run once on the base and
// never on the change. Both give the same reason, which has these words.
func (b *bundle) checkAbsent(base []company.GateCommand, image string, words map[string]string) {
	b.t.Helper()
	for command := range words {
		base = append(base, company.GateCommand{Name: "test (" + command[:min(len(command), 20)] + ")", Command: command,
			Provisional: true, Parse: testreport.FormatPlain, From: "ci.yml:4"})
	}
	b.image = image
	j := b.jobWith(base...)
	j.Baseline = true
	before := len(b.rt.ids)
	known := b.mustRun(j)
	if ran := len(b.rt.ids) - before; ran != len(base) {
		b.t.Errorf("%d checks were run %d times on the base", len(base), ran)
	}
	j.Baseline, j.BaselineResult, before = false, &known, len(b.rt.ids)
	res := b.mustRun(j)
	if ran := len(b.rt.ids) - before; ran != len(base)-len(words) || !res.Passed {
		b.t.Errorf("%d checks were run on a change: %+v", ran, res)
	}
	for i, c := range known.Checks[len(base)-len(words):] {
		now := res.Checks[len(base)-len(words)+i]
		if !c.Absent || c.LeftOut || c.Passed || now.Excused != company.ComparedAbsent ||
			!strings.HasPrefix(c.ExplainAbsence(), "cannot run here: ") ||
			!strings.Contains(c.ExplainAbsence(), words[c.Command]) || now.ExplainAbsence() != c.ExplainAbsence() {
			b.t.Errorf("%q: %+v\non a change: %+v", c.ExplainAbsence(), c, now)
		}
	}
}

// A check that the sandbox ends, or whose program the image lacks, is neither red nor run again: it cannot run here.
func TestCheckThatCannotRunHere(t *testing.T) {
	t.Parallel()
	b := setup(t, nil).withDocker()
	b.checkAbsent([]company.GateCommand{{Name: "test", Command: "true"}}, b.image, map[string]string{
		runOther: "for another processor",
		runOther + " || { echo 'signal: bad system call'; exit 1; }":      "for another processor",
		"printf '\\177ELF' >/tmp/none && chmod +x /tmp/none && /tmp/none": "another processor",
		"no-such-runner || exit 1":                                        "the image has no such program, or it is not executable: /bin/sh: 1: no-such-runner: not found",
	})
}

// The runner of Go says that it cannot run for want of a C compiler, or that its tests were ended.
func TestGoTestsThatCannotRunHere(t *testing.T) {
	hosttest.Long(t, "compiles the standard library for another processor")
	b := setup(t, nil).withDocker()
	b.writeFiles(map[string]string{"go.mod": "module example.org/x\n\ngo 1.24\n", "b.go": "package x\n",
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n"})
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "go")
	j := b.detectedJob()
	b.checkAbsent(j.Gates, j.Image.ID, map[string]string{"GOARCH=386 go test ./...": "another processor",
		"go test -race ./...": "-race requires cgo"})
}

// A check that has run on the base is red if a change makes it call a program that is missing.
func TestCheckThatRanIsRedWithoutAProgram(t *testing.T) {
	t.Parallel()
	b := setup(t, nil).withDocker()
	b.writeFiles(map[string]string{"check.sh": "true\n"})
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "base")
	gate := company.GateCommand{Name: "test", Command: "sh ./check.sh", Provisional: true, Parse: testreport.FormatPlain}
	j := b.jobWith(gate)
	j.Baseline = true
	base := b.mustRun(j)
	for _, script := range []string{runOther, "no-such-program", "echo 'exec: \"x\": executable file not found in $PATH'; exit 1"} {
		b.writeFiles(map[string]string{"check.sh": script + "\n"})
		b.git("commit", "-q", "-am", "change")
		j = b.jobWith(gate)
		j.BaselineResult = &base
		if res := b.mustRun(j); res.Passed || res.Checks[0].Absent || res.Checks[0].Against(&base.Checks[0]) != company.ComparedFailed {
			t.Errorf("%.40s: %+v", script, res)
		}
	}
}

// The words of a missing program in the output of a project's own test, or of a gate from the config, leave it red on
// the base: they may be those of a test. Its exit code says that it cannot start.
func TestOwnTestIsRedByWordsAlone(t *testing.T) {
	t.Parallel()
	b := setup(t, nil).withDocker()
	for _, gate := range []company.GateCommand{{Name: "test"}, {Name: "lint", Given: true}, {Name: "test", Given: true}} {
		for command, starts := range map[string]bool{"echo 't.sh: line 3: jq: command not found'; exit 1": true,
			"echo 'signal: bad system call'; exit 1": true, "no-such-program": false} {
			gate.Command = command
			j := b.jobWith(gate)
			j.Baseline = true
			res, err := b.runner.Run(b.ctx, j)
			if starts != (err == nil) || starts && (res.Checks[0].Absent || res.Checks[0].Passed) {
				t.Errorf("%+v: %+v, %v", gate, res, err)
			}
		}
	}
}
