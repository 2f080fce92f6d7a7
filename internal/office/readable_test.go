package office

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"company/internal/company"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
)

const pathsYAML = "version: 1\npaths: {runtime: runtime, backlog: workflows/backlog}\n"

// paths names folders beside .company/, which hold neither each other nor what
// tools look for.
func TestReadablePathsValidate(t *testing.T) {
	t.Parallel()
	load := func(text string) error {
		env := configtest.Env(map[string]string{"HOME": configtest.Dir(t)})
		if err := config.OpenTrust(env).AddText([]byte(text), "company.yaml"); err != nil {
			t.Fatal(err)
		}
		_, err := config.Load(t.Context(), config.LoadOptions{OfficeDir: configtest.Office(t, text), Env: env})
		return err
	}
	for _, good := range []string{
		pathsYAML, "paths: {runtime: out/company}\n", "paths: {backlog: tickets}\n",
		"paths: {runtime: .company/runtime, backlog: .company/workflows/backlog}\n", "paths: {runtime: a b}\n",
	} {
		if err := load(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"paths: {runtime: /tmp/x}\n", "paths: {runtime: ../x}\n", "paths: {runtime: a/../../x}\n", "paths: {runtime: .}\n",
		"paths: {runtime: ''}\n",
		"paths: {runtime: .git}\n", "paths: {runtime: .git/hooks}\n", "paths: {runtime: .company}\n",
		"paths: {runtime: .company/state}\n", "paths: {runtime: .company/state/bus}\n",
		"paths: {backlog: .github/workflows}\n", "paths: {backlog: a/.hidden}\n", "paths: {backlog: -x}\n",
		"paths: {backlog: 'a*'}\n", "paths: {backlog: company.yaml}\n",
		"paths: {runtime: a, backlog: a}\n", "paths: {runtime: a, backlog: a/b}\n", "paths: {runtime: a/b, backlog: a}\n",
		"paths: {runtime: .company/workflows/backlog}\n", "paths: {backlog: .company/runtime}\n", "paths: {runtime: a/}\n",
		"paths: {runtime: a//b}\n", `paths: {runtime: "a\nb"}` + "\n",
		"paths: {runtime: [a]}\n", "paths: {runtimes: a}\n", "paths: runtime\n",
	} {
		if err := load(bad); company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), "paths") {
			t.Errorf("%q: %v", bad, err)
		}
		// Who asks where the files lie is told of a place that is safe.
		p := mustFind(t, FindOptions{Dir: configtest.Office(t, bad), Env: os.LookupEnv})
		if want := filepath.Join(p.Root, ".company", "runtime", "runs"); p.Runs != want {
			t.Errorf("%q: runs in %s", bad, p.Runs)
		}
	}
}

func TestPathsOnlyInOfficeConfig(t *testing.T) {
	t.Parallel()
	user := configtest.Dir(t)
	configtest.WriteFile(t, filepath.Join(user, "company", "config.yaml"), pathsYAML)
	for name, o := range map[string]config.LoadOptions{
		"the user's config": {OfficeDir: configtest.Dir(t), Env: configtest.Env(map[string]string{"XDG_CONFIG_HOME": user})},
		"the environment": {OfficeDir: configtest.Dir(t),
			Env: configtest.Env(map[string]string{"COMPANY_PATHS_RUNTIME": "runtime"})},
		"a flag":    {OfficeDir: configtest.Dir(t), Flags: map[string]string{"paths.backlog": "b"}},
		"no office": {Flags: map[string]string{"paths.backlog": "b"}},
	} {
		if _, err := config.Load(t.Context(), o); company.CodeOf(err) != company.EConfig ||
			!strings.Contains(err.Error(), "the office's own company.yaml alone") {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := configtest.Office(t, pathsYAML)
	l, err := config.Load(t.Context(), config.LoadOptions{OfficeDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Origin["paths.runtime"]; !strings.HasPrefix(got, filepath.Join(dir, config.ConfigName)+":2:") ||
		l.Config.Paths.Runtime != "runtime" {
		t.Errorf("from %s: %+v", got, l.Config.Paths)
	}
	p := mustFind(t, FindOptions{Dir: dir, Env: os.LookupEnv})
	if p.Runs != filepath.Join(dir, "runtime", "runs") || p.Tasks != filepath.Join(dir, "runtime", "state") ||
		p.Backlog != filepath.Join(dir, "workflows", "backlog") {
		t.Errorf("%+v", p)
	}
}

// A repository's own company.yaml may choose the usual names for its folders. Any other folder of the checkout would
// fill with files and vanish from git status, although nobody asked for it.
func TestTrackedPathsUsualFoldersOnly(t *testing.T) {
	t.Parallel()
	if _, err := config.Load(t.Context(),
		config.LoadOptions{OfficeDir: configtest.Repo(t, map[string]string{"company.yaml": pathsYAML})}); err != nil {
		t.Errorf("the usual names: %v", err)
	}
	for _, text := range []string{"paths: {runtime: src}\n", "paths: {backlog: docs/tickets}\n",
		"paths: {runtime: workflows/backlog, backlog: runtime}\n"} {
		if _, err := config.Load(t.Context(),
			config.LoadOptions{OfficeDir: configtest.Repo(t, map[string]string{"company.yaml": text})}); err == nil ||
			!strings.Contains(err.Error(), "needs your trust") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What is in the way is named with what helps against it.
func TestFolderErrors(t *testing.T) {
	t.Parallel()
	p := Paths{ownDir: "/repo/.company"}
	for why, want := range map[error]string{
		&os.PathError{Op: "mkdirat", Path: ".company", Err: syscall.EROFS}:  "mount it for writing again",
		&os.PathError{Op: "mkdirat", Path: ".company", Err: syscall.EACCES}: "--office DIR",
		&os.PathError{Op: "mkdirat", Path: ".company", Err: syscall.ENOSPC}: "free space",
		&os.PathError{Op: "mkdirat", Path: ".company", Err: syscall.EIO}:    "check that you own the folder",
	} {
		var e *company.Error
		if err := p.readableError(why); !errors.As(err, &e) || e.Code != company.EConfig || !strings.Contains(e.Hint, want) ||
			!errors.Is(err, why) {
			t.Errorf("%v: %v, fix %q", why, err, e.Hint)
		}
	}
}
