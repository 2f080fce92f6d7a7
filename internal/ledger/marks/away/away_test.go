package away

import "testing"

func TestBegin(t *testing.T) {
	Begin(t.Context())() // nobody needs to know
	var seen []string
	ctx := NewContext(t.Context(), func() func() {
		seen = append(seen, "away")
		return func() { seen = append(seen, "back") }
	})
	back := Begin(ctx)
	if len(seen) != 1 {
		t.Errorf("at its beginning: %v", seen)
	}
	if back(); len(seen) != 2 || seen[0] != "away" || seen[1] != "back" {
		t.Errorf("at its end: %v", seen)
	}
}
