package toolserver

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/toolbox/toolproto"
)

// PRC-7: a program gets its input and the end of it, and what it prints comes whole, with its exit.
func TestProgramRuns(t *testing.T) {
	b := newBench(t)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	b.file(t, "agent.sh", "cat; pwd; echo $A; echo warned >&2; seq 100000; exit 3\n")
	var out, errs strings.Builder
	exit, err := b.RunProgram(t.Context(), toolproto.ProgramRequest{Argv: []string{sh, "agent.sh"},
		Env: map[string]string{"A": "b"}, Stdin: []byte("{}\n")}, func(o toolproto.ProgramOutput) {
		if o.Stderr {
			errs.Write(o.Data)
		} else {
			out.Write(o.Data)
		}
	})
	text := out.String()
	if err != nil || exit.ExitCode != 3 || errs.String() != "warned\n" || !strings.HasPrefix(text,
		"{}\n"+b.dir+"\nb\n1\n") ||
		!strings.HasSuffix(text, "\n99999\n100000\n") {
		t.Errorf("%+v, %v, %d bytes, %q", exit, err, len(text), errs.String())
	}
	for name, argv := range map[string][]string{"no path": {"sh"}, "nothing": nil, "missing": {filepath.Join(b.dir, "x")},
		"a folder": {b.dir}, "not executable": {filepath.Join(b.dir, "agent.sh")}, "a NUL": {sh, "a\x00b"}} {
		_, err := b.RunProgram(t.Context(), toolproto.ProgramRequest{Argv: argv}, nil)
		if refusal := (*toolproto.Refusal)(nil); !errors.As(err, &refusal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A program whose run ends is killed with all that it started, also while nobody reads what it prints.
func TestProgramIsKilled(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Grace = 10 * time.Millisecond })
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	b.file(t, "agent.sh",
		"trap '' TERM\nsh -c 'echo $$ >child; exec sleep 1000' &\necho $$ >pid\nwhile :; do seq 1000; done\n")
	ctx, cancel := context.WithCancel(t.Context())
	_, err = b.RunProgram(ctx, toolproto.ProgramRequest{Argv: []string{sh, filepath.Join(b.dir, "agent.sh")}},
		func(toolproto.ProgramOutput) {
			waitFor(t, "both to begin", func() bool {
				_, err := os.Stat(filepath.Join(b.dir, "child"))
				_, other := os.Stat(filepath.Join(b.dir, "pid"))
				return err == nil && other == nil
			})
			cancel()
		})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for _, file := range []string{"pid", "child"} {
		pid := b.pid(t, file)
		waitFor(t, file+" to die", func() bool { return gone(pid) })
	}
}
