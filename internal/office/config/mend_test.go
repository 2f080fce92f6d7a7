package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/office/config/configtest"
)

// ownHouse is an office in a checkout, with the user's own file for it.
type ownHouse struct {
	t    *testing.T
	opts LoadOptions
	own  string
}

func newOwnHouse(t *testing.T, companyYAML, own string) ownHouse {
	t.Helper()
	dir := configtest.Office(t, companyYAML)
	env := configtest.Env(map[string]string{"XDG_CONFIG_HOME": configtest.Dir(t), "XDG_STATE_HOME": configtest.Dir(t)})
	file, err := RepositoryFile(env, dir)
	if err != nil {
		t.Fatal(err)
	}
	if own != "" {
		configtest.WriteFile(t, file, own)
	}
	return ownHouse{t, LoadOptions{OfficeDir: dir, Checkout: dir, Env: env}, file}
}

// The user's own file for a repository counts above its company.yaml, needs no trust, and has
// sections of the repository alone.
func TestOwnFileOfARepository(t *testing.T) {
	h := newOwnHouse(t, "version: 1\n", "gates: {lint: make lint, test: make check}\ncontainer: {setup: [make tools]}\n")
	l := mustLoad(t, h.opts)
	if l.Config.Gates.Test.Line != "make check" || l.Config.Gates.Lint.Line != "make lint" ||
		len(l.Config.Container.Setup) != 1 || l.Origin["gates.test"] != h.own+":1:32" {
		t.Errorf("%+v, from %s", l.Config.Gates, l.Origin["gates.test"])
	}
	// Of another checkout in the same office another file counts.
	other := h.opts
	other.Project = configtest.Dir(t)
	if l := mustLoad(t, other); l.Config.Gates.Test.Mode != Auto {
		t.Errorf("%+v", l.Config.Gates)
	}
	configtest.WriteFile(t, h.own, "budget: {usd: 100}\n")
	if _, err := Load(t.Context(), h.opts); company.CodeOf(err) != company.EConfig ||
		!strings.Contains(err.Error(), h.own+":1:1: budget does not belong") {
		t.Error(err)
	}
}

// A proposed line comes into the file beside what is there; what is set already stays, and a line
// that holds is none.
func TestPlanLine(t *testing.T) {
	for name, c := range map[string]struct {
		company, own string
		line         company.ConfigLine
		want         string // the line of the file; empty: none is written
		kept         string // why not
	}{
		"a new file": {"version: 1\n", "", company.ConfigLine{Key: "gates.test", Value: "./it's.sh"},
			`  test: "./it's.sh"`, ""},
		"comments stay": {"version: 1\n", "# mine\ngates:\n  lint: none # none\n",
			company.ConfigLine{Key: "gates.test", Value: "make check"}, `  test: "make check"`, ""},
		"set here": {"version: 1\n", "gates: {test: mine}\n",
			company.ConfigLine{Key: "gates.test", Value: "make check"}, "", "gates.test is set already"},
		"set in company.yaml": {"gates: {test: mine}\n", "", company.ConfigLine{Key: "gates.test", Value: "make check"},
			"", "gates.test is set already"},
		"it holds": {"version: 1\n", "gates: {test: make check}\n",
			company.ConfigLine{Key: "gates.test", Value: "make check"}, "", ""},
		"a list is added to": {"version: 1\n", "deps: {without: [npm]}\n",
			company.ConfigLine{Key: "deps.without", Value: "pypi"}, "deps: {without: [npm, pypi]}", ""},
		"a list of another file": {"deps: {without: [npm]}\n", "", company.ConfigLine{Key: "deps.without", Value: "pypi"},
			"", "deps.without is set already"},
		"an empty list is a choice": {"version: 1\n", "gates: {services: []}\n",
			company.ConfigLine{Key: "gates.services", Value: "postgres"}, "", "gates.services is set already"},
		"an item that is there": {"version: 1\n", "deps: {without: [npm]}\n",
			company.ConfigLine{Key: "deps.without", Value: "npm"}, "", ""},
		"beside the default": {"version: 1\n", "", company.ConfigLine{Key: "gates.services", Value: "postgres"},
			"  services: [auto, postgres]", ""},
		"packages": {"version: 1\n", "", company.InstallPackages("bc"),
			`  setup: ["apt-get update && apt-get install -y bc"]`, ""},
		"an image of others": {"version: 1\n", "container: {deps: off}\n", company.InstallPackages("bc"), "",
			"has no effect"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newOwnHouse(t, c.company, c.own)
			if text := configtest.Dir(t); c.company != "version: 1\n" && text != "" { // what the file asks for counts
				review, err := ReviewTrust(t.Context(), h.opts)
				if err == nil {
					err = OpenTrust(h.opts.Env).Add(review.Hash, review.File)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			for round := range 2 {
				plan, ok, err := PlanLine(mustLoad(t, h.opts), h.own, c.line)
				if c.kept != "" {
					if ok || company.CodeOf(err) != company.EConflict || !strings.Contains(err.Error(), c.kept) {
						t.Errorf("ok %v, error %v", ok, err)
					}
					return
				}
				if err != nil || ok != (c.want != "" && round == 0) {
					t.Fatalf("round %d: ok %v, error %v", round, ok, err)
				}
				if !ok {
					return
				}
				plan.Begin, plan.DryRun = "# of a repository\n", true
				dry, err := ChangeFile(t.Context(), h.opts, plan)
				if err != nil {
					t.Fatal(err)
				}
				if now, _ := os.ReadFile(h.own); string(now) != c.own {
					t.Fatalf("a plan has written %q", now)
				}
				plan.DryRun = false
				if _, err := ChangeFile(t.Context(), h.opts, plan); err != nil {
					t.Fatal(err)
				}
				text := readText(t, h.own)
				if text != string(dry.TextAfter) || !strings.Contains("\n"+text, "\n"+c.want+"\n") ||
					strings.Contains(c.own, "#") && !strings.HasPrefix(text, c.own) ||
					c.own == "" && !strings.HasPrefix(text, "# of a repository\n") {
					t.Errorf("the file is\n%s", text)
				}
				if diff := dry.RenderDiff(h.own); !strings.HasPrefix(diff, h.own) || !strings.Contains(diff, "\n+ "+c.want+"\n") {
					t.Errorf("shown is\n%s", diff)
				}
			}
		})
	}
}

// What cannot be read or written is told, and stays as it is.
func TestPlannedLineIsRefused(t *testing.T) {
	h := newOwnHouse(t, "version: 1\n", "gates: [\n")
	if _, err := Load(t.Context(), h.opts); company.CodeOf(err) != company.EConfig ||
		!strings.Contains(err.Error(), h.own+":") {
		t.Errorf("a file that cannot be parsed: %v", err)
	}
	h = newOwnHouse(t, "version: 1\n", "")
	target := filepath.Join(configtest.Dir(t), "elsewhere.yaml")
	configtest.WriteFile(t, target, "version: 1\n")
	if err := os.MkdirAll(filepath.Dir(h.own), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, h.own); err != nil {
		t.Fatal(err)
	}
	plan, ok, err := PlanLine(mustLoad(t, h.opts), h.own, company.ConfigLine{Key: "gates.test", Value: "make check"})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	plan.DryRun = true
	if _, err := ChangeFile(t.Context(), h.opts, plan); company.CodeOf(err) != company.EConfig ||
		readText(t, target) != "version: 1\n" {
		t.Errorf("a link: %v", err)
	}
}
