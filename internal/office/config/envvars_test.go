package config

import (
	"slices"
	"strings"
	"testing"
)

// newEnviron is an environment with what every one has.
func newEnviron(t *testing.T, entries ...string) LoadOptions {
	t.Helper()
	entries = append(entries, "PATH=/bin", "HOME="+t.TempDir())
	return LoadOptions{Environ: entries, Env: func(name string) (string, bool) {
		for _, e := range entries {
			if v, ok := strings.CutPrefix(e, name+"="); ok {
				return v, true
			}
		}
		return "", false
	}}
}

// A variable that was meant for the company and sets nothing is refused, like a
// key of a file that there is not; one that others may have is not.
func TestUnusedVariables(t *testing.T) {
	for _, x := range []struct{ entry, says, fix string }{
		{"COMPANY_WROKERS_MAX=3", "COMPANY_WROKERS_MAX: no such variable", "did you mean COMPANY_WORKERS_MAX?"},
		{"COMPANY_WORKER_MAX=3", "COMPANY_WORKER_MAX: no such variable", "did you mean COMPANY_WORKERS_MAX?"},
		{"COMPANY_OFICE=/x", "COMPANY_OFICE: no such variable", "did you mean COMPANY_OFFICE?"},
		{"COMPANY_WORKERS_SIZE=3", "COMPANY_WORKERS_SIZE: no such variable", "company config show lists the keys"},
		{"COMPANY_MODELS_FAST_MODEL=x", "COMPANY_MODELS_FAST_MODEL: no such variable", "company config show lists the keys"},
	} {
		_, err := Load(t.Context(), newEnviron(t, x.entry))
		if err == nil || !strings.Contains(err.Error(), x.says) || len(Problems(err)) != 1 ||
			!strings.Contains(Problems(err)[0].Fix, x.fix) {
			t.Errorf("%s: %v", x.entry, err)
		}
	}
	loaded, err := Load(t.Context(),
		newEnviron(t, "COMPANY_NAME=Acme", "COMPANY_LOG_LEVEL=debug", "COMPANY_OFFICE=/x", "COMPANY_WORKERS_MAX=2",
			"COMPANY_FORGE_TOKEN=secret", "COMPANY_FORGE_TOKEN_ENV=COMPANY_FORGE_TOKEN", "MY_COMPANY_WROKERS_MAX=1"))
	if err != nil {
		t.Fatal(err)
	}
	if loaded.Config.Workers.Max != 2 || !slices.Equal(loaded.Unused, []string{"COMPANY_NAME"}) {
		t.Errorf("%d workers, unused: %v", loaded.Config.Workers.Max, loaded.Unused)
	}
}

// A list from a flag is what it is in a file: a comma within an entry cuts
// nothing.
func TestListsFromFlags(t *testing.T) {
	for text, want := range map[string][]string{
		`["a","b"]`:                   {"a", "b"},
		`[a, b]`:                      {"a", "b"},
		` ["sed -e s/a,b/ x", 'c d']`: {"sed -e s/a,b/ x", "c d"},
		`a, b`:                        {"a", "b"},
		`[]`:                          nil,
		``:                            nil,
	} {
		o := newEnviron(t)
		o.Flags = map[string]string{"container.setup": text}
		if loaded, err := Load(t.Context(), o); err != nil || !slices.Equal(loaded.Config.Container.Setup, want) {
			t.Errorf("%s: %q, %v", text, loaded.Config.Container.Setup, err)
		}
	}
	for _, text := range []string{`["a","b"`, `["a"] b`, `[a: b]`, `[1, 2]`, `[[a]]`, `[`} {
		o := newEnviron(t)
		o.Flags = map[string]string{"container.setup": text}
		if loaded, err := Load(t.Context(), o); err == nil {
			t.Errorf("%s is taken as %q", text, loaded.Config.Container.Setup)
		}
	}
	for text, want := range map[string]Command{
		`["go","test","./..."]`: {Argv: []string{"go", "test", "./..."}},
		`[ -f x ] && make test`: {Line: "[ -f x ] && make test"},
		`[ -f x ]`:              {Line: "[ -f x ]"},
	} {
		o := newEnviron(t)
		o.Flags = map[string]string{"gates.test": text}
		if loaded, err := Load(t.Context(), o); err != nil || loaded.Config.Gates.Test.Line != want.Line ||
			!slices.Equal(loaded.Config.Gates.Test.Argv, want.Argv) {
			t.Errorf("%s: %+v, %v", text, loaded.Config.Gates.Test, err)
		}
	}
}
