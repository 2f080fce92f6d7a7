package archtest

import (
	"strings"
	"testing"

	"company/internal/handbook"
)

// What docs/ says of keys, codes, variables, limits and JSON is what the code says.
func TestGeneratedPagesAreFresh(t *testing.T) {
	pages, err := handbook.Pages(root(t))
	if err != nil {
		t.Fatal(err)
	}
	stale, err := handbook.Stale(root(t), pages)
	if err != nil {
		t.Fatal(err)
	}
	if len(stale) > 0 {
		t.Errorf("the code has changed what %s says: run make docs, read the difference, and commit it", strings.Join(stale, ", "))
	}
}
