package command

import (
	"bytes"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/console"
)

// What recovery: ask paused is told with the way on; nothing is told of nothing.
func TestRecoveryNote(t *testing.T) {
	var said bytes.Buffer
	env := NewEnvironment(console.Console{Err: &said})
	if env.PrintRecovery(nil); said.Len() > 0 {
		t.Fatalf("of nothing: %s", said.String())
	}
	env.PrintRecovery([]company.TaskID{"t1", "t4"})
	if !strings.Contains(said.String(), "recovery: ask: t1, t4 is unfinished and paused; go on with: company resume") {
		t.Fatal(said.String())
	}
}
