package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"company/test/heldoffice"
)

// Where a company is at work, config set says what it takes for its next task and what at
// its next start.
func TestConfigSetWhileServed(t *testing.T) {
	o := heldoffice.Open(t)
	o.Serve()
	set := func(args ...string) heldoffice.Result {
		return o.Run(t.Context(), execute, append([]string{"config", "set", "--user"}, args...)...)
	}
	process := fmt.Sprintf("(process %d)", os.Getpid())
	if r := set("workers.max", "2"); r.Code != 0 ||
		!strings.Contains(r.Out, process+" goes on with what it read at its start") {
		t.Errorf("%+v", r)
	}
	if r := set("budget.usd", "2"); r.Code != 0 ||
		!strings.Contains(r.Out, process+" takes it for tasks that begin from now on") {
		t.Errorf("%+v", r)
	}
	if r := set("budget.usd", "3", "-o", "json"); r.Code != 0 ||
		!strings.Contains(r.Out, `"was":"2","now":"3","values":[{"key":"budget.usd","before":"2","after":"3","origin":"`) ||
		!strings.Contains(r.Out, fmt.Sprintf(`"counts":"next_task","holder":%d,"needs_trust":[]`, os.Getpid())) {
		t.Errorf("%+v", r)
	}
	if r := o.Run(t.Context(), execute, "config", "unset", "--user", "budget"); r.Code != 0 ||
		!strings.Contains(r.Out, "budget: {usd: 3} → not set") {
		t.Errorf("%+v", r)
	}
}
