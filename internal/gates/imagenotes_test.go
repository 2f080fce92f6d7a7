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
		!strings.HasPrefix(e.Hint, "mend what the image lacks; or have it installed") {
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
