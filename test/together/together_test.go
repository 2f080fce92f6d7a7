package together

import (
	"testing"
	"testing/synctest"
	"time"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
	"company/internal/company"
)

// The first runs wait until all of them have asked, in any order and any number
// of times. Other runs do not wait, and every wait has a limit.
func TestBrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := Brain(scripted.BrainFunc(func(scripted.Exchange) scripted.Reply { return scripted.Reply{Text: "x"} }), 2,
			time.Minute)
		began := time.Now()
		ask := func(role company.Role, run company.RunID, turn int) time.Duration {
			b.Reply(scripted.Exchange{Header: adapters.Header{Role: role, Run: run}, Turn: turn})
			return time.Since(began)
		}
		if at := ask(company.Manager, "t1-plan.1", 0) + ask(company.Worker, "t1-01.1", 1); at != 0 {
			t.Errorf("who is no worker's beginning waits until %s", at)
		}
		if at := ask(company.Worker, "t1-01.1", 0); at != time.Minute {
			t.Errorf("alone it waits until %s", at)
		}
		again := make(chan time.Duration)
		go func() { again <- ask(company.Worker, "t1-01.1", 0) }()
		time.Sleep(time.Second)
		second := ask(company.Worker, "t1-02.1", 0)
		if first := <-again; first != second || second != time.Minute+time.Second {
			t.Errorf("they begin at %s and %s", first, second)
		}
		if at := ask(company.Worker, "t1-03.1", 0); at != second {
			t.Errorf("a later one waits until %s", at)
		}
	})
}
