package gates

import (
	"errors"
	"strings"
	"testing"

	"company/internal/company"
)

// A gate that cannot start on the base says what is known of the image, which
// is the cause as a rule, before what a shell says of it.
func TestImageNotesOnFailure(t *testing.T) {
	notes := []string{"package.json is locked by pnpm, which is not supported: nothing is installed", "b", "c", "d"}
	err := addImageNotes(
		cannotStartError(company.GateCommand{Name: "test", Command: "vitest run"},
			company.GateCheck{ExitCode: 127, Output: "sh: 1: vitest: not found\n"}), notes)
	var e *company.Error
	if !errors.As(err, &e) || !strings.HasPrefix(
		e.Why, "the image lacks what the project asks for: package.json is locked by pnpm") ||
		!strings.Contains(e.Why, "vitest: not found") || strings.Contains(e.Why, "; d") ||
		!strings.HasPrefix(e.Hint, "add what the image lacks; or have it installed") {
		t.Errorf("%v\n%s", err, e.Hint)
	}
	for _, err := range []error{errors.New("the daemon is away"), company.E(company.EDocker, "away"), nil} {
		if got := addImageNotes(err, notes); !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
	}
}

// Where the ecosystem knows why a gate cannot start, that is the reason: a build without tests
// lacks no program.
func TestWhyAGateCannotStart(t *testing.T) {
	for output, want := range map[string]string{
		"Test project /company-build\nNo tests were found!!!\n":                                                   "the build has no tests: turn them on",
		"CMake Error: Could NOT find ZLIB (missing: ZLIB_LIBRARY)\n-- Configuring incomplete, errors occurred!\n": "the build asks for ZLIB, which the image does not have",
		"sh: 1: frobnicate: not found\n":                                                                          "the image has no such program, or it is not executable: sh: 1: frobnicate: not found",
	} {
		err := cannotStartError(company.GateCommand{Name: "test", Command: "cmake -S . -B x && ctest"},
			company.GateCheck{ExitCode: 8, Output: output})
		var e *company.Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Why, want) ||
			want[:9] != "the image" && strings.Contains(e.Why+e.Hint, "executable") {
			t.Errorf("%q: %+v", output, e)
		}
	}
}

// Of a check that ran a test, no words of a runner say that it cannot start. Those of the runner itself do, if there is
// no test.
func TestRunnerThatCannotStart(t *testing.T) {
	const gaveUp = "make: jq: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n"
	some := company.GateCheck{Command: "make test", ExitCode: 2, Output: gaveUp, Counts: &company.TestCounts{Passed: 1}}
	for name, c := range map[string]struct {
		check company.GateCheck
		want  bool
	}{
		"make ran no test": {company.GateCheck{Command: "make test", ExitCode: 2, Output: gaveUp}, true},
		"make ran a test":  {company.GateCheck{Command: "make test", ExitCode: 2, Output: "PASS one\n" + gaveUp}, false},
		"it is counted":    {some, false},
		"go was ended": {company.GateCheck{Command: "go test ./...", ExitCode: company.ExitTimeout,
			Output: "cgo: C compiler \"gcc\" not found: x\n"}, false},
		"go ran a test": {company.GateCheck{Command: "go test ./...", ExitCode: 1,
			Output: "cgo: C compiler \"gcc\" not found: x\nFAIL\tx/c [build failed]\n--- FAIL: TestB (0.00s)\n"}, false},
	} {
		if got := cannotStart(c.check); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// The verdict on a change keeps of a check that cannot run here what is shown of its line.
func TestKeepAbsentCutsItsLine(t *testing.T) {
	base := company.GateCheck{Absent: true, ExitCode: 1,
		Output: strings.Repeat("é", 3000) + ": exec format error\n" + strings.Repeat("x", 99)}
	kept := keepAbsent(base)
	if len(kept.Output) > 210 || kept.ExplainAbsence() != base.ExplainAbsence() {
		t.Errorf("%d bytes: %q, not %q", len(kept.Output), kept.ExplainAbsence(), base.ExplainAbsence())
	}
}
