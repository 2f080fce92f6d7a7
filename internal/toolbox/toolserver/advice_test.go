package toolserver

import (
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
)

// WRK-6: the output of a failed command comes with advice on the network and on sleep.
func TestFailuresAreExplained(t *testing.T) {
	b := newBench(t)
	const network, slept, input = "there is no network here", "the command slept", "may have waited for input"
	for name, tc := range map[string]struct{ command, says string }{
		"curl that is not there":  {"bash -c 'echo curl: command not found >&2; exit 127'", network},
		"a shell's other wording": {"echo 'sh: 1: wget: not found'; exit 127", network},
		"go get of something new": {"echo 'go: module lookup disabled by GOPROXY=off' >&2; exit 1", network},
		"a name that nothing knows": {"echo \"fatal: unable to access: Could not resolve host: github.com\" >&2; exit 128",
			network},
		"npm":                {"echo 'npm ERR! getaddrinfo EAI_AGAIN registry.npmjs.org'; exit 1", network},
		"pip":                {"echo 'Temporary failure in name resolution'; exit 6", network},
		"a test that passes": {"echo 'no such host: as expected'", ""},
		"another failure":    {"echo 'undefined: x'; exit 1", ""},
		"sleep":              {"sleep 60", slept},
		"a loop that sleeps": {"while ! test -f nothing; do sleep 5; done", slept},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := b.Run(t.Context(), toolproto.RunRequest{Command: tc.command, TimeoutS: 1})
			if err != nil {
				t.Fatal(err)
			}
			if tc.says != "" && !strings.Contains(r.Note, tc.says) ||
				tc.says == "" && (strings.Contains(r.Note, network) || strings.Contains(r.Note, slept)) {
				t.Errorf("note %q, want %q\n%s", r.Note, tc.says, r.Text())
			}
		})
	}
	if got := timeoutNote("cat -"); !strings.Contains(got, input) {
		t.Errorf("a command that does not sleep: %s", got)
	}
}
