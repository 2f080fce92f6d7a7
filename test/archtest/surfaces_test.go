package archtest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/api/apitest"
	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/engine/replay"
	"company/internal/present/feed"
	"company/internal/present/view"
	"company/internal/upkeep"
)

// engine are the rooms that decide and carry out. A surface reaches them through
// a client, and shows what view and feed make of the state.
var engine = strings.Fields("engine ledger bus agentrun worker manager reviewer merger delivery")

// engineTexts are folders of those rooms that surfaces may show: reports, and places in the ledger.
var engineTexts = []string{"engine/replay", "ledger/marks"}

// surfaces are the rooms that talk to people and programs, and those that several
// surfaces share.
var surfaces = strings.Fields("api surface present")

func TestSurfacesImportNoEngine(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "company/internal/")
		if !slices.ContainsFunc(surfaces, func(room string) bool { return isBelow(name, room) }) {
			continue
		}
		seen++
		for _, imp := range p.Imports {
			to, ok := strings.CutPrefix(imp, "company/internal/")
			if ok && !slices.Contains(engineTexts, to) &&
				slices.ContainsFunc(engine, func(room string) bool { return isBelow(to, room) }) {
				t.Errorf("%s imports %s: a surface does not reach into the engine", p.ImportPath, imp)
			}
		}
	}
	if seen < 4 {
		t.Errorf("only %d surfaces were found", seen)
	}
}

// The tools for an agent stand on the three packages that surfaces are built on, with the words
// of the domain and the bounds of text; what else they need comes from their Host.
func TestToolsStandOnClientViewFeed(t *testing.T) {
	allowed := strings.Fields("api/client present/view present/feed company lib/safetext")
	for _, p := range packages(t) {
		if p.ImportPath != "company/internal/surface/mcpserver" {
			continue
		}
		for _, imp := range p.Imports {
			if to, ok := strings.CutPrefix(imp, "company/internal/"); ok && !slices.Contains(allowed, to) {
				t.Errorf("mcpserver imports %s", imp)
			}
		}
		return
	}
	t.Error("there is no mcpserver")
}

// A surface that is to come is built on three packages alone. The one here has
// 60 lines at most, and shows a real office over its socket.
func TestSurfaceCanBeAdded(t *testing.T) {
	dir := filepath.Join(root(t), "test", "archtest", "surface")
	text, err := os.ReadFile(filepath.Join(dir, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n > 60 {
		t.Errorf("the surface has %d lines", n)
	}
	allowed := []string{"company/internal/api/client", "company/internal/present/view", "company/internal/present/feed"}
	for _, p := range packages(t) {
		if p.ImportPath != "company/test/archtest/surface" {
			continue
		}
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, "company/") && !slices.Contains(allowed, imp) {
				t.Errorf("the surface imports %s", imp)
			}
		}
	}

	program := filepath.Join(t.TempDir(), "surface")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, dir)
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as all else is built that is not raced
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	d := decidertest.New(t)
	d.Submit("make the door open", t.TempDir())
	checkout := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", checkout).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	stop := apitest.ServeOffice(t, checkout, decided{d})
	out, err := exec.CommandContext(t.Context(), program, checkout).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"make the door open", "0 open pull requests", "> make the door open"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the surface does not show %q:\n%s", want, out)
		}
	}
	stop()
	if out, err := exec.CommandContext(t.Context(), program, checkout).CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "no company is at work") {
		t.Errorf("with no company at work: %v\n%s", err, out)
	}
}

// decided serves what a decider without an engine has decided.
type decided struct{ *decidertest.Decider }

func (o decided) Source() view.Source {
	return view.Source{State: o.View(), Now: time.Now().UTC(),
		Folders: view.Folders{Has: func(string, string) bool { return false }}}
}

func (o decided) DoID(ctx context.Context, _, actor string, c company.Command) ([]company.Event, error) {
	return o.Do(ctx, actor, c)
}

// Follow tells what has happened, and ends.
func (o decided) Follow(_ context.Context, r feed.Range, fn func(feed.Item) error) error {
	for _, e := range o.Events() {
		if e.Seq < r.From {
			continue
		}
		if err := fn(feed.Describe(e, o.View().Tasks[e.Task])); err != nil {
			return err
		}
	}
	return nil
}

func (decided) FindLeftovers(context.Context, bool, bool) (upkeep.Report, error) {
	return upkeep.NewReport(true), nil
}

func (o decided) Verify(context.Context) (view.Verification, error) {
	return view.Verification{}, company.E(company.ENotFound, "what only decides has no ledger")
}

func (o decided) StreamTranscript(context.Context, company.RunID, bool, func(agent.TranscriptEntry) error) error {
	return company.E(company.ENotFound, "what only decides has no journal")
}

func (o decided) StreamRecord(context.Context, company.TaskID, func(replay.Entry) error) error {
	return company.E(company.ENotFound, "what only decides has no journal")
}
