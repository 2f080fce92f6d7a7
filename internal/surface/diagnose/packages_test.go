package diagnose

import (
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
)

// What the project asks for and its image will lack is one line of doctor, with
// a remedy, before a task finds out.
func TestDoctorImageNotes(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("NETRC", os.DevNull)
	for name, c := range map[string]struct {
		files      map[string]string
		change     func(*config.Config)
		found, fix string // "": all is well
	}{
		"nothing to install": {map[string]string{"package.json": `{"scripts":{"test":"node --test"}}`}, nil, "", ""},
		"another manager's lock": {map[string]string{
			"package.json": `{"scripts":{"test":"vitest run"},"devDependencies":{"vitest":"2"}}`, "bun.lock": "{}\n"},
			nil, "package.json is locked by bun, which is not supported: nothing is installed (a package-lock.json made by " +
				"`npm install --package-lock-only` is)", "brackets"},
		"no lock": {map[string]string{"package.json": `{"scripts":{"test":"vitest run"},"devDependencies":{"vitest":"2"}}`},
			nil, "package.json has no lock file: each task resolves it again (make one", "brackets"},
		"a foreign program": {map[string]string{"check.txt": "x"},
			func(c *config.Config) { c.Gates.Test = config.Command{Line: "shellspec -q"} },
			"gates run shellspec, which images do not include", "container.setup"},
		"one that set-up installs": {map[string]string{"check.txt": "x"}, func(c *config.Config) {
			c.Gates.Test, c.Container.Setup = config.Command{Line: "shellcheck x"},
				[]string{"apt-get update && apt-get install -y shellcheck"}
		}, "", ""},
		"a version that is not fetched": {map[string]string{"go.mod": "module x\n\ngo 1.99\n", "x.go": "package x\n"},
			func(c *config.Config) { c.Container.Deps = "off" },
			": another is not fetched, container.deps is off (install it on this host)", "brackets"},
		"a manifest without a check": {map[string]string{"package.json": `{"dependencies":{"is-odd":"3.0.1"}}`}, nil,
			"package.json has no lock file: each task resolves it again (make one", "brackets"},
		"packages are off": {map[string]string{"requirements.txt": "requests\n", "test_a.py": "def test_a(): pass\n"},
			func(c *config.Config) {
				c.Container.Deps = "off"
			}, "requirements.txt is not installed: container.deps is off", "container.setup"},
	} {
		t.Run(name, func(t *testing.T) {
			repo := configtest.Repo(t, c.files)
			cfg := config.Default()
			if c.change != nil {
				c.change(&cfg)
			}
			a := &Checker{Env: os.LookupEnv, Logger: slog.New(slog.DiscardHandler)}
			seen, err := CheckRepo(t.Context(), cfg, repo, "")
			if err != nil || seen.GatesError != nil {
				t.Fatal(err, seen.GatesError)
			}
			lines := a.checkPackages(t.Context(), cfg, repo, seen.Project, false)
			if len(lines) != 1 || lines[0].Name != "packages" {
				t.Fatalf("%+v", lines)
			}
			if r := lines[0].Result; r.OK != (c.found == "") || r.Warn == r.OK || !strings.Contains(r.Found, c.found) ||
				!strings.Contains(r.Fix, c.fix) {
				t.Errorf("%+v", r)
			} else if strings.Contains(r.Fix, "brackets") && !strings.Contains(r.Found, "(") {
				t.Errorf("the fix points at brackets that are not there: %+v", r)
			}
		})
	}
}

func TestUnknownPrograms(t *testing.T) {
	given := func(command string) company.GateCommand { return company.GateCommand{Command: command, Given: true} }
	for command, want := range map[string][]string{
		"go test ./...": nil, "sh ./test.sh": nil, "./run.sh": nil, "A=1 make check": nil, "exec pytest": nil,
		"golangci-lint run": {"golangci-lint"}, "CI=1 pnpm test": nil, "CI=1 yarn test": nil, "$(which x)": nil, "": nil,
	} {
		if got := unknownPrograms([]company.GateCommand{given(command)}, nil); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
	if got := unknownPrograms([]company.GateCommand{{Command: "ruff check ."}}, nil); got != nil {
		t.Errorf("a tool that was looked for: %q", got)
	}
}
