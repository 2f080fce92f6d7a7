package gitops

import (
	"strings"
	"testing"
)

// A tree that no file system takes could not be laid out for its check, which would look like a
// failure of the host each time.
func TestTreesThatNoDiskTakes(t *testing.T) {
	for name, refused := range map[string]bool{strings.Repeat("a", 255): false, strings.Repeat("a", 256): true,
		strings.Repeat("ä", 127): false, strings.Repeat("ä", 128): true} {
		if why := badName(name, false); (why != "") != refused {
			t.Errorf("%d bytes: %q", len(name), why)
		}
	}
}
