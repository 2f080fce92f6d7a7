package gitops

import (
	"testing"

	"company/internal/company"
)

// A process is kept for the next conversation where that may ask the same of it: not one of the checks of a push, which
// sees other objects and has limits, and not one with an answer that was not read.
func TestReadersAreKept(t *testing.T) {
	b := setup(t, map[string]string{"a": "x\n"})
	base := b.base.OID
	if r := b.store.readers.takeIdle(b.mirror.dir); r != nil { // of the set-up
		r.endProcess()
	}
	for name, c := range map[string]struct {
		env     []string
		limited bool
		asks    bool
		isKept  bool
	}{
		"shared":              {isKept: true},
		"with an environment": {env: []string{"GIT_OBJECT_DIRECTORY=" + b.mirror.dir + "/objects"}},
		"with limits":         {limited: true},
		"an answer is left":   {asks: true},
	} {
		conversation, err := b.store.startBatch(t.Context(), b.mirror.dir, c.env, c.limited)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := conversation.readInfo(base); err != nil || o.kind != "commit" {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		if c.asks {
			if err := conversation.ask(base); err != nil {
				t.Fatal(err)
			}
		}
		r := conversation.reader
		conversation.close()
		kept := b.store.readers.takeIdle(b.mirror.dir)
		if (kept == r) != c.isKept || kept != nil && kept != r {
			t.Errorf("%s: kept %v", name, kept != nil)
		}
		if kept != nil {
			kept.endProcess()
		}
	}
	if _, err := b.mirror.Resolve(t.Context(), "refs/heads/none"); company.CodeOf(err) != company.ENotFound {
		t.Error(err)
	}
}
