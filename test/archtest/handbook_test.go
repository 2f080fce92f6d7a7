package archtest

import (
	"strings"
	"testing"

	"company/tools/handbook/generate"
)

// What docs/ says of keys, codes, variables, limits and JSON is what the code says.
func TestGeneratedPagesAreFresh(t *testing.T) {
	pages, err := generate.Pages(root(t))
	if err != nil {
		t.Fatal(err)
	}
	stale, err := generate.Stale(root(t), pages)
	if err != nil {
		t.Fatal(err)
	}
	if len(stale) > 0 {
		t.Errorf("the code has changed what %s says: run make docs, read the difference, and commit it",
			strings.Join(stale, ", "))
	}
}
