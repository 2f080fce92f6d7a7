package ecosystem

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/lib/lazyregexp"
)

// testTables are entries such as a = 1 below [list].
var testTables = Tables{Begin: lazyregexp.New(`^\[list\]$`), End: lazyregexp.New(`^\[`),
	Entry: lazyregexp.New(`^(\w+) = \d+$`)}

func TestOrderOfUnitedEntries(t *testing.T) {
	side := func(names string) []byte {
		return []byte("[list]\n" + strings.ReplaceAll(names, " ", " = 1\n") + " = 1\n")
	}
	for _, c := range []struct{ base, ours, theirs, want string }{
		{"m c", "m c x", "a m b d c", "a m b d c x"},
		{"m c", "z m c", "m c y", "z m c y"},
		{"b d", "a b d", "b c d", "a b c d"}, // both are sorted
		{"m c", "c", "m c y", "c y"},
		{"m c", "m q c", "m r c", "m r q c"},
	} {
		got, ok := testTables.Unite(side(c.base), side(c.ours), side(c.theirs))
		if string(got) != string(side(c.want)) || !ok {
			t.Errorf("%v: %q, %v", c, got, ok)
		}
	}
}

// Two sides may add as many entries as fit into a file. Sixty thousand took minutes, and a file of 10 MiB hours, and
// nothing ended that.
func TestManyUnitedEntries(t *testing.T) {
	var ours, theirs strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&ours, "a%d = 1\n", i)
		fmt.Fprintf(&theirs, "b%d = 1\n", i)
	}
	got, ok := testTables.Unite([]byte("[list]\n"), []byte("[list]\n"+ours.String()), []byte("[list]\n"+theirs.String()))
	if n := strings.Count(string(got), " = 1"); n != 120_000 || !ok {
		t.Errorf("%d entries, %v", n, ok)
	}
}
