package app

import (
	"context"
	"errors"
	"testing"
	"time"

	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/config"
	"company/internal/feed"
	"company/internal/ledger"
	"company/internal/orchestrator"
)

// What the config says of limits reaches the core: none stays none, and one
// model without a price, be it a fallback, means that tokens are counted.
func TestCompanySettings(t *testing.T) {
	c := config.Default()
	price := &config.Price{Input: 1, Output: 1}
	c.Models = map[string]config.Model{
		"default": {Adapter: "openai", Model: "m", BaseURL: "http://127.0.0.1:1", Price: price, Fallback: []string{"second"}},
		"second":  {Adapter: "openai", Model: "m", BaseURL: "http://127.0.0.1:1", Price: price},
	}
	c.Agents.Manager.Model, c.Agents.Worker.Model, c.Agents.Reviewer.Model, c.Agents.Merger.Model = "default", "default", "default", "default"
	if got := CompanySettings(c).Cap; got != (company.Amount{MicroUSD: 5_000_000, Tokens: company.NoCap}) {
		t.Errorf("all have a price: the cap is %+v", got)
	}
	c.Models["second"] = config.Model{Adapter: "openai", Model: "m", BaseURL: "http://127.0.0.1:1"}
	if got := CompanySettings(c).Cap; got.Tokens != 5_000_000 {
		t.Errorf("a fallback has no price: the cap is %+v", got)
	}
	c.Limits.Continuations, c.Limits.ModelWait = 0, 0
	if s := CompanySettings(c).WithDefaults(); s.Continuations > 0 || s.ModelWait > 0 {
		t.Errorf("none became %d continuations and %s", s.Continuations, s.ModelWait)
	}
	c.Gates.ProtectTests = true
	if !CompanySettings(c).ProtectTests {
		t.Error("gates.protect_tests is lost on the way")
	}
	if HostMemory() < 64<<20 {
		t.Errorf("this machine has %d bytes of memory", HostMemory())
	}
}

// Who follows a company that cannot work any more is told why, instead of
// waiting for ever.
func TestFollowEndsWithTheCompany(t *testing.T) {
	bus, err := nats.Open(t.Context(), nats.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := bus.Close(); err != nil {
			t.Error(err)
		}
	}()
	h := &App{}
	h.lifetime, h.fail = context.WithCancelCause(t.Context())
	if h.ledger, err = ledger.Open(t.Context(), bus, ledger.Options{}); err != nil {
		t.Fatal(err)
	}
	if h.orch, err = orchestrator.Open(t.Context(), orchestrator.Config{Ledger: h.ledger, Office: "k3fq"}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- h.Follow(t.Context(), 1, func(feed.Item) error { return nil })
	}()
	broken := errors.New("the disk is full")
	h.fail(broken)
	select {
	case err := <-ended:
		if !errors.Is(err, broken) {
			t.Fatalf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it follows a company that is gone")
	}
}
