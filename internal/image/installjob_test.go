package image

import (
	"errors"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/toolproto"
)

// A failure that would come back at each try is a person's to look at, at
// once: each try costs the whole effect. What may be over later is tried again.
func TestPermanentFailures(t *testing.T) {
	says := ecosystem.Words{Permanent: []string{"a digest that does not fit"}}
	for name, c := range map[string]struct {
		code  int
		text  string
		lasts bool
	}{
		"no such program":        {127, "sh: 1: pnpm: not found", true},
		"not executable":         {126, "permission denied", true},
		"out of memory":          {137, "Killed", true},
		"what the client blames": {1, "error: a digest that does not fit", true},
		"a package nobody has":   {1, "reading http://127.0.0.1/go: 404 Not Found", true},
		"for others only":        {1, "the npm registry of @corp needs your login, and this repository may not use it", true},

		"the registry is away":         {1, "npm error code E502\nnpm error 502 the registry cannot be reached now", false},
		"the registry is away, in all": {1, "ERROR: Could not find a version that satisfies the requirement x (503 Service Unavailable)", false},
		"apt":                          {100, "E: Failed to fetch http://127.0.0.1:8377/debian/0/x.deb  502  Bad Gateway", false},
		"anything else":                {1, "boom", false},
	} {
		t.Run(name, func(t *testing.T) {
			err := clientError(says, ecosystem.Step{Failure: "it cannot be installed", Fix: "do something"}, toolproto.RunResult{ExitCode: c.code, Stderr: toolproto.Output{Head: c.text}})
			var e *company.Error
			if !errors.As(err, &e) || (e.Class == company.HumanRequired) != c.lasts {
				t.Errorf("%+v", err)
			}
		})
	}
}

// The summary of a failure is the line that says most.
func TestMostUsefulLine(t *testing.T) {
	const text = "error 1\n  error 404 there is no such package\nerror: something else went wrong\na full log is elsewhere"
	if got := mostUsefulLine(text, []string{"error:", "error 4"}); got != "error: something else went wrong" {
		t.Errorf("%q", got)
	}
	if got := mostUsefulLine(text, []string{"error 1", "ERR"}); got != "a full log is elsewhere" {
		t.Errorf("%q", got)
	}
}
