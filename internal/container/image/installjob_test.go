package image

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/ecosystem"
	"company/internal/toolbox/toolproto"
)

// A failure that would come back at each try is a person's to look at, at
// once: each try costs the whole effect. What may be over later is tried again.
func TestPermanentFailures(t *testing.T) {
	says := ecosystem.Words{Permanent: []string{"a digest that does not fit", "ERROR: Could not find a version"}}
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
		"npm asks git": {128,
			"npm error code 128\nnpm error command git --no-replace-objects ls-remote ssh://git@github.com/a/b.git\nnpm error " +
				"ssh: Could not resolve hostname github.com: Temporary failure in name resolution", true},
		"pip asks git": {1, "ERROR: Cannot find command 'git' - do you have 'git' installed and in your PATH?", true},
		"yarn asks git": {1, "error Command failed.\nExit code: 128\nCommand: git\nArguments: ls-remote --tags\nerror " +
			"Couldn't find the binary git", true},

		"the registry is away": {1, "npm error code E502\nnpm error 502 the registry cannot be reached now", false},
		"the registry is away, in all": {1,
			"ERROR: Could not find a version that satisfies the requirement x (503 Service Unavailable)", false},
		"apt":           {100, "E: Failed to fetch http://127.0.0.1:8377/debian/0/x.deb  502  Bad Gateway", false},
		"anything else": {1, "boom", false},
	} {
		t.Run(name, func(t *testing.T) {
			err := clientError("npm", says, ecosystem.Step{Failure: "it cannot be installed", Fix: "do something"},
				toolproto.RunResult{ExitCode: c.code, Stderr: toolproto.Output{Head: c.text}})
			var e *company.Error
			if !errors.As(err, &e) || (e.Class == company.HumanRequired) != c.lasts {
				t.Errorf("%+v", err)
			}
			if asksGit := strings.HasSuffix(
				name, "asks git"); asksGit != (e.Line != nil && e.Line.Key == "deps.without" && e.Line.Value == "npm") {
				t.Errorf("the line that goes on: %v", e.Line)
			}
		})
	}
}

// The summary of a failure is the line that says most.
func TestMostUsefulLine(t *testing.T) {
	const text = "error 1\n  error 404 there is no such package\nerror: something else went wrong\na full log is elsewhere"
	if got := mostUsefulLine(text,
		ecosystem.Words{Telling: []string{"error:", "error 4"}}); got != "error: something else went wrong" {
		t.Errorf("%q", got)
	}
	if got := mostUsefulLine(text,
		ecosystem.Words{Telling: []string{"error 1", "ERR"}}); got != "a full log is elsewhere" {
		t.Errorf("%q", got)
	}
	if got := mostUsefulLine("In X.php line 1:\n\n  it broke  \n\n\ninstall [--more]",
		ecosystem.Words{Usage: "install ["}); got != "it broke" {
		t.Errorf("%q", got)
	}
	if got := mostUsefulLine("install [--more]", ecosystem.Words{Usage: "install ["}); got != "install [--more]" {
		t.Errorf("%q", got)
	}
}

// A step that has an excuse does not keep the next one from running, and what two
// steps say is told once. One without fails the layer.
func TestExcusedSteps(t *testing.T) {
	var told []string
	b, err := New(Config{CacheDir: t.TempDir(), Progress: func(line string) { told = append(told, line) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	excuse := func(int) string { return "it does not fit" }
	in := ecosystem.Install{Steps: []ecosystem.Step{{Progress: "one", Excuse: excuse}, {Progress: "two", Excuse: excuse},
		{Progress: "three", Failure: "it cannot be installed"}, {Progress: "four"}}}
	err = b.runSteps(t.Context(), in, func(ecosystem.Step) (toolproto.RunResult, error) {
		return toolproto.RunResult{ExitCode: 1}, nil
	})
	requireCode(t, err, company.EImage, "it cannot be installed")
	if want := []string{"one", "it does not fit", "two", "three"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// endingRuntime has containers that end as soon as they are spoken to.
type endingRuntime struct {
	container.Runtime
	exit container.Exit
}

func (r endingRuntime) Start(context.Context, container.Spec) (container.Container, error) {
	near, far := net.Pipe()
	go func() {
		_, _ = far.Read(make([]byte, 1))
		_ = far.Close()
	}()
	return endedContainer{pipe: near, exit: r.exit}, nil
}

type endedContainer struct {
	container.Container
	pipe net.Conn
	exit container.Exit
}

func (c endedContainer) Pipe() io.ReadWriteCloser                     { return c.pipe }
func (c endedContainer) Stderr() string                               { return "" }
func (c endedContainer) Wait(context.Context) (container.Exit, error) { return c.exit, nil }
func (c endedContainer) Remove(context.Context) error                 { return c.pipe.Close() }

// A container that is killed for memory costs what it had to make, and not the
// image, where the layer may do without.
func TestKilledBuildContainer(t *testing.T) {
	for name, c := range map[string]struct {
		ifKilled string
		exit     int
		fails    bool
	}{
		"the layer may be empty":     {"what was compiled is kept", 137, false},
		"it ended by itself":         {"what was compiled is kept", 1, true},
		"the layer must be complete": {"", 137, true},
	} {
		t.Run(name, func(t *testing.T) {
			var told []string
			b, err := New(
				Config{CacheDir: t.TempDir(), Runtime: endingRuntime{exit: container.Exit{Code: c.exit}},
					Progress: func(line string) { told = append(told, line) }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(b.Close)
			collected := ""
			do := func(h *buildSession) error {
				_, err := h.runCommand(".", "true", nil)
				return err
			}
			collect := func(_ context.Context, name string) error {
				collected = name
				return nil
			}
			err = b.runInstall(newContext(t),
				installJob{name: "x", work: do, collect: collect, ifKilled: c.ifKilled, timeout: time.Minute}, t.TempDir())
			if errors.Is(err, errContainerGone) != c.fails || (err == nil) == c.fails || (collected == "") != c.fails ||
				slices.Contains(told, c.ifKilled) == c.fails {
				t.Errorf("%v; collected %q, told %q", err, collected, told)
			}
		})
	}
}
