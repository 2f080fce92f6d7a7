package gitops

import (
	"path/filepath"
	"testing"

	"company/internal/gitops/gitexec/gitexectest"
)

// TestHostileConfigRunsNothing: what the company does with a checkout, and with
// what it fetched from there, runs no program that the checkout's configuration,
// its hooks or our environment name.
func TestHostileConfigRunsNothing(t *testing.T) {
	b := setup(t, nil)
	next := commitFiles(t, b.checkout, "second",
		map[string]string{"README": "hello again\n", ".gitattributes": "* filter=x diff=x merge=x\n"})
	writeFiles(t, b.checkout, map[string]string{"README": "not committed\n"})
	c := gitexectest.NewCanary(t)
	c.Poison(filepath.Join(b.checkout, ".git"))
	if out, err := gitexectest.TryGit(b.checkout, "", "status", "--porcelain"); c.Ran() == "" {
		t.Fatalf("a plain git ran nothing: %v: %s", err, out)
	}
	c.PoisonEnvironment()

	_, info, done, err := View(t.Context(), b.checkout, "origin", "")
	if err == nil {
		done()
	}
	if err != nil || info.OID != next || !info.Dirty {
		t.Errorf("%+v, %v", info, err)
	}
	if info, err = b.mirror.FetchBase(t.Context(), nil, Source{Path: b.checkout}, ""); err != nil || info.OID != next {
		t.Errorf("%+v, %v", info, err)
	}
	if d, err := b.mirror.Diff(t.Context(), b.base.OID, next, 1<<20); err != nil || len(d.Patch) == 0 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := b.store.Quarantine(t.Context(), b.mirror, "t1-01.1", next, nil); err != nil {
		t.Error(err)
	}
	if what := c.Ran(); what != "" {
		t.Errorf("it ran %s", what)
	}
}
