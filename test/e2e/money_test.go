package e2e

import (
	"math"
	"testing"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// counting gives every reply of a staff these counts.
type counting struct {
	scripted.Responder
	usage adapters.Usage
}

func (c counting) Reply(x scripted.Exchange) scripted.Reply {
	r := c.Responder.Reply(x)
	r.Usage = &c.usage
	return r
}

// TestCountsOfTokens: what a server counts is booked, also where it is more than
// was sent; a count that cannot be neither wedges the task nor makes its books
// wrong (T22).
func TestCountsOfTokens(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	for _, c := range []struct {
		name  string
		usage adapters.Usage
		each  int64 // tokens booked for each request; 0: an estimate
	}{
		{"more than was sent", adapters.Usage{InputTokens: 30_000, OutputTokens: 10}, 30_010},
		{"more than there can be", adapters.Usage{InputTokens: math.MaxInt64, OutputTokens: math.MaxInt64}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.each > 0 {
				hosttest.Long(t, "a count that can be")
			}
			t.Parallel()
			h := testenv.New(t, counting{farewells(), c.usage}, tinyProject())
			h.Config(tinyGates)
			sum := waitForSummary(t, h.Start("submit", "--no-input", "add a farewell"), 0)
			n := int64(len(h.Model.Requests()))
			switch {
			case sum.Result != "COMPLETE":
				t.Fatalf("summary: %+v", sum)
			case c.each > 0 && sum.Tokens != n*c.each:
				t.Errorf("%d tokens are booked for %d requests of %d", sum.Tokens, n, c.each)
			case c.each == 0 && (sum.Tokens <= n*1000 || sum.Tokens > n*200_000):
				t.Errorf("%d tokens are booked for %d requests", sum.Tokens, n)
			}
			checkDelivered(t, h, 1, 1, 1)
		})
	}
}
