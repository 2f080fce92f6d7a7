package gitops

import (
	"slices"
	"testing"

	"company/internal/company"
)

// What the host took from runs can be listed and let go of, run by run; no
// other reference is touched.
func TestDropResult(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"f": "f\n"})
	for _, run := range []company.RunID{"t1-01.1", "t1-01.10", "t2-01.1"} {
		if err := b.mirror.UpdateRef(b.ctx, ResultRef(run), b.base.OID, ""); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // again is fine
		if err := b.mirror.DropResult(b.ctx, "t1-01.1"); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := b.mirror.Results(b.ctx); err != nil || !slices.Equal(got, []company.RunID{"t1-01.10", "t2-01.1"}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []company.RunID{"", "../heads/main", "t1"} {
		if err := b.mirror.DropResult(b.ctx, bad); company.CodeOf(err) != company.EInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
