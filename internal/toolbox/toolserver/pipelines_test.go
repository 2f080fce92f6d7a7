package toolserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
)

// TestPipelines: the exit code of a pipeline is its last part's, as in every
// shell, and the answer tells of the parts that it hides.
func TestPipelines(t *testing.T) {
	b := newBench(t)
	for command, want := range map[string]struct {
		code  int
		pipes [][]int
	}{
		"false | true":                                        {0, [][]int{{1, 0}}},
		"true | true":                                         {},
		"false | false":                                       {1, nil}, // the exit code says so
		"exit 3":                                              {3, nil},
		"(exit 2) | cat; echo \"code $?\"":                    {0, [][]int{{2, 0}}},
		"(exit 2) | cat\n(exit 4) | cat | wc":                 {0, [][]int{{2, 0}, {4, 0, 0}}},
		"yes | head -1":                                       {}, // nobody read on: that is no failure
		"true && false | tail -1 || echo no":                  {0, [][]int{{1, 0}}},
		"for i in 1 2 3; do false | cat; done":                {0, [][]int{{1, 0}}},
		"set -e; false | true; echo on":                       {0, [][]int{{1, 0}}},
		"set -o pipefail; false | true":                       {1, [][]int{{1, 0}}},
		"set -u; (exit 7) | cat; echo ${PIPESTATUS[0]} | cat": {0, [][]int{{7, 0}}},
		"trap 'echo bye' EXIT; false | cat":                   {},
		"f() { return 5; }; f | cat":                          {0, [][]int{{5, 0}}},
		"cat <<'END' | grep x\nabc\nEND\necho on":             {},
		"echo 'a | b'":                                        {},
		"bash -c 'false | true'":                              {}, // another shell's
		"nonsense-xyz | cat":                                  {0, [][]int{{127, 0}}},
		"cd / && false | cat && pwd":                          {0, [][]int{{1, 0}}},
		"false | (sleep 0; exit 9)":                           {9, [][]int{{1, 9}}},
		"case x in x) false | cat;; esac":                     {0, [][]int{{1, 0}}},
	} {
		r := must[toolproto.RunResult](t)(b.Run(t.Context(), toolproto.RunRequest{Command: command}))
		if r.ExitCode != want.code || !slices.EqualFunc(r.Pipes, want.pipes, slices.Equal) {
			t.Errorf("%q: exit code %d, %v; want %d, %v\n%s", command, r.ExitCode, r.Pipes, want.code, want.pipes, r.Text())
		}
		if strings.Contains(r.Text(), "__company") {
			t.Errorf("%q shows our own words:\n%s", command, r.Text())
		}
	}
	r := must[toolproto.RunResult](t)(b.Run(t.Context(), toolproto.RunRequest{Command: "(exit 1) | tail -5"}))
	if got := r.Text(); !strings.Contains(got, "exit code 0 ") ||
		!strings.Contains(got, "a part of a pipeline failed: exit codes 1 | 0\n") {
		t.Errorf("the model is told:\n%s", got)
	}
	if got := r.Failure(); got != "exit codes 1 | 0 along a pipeline" {
		t.Errorf("people are told %q", got)
	}
	// A message of bash names the line that the model wrote.
	r = must[toolproto.RunResult](t)(b.Run(t.Context(), toolproto.RunRequest{Command: "true | true\nnonsense-xyz"}))
	if got := r.Text(); !strings.Contains(got, "line 2: nonsense-xyz") {
		t.Errorf("bash says:\n%s", got)
	}
	// What is left in the file by anybody is read as data.
	own := fmt.Sprintf("%s/p%d.pipes", b.server.processes.temp, b.server.processes.next+1)
	r = must[toolproto.RunResult](t)(
		b.Run(t.Context(), toolproto.RunRequest{Command: "printf '%s\\n' '\x1b[31m 1 0' '999 0' '-1 0' '1 0 x' '1' " +
			">> " + own + "; true | true"}))
	if len(r.Pipes) > 0 {
		t.Errorf("garbage was taken for exit codes: %v", r.Pipes)
	}
	// A pipe that nobody writes to, or a link, in its place holds nobody up.
	for _, trick := range []string{"mkfifo", "ln -s /dev/zero"} {
		next := fmt.Sprintf("%s/p%d.pipes", b.server.processes.temp, b.server.processes.next+2)
		b.run(t, toolproto.RunRequest{Command: trick + " " + next})
		if r := must[toolproto.RunResult](t)(
			b.Run(t.Context(), toolproto.RunRequest{Command: "true | true"})); r.ExitCode != 0 || len(r.Pipes) > 0 {
			t.Errorf("%s: %s", trick, r.Text())
		}
	}
}
