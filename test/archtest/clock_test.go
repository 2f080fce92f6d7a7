package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// timed are the rooms that decide by the time, or show it to people. Their time
// is the office's (package clock): the wall clock is set, by people and by time
// servers.
var timed = []string{"engine/orchestrator", "ledger", "api", "app", "upkeep", "upkeep/projection", "api/client",
	"surface/terminalio", "surface/officeaccess", "surface/foreground", "surface/cli",
	"surface/cli/command", "surface/cli/agents", "surface/cli/image", "surface/cli/inspect", "surface/cli/pr",
	"surface/cli/project", "surface/cli/serve", "surface/cli/setup", "surface/cli/task", "manager", "worker",
	"engine/dispatch", "reviewer", "merger", "gates", "agent", "agentrun/agenttools", "agentrun/depaccess",
	"agentrun/sandbox", "agentrun", "agent/budget", "office", "prepare", "delivery", "surface/diagnose"}

// looks are the files of those rooms that look at a clock of this process all the
// same: how often they name time.Now, time.Since and time.Until, and why that is
// right. A stored time has no monotonic reading: a comparison with it uses the wall
// clock.
var looks = map[string]struct {
	times int
	why   string
}{
	// Measured here, from a time with a monotonic reading.
	"internal/agent/calls.go":                   {2, "measures a tool"},
	"internal/agent/modelcall.go":               {2, "measures a model's answer"},
	"internal/agentrun/stopwatch.go":            {3, "measures a run's own work"},
	"internal/api/boundedlistener.go":           {2, "how long a connection takes nothing: the kernel's deadline"},
	"internal/api/server.go":                    {1, "when the server was made, for usage.go"},
	"internal/api/usage.go":                     {2, "how long no client has sent a request"},
	"internal/surface/officeaccess/office.go":   {1, "says what the wall clock says"},
	"internal/surface/officeaccess/reach.go":    {9, "waits for the process that has the office"},
	"internal/surface/officeaccess/takeover.go": {3, "waits for the process that has the office"},
	"internal/api/client/connect.go":            {1, "an office that is not there has no time"},
	"internal/surface/cli/image/image.go":       {3, "measures a build"},
	"internal/gates/canary.go":                  {2, "measures a gate"},
	"internal/gates/container.go":               {2, "measures a gate"},
	"internal/gates/redgreenbase.go":            {3, "bounds the runs of a gate"},
	"internal/api/client.go": {3,
		"what has passed since an answer; before one there is only the wall clock"},

	// The default of a package that was given no clock.
	"internal/agent/driver.go":     {1, "the default"},
	"internal/agentrun/service.go": {1, "the default"},
	"internal/ledger/ledger.go":    {1, "the default"},

	// Of the wall clock, for people and for what else is on this machine.
	"internal/agentrun/depaccess/fetched.go": {1, "the time of a line in a log"},
	"internal/upkeep/leftovers.go":           {1, "the age of a blob"},
	"internal/upkeep/retention.go":           {1, "the age of a file"},
	"internal/surface/cli/setup/orphans.go":  {1, "the age of a container, which Docker tells"},
	"internal/surface/terminalio/print.go":   {1, "a note of this process, which may have no office"},
	"internal/office/identity.go":            {1, "when the office was made"},
	"internal/office/lock.go":                {1, "when a process took the lock"},
	"internal/office/heartbeat.go":           {3, "when a process last beat"},
}

func TestOfficesLiveByTheirOwnTime(t *testing.T) {
	found := map[string]int{}
	for _, room := range timed {
		if !slices.Contains(layers, room) {
			t.Errorf("%s is not a layer any more: take it off the list", room)
		}
	}
	for _, p := range packages(t) {
		if name, _ := layerOf(p.ImportPath); !slices.Contains(timed, name) {
			continue
		}
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(root(t), filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			if n := clockLooks(file); n > 0 {
				found[filepath.ToSlash(rel)] = n
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(found)) {
		if n := found[file]; n != looks[file].times {
			t.Errorf("%s looks at a clock of this process %d times, %d are known: what is decided or shown by the time is of "+
				"the office's time (clock.Clock)", file, n, looks[file].times)
		}
	}
	for file, l := range looks {
		if found[file] == 0 || l.why == "" {
			t.Errorf("%s looks at no clock any more, or does not say why: take it off the list", file)
		}
	}
}

// TestLooksAtAClockAreFound is the proof that the rule above can fail.
func TestLooksAtAClockAreFound(t *testing.T) {
	for text, want := range map[string]int{
		`import "time"; func f() { _ = time.Now() }`:                                            1,
		`import "time"; var now = time.Now`:                                                     1,
		`import t "time"; func f(at t.Time) bool { return t.Since(at) > 1 || t.Until(at) > 1 }`: 2,
		`import "time"; func f() { time.Sleep(time.Second) }`:                                   0,
		`import "x/time"; func f() { time.Now() }`:                                              0,
		`func f(c interface{ Now() int }) { c.Now() }`:                                          0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := clockLooks(file); got != want {
			t.Errorf("%s: found %d, want %d", text, got, want)
		}
	}
}

// clockLooks counts where a file names the functions that look at a clock.
func clockLooks(file *ast.File) (n int) {
	name := ""
	for _, imp := range file.Imports {
		if strings.Trim(imp.Path.Value, `"`) == "time" {
			if name = "time"; imp.Name != nil {
				name = imp.Name.Name
			}
		}
	}
	if name == "" {
		return 0
	}
	ast.Inspect(file, func(node ast.Node) bool {
		sel, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); ok && id.Name == name &&
			slices.Contains([]string{"Now", "Since", "Until"}, sel.Sel.Name) {
			n++
		}
		return true
	})
	return n
}
