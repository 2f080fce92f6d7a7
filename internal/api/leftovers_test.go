package api

import (
	"fmt"
	"testing"

	"company/internal/upkeep"
)

// What a cleanup would remove is told for the flags that were asked for.
func TestLeftovers(t *testing.T) {
	_, c, _ := serveFakeOffice(t)
	for _, x := range [][2]bool{{false, false}, {true, false}, {false, true}} {
		got, err := Get[upkeep.Report](t.Context(), c, fmt.Sprintf("leftovers?all=%t&unmerged=%t", x[0], x[1]))
		want := fmt.Sprintf("all %t, unmerged %t", x[0], x[1])
		if err != nil || !got.DryRun || len(got.Items) != 1 || got.Items[0].Name != want || got.Items[0].Bytes != 7 {
			t.Errorf("%s: %+v, %v", want, got, err)
		}
	}
}
