package image

import (
	"errors"
	"testing"

	"company/internal/company"
	"company/internal/toolproto"
)

// A failure that would come back at each try is a person's to look at, at
// once: each try costs the whole effect. What may be over later is tried again.
func TestPermanentFailures(t *testing.T) {
	for name, c := range map[string]struct {
		code  int
		text  string
		lasts bool
	}{
		"no such program":            {127, "sh: 1: pnpm: not found", true},
		"not executable":             {126, "permission denied", true},
		"out of memory":              {137, "Killed", true},
		"a package nobody has":       {1, "npm error code E404\nnpm error 404  'x@1' is not in this registry.", true},
		"a lock that does not fit":   {1, "npm error code EUSAGE\nnpm error `npm ci` can only install packages when", true},
		"a digest that does not fit": {1, "npm error code EINTEGRITY", true},
		"no such version":            {1, "ERROR: Could not find a version that satisfies the requirement x==9", true},
		"cargo's lock is old":        {101, "error: the lock file Cargo.lock needs to be updated but --locked was passed", true},
		"a module nobody has":        {1, "go: example.org/x@v1.0.0: reading http://127.0.0.1/go: 404 Not Found", true},
		"for others only":            {1, "the npm registry of @corp needs your login, and this repository may not use it", true},

		"the registry is away":         {1, "npm error code E502\nnpm error 502 the registry cannot be reached now", false},
		"the registry is away, in all": {1, "ERROR: Could not find a version that satisfies the requirement x (503 Service Unavailable)", false},
		"apt":                          {100, "E: Failed to fetch http://127.0.0.1:8377/debian/0/x.deb  502  Bad Gateway", false},
		"anything else":                {1, "boom", false},
	} {
		t.Run(name, func(t *testing.T) {
			err := clientError("it cannot be installed", toolproto.RunResult{ExitCode: c.code, Stderr: toolproto.Output{Head: c.text}}, "do something")
			var e *company.Error
			if !errors.As(err, &e) || (e.Class == company.HumanRequired) != c.lasts {
				t.Errorf("%+v", err)
			}
		})
	}
}
