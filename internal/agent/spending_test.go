package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/agent/budget"
	"company/internal/company"
)

// Waiting for money ends with the run, and no call follows it.
func TestNoCallAfterACancelWhileDrawing(t *testing.T) {
	cause := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	b := newBench(t, replies(finish))
	b.cfg.Allowance = budget.NewAllowance(
		company.Amount{}, company.Amount{}, func(_ context.Context, least, _ company.Amount) (company.Amount, error) {
			cancel(cause)
			return least, nil
		})
	if _, err := b.cfg.drive(ctx); !errors.Is(err, cause) || len(b.model.requests) != 0 || b.journal.count(kindCall) != 0 {
		t.Errorf("%d calls, error %v", len(b.model.requests), err)
	}
	if got := b.cfg.Allowance.Balance(); got.Reserved != (company.Amount{}) || got.Spent != (company.Amount{}) {
		t.Errorf("allowance %+v", got)
	}
}

func TestModelErrorsHaveCodes(t *testing.T) {
	for kind, want := range map[adapters.Kind]company.Error{
		adapters.Auth:        {Code: company.EModelAuth, Class: company.HumanRequired},
		adapters.Quota:       {Code: company.EModelAuth, Class: company.HumanRequired},
		adapters.BadRequest:  {Code: company.EModel, Class: company.HumanRequired},
		adapters.Unreachable: {Code: company.EModelAway, Class: company.Recoverable},
		adapters.Overloaded:  {Code: company.EModelAway, Class: company.Recoverable},
		adapters.TimedOut:    {Code: company.EModel, Class: company.Recoverable},
	} {
		m := replies(finish)
		m.reply = func(int, adapters.Request) (adapters.Response, error) {
			return adapters.Response{}, &adapters.Error{Kind: kind, Unanswered: kind == adapters.TimedOut}
		}
		b := newBench(t, m)
		out, err := b.run(t)
		var e *company.Error
		if !errors.As(err, &e) || e.Code != want.Code || e.Class != want.Class || e.RunID != "t1-01.1" ||
			len(m.requests) != 1 {
			t.Errorf("%s: %d requests, error %#v", kind, len(m.requests), err)
		}
		got, paid := b.allowance.Balance(), kind == adapters.TimedOut
		if (got.Spent.Tokens > 0) != paid || got.Spent != out.Spent || got.Reserved != (company.Amount{}) {
			t.Errorf("%s: allowance %+v, spent %+v", kind, got, out.Spent)
		}
	}
}

func TestNoCallWithoutMoney(t *testing.T) {
	b := newBench(t, replies(calls(`read {"path":"a"}`)))
	grants := 0
	b.cfg.Allowance = budget.NewAllowance(
		company.Amount{}, company.Amount{}, func(_ context.Context, least, _ company.Amount) (company.Amount, error) {
			if grants++; grants > 1 {
				return company.Amount{}, company.E(company.EBudget, "the cap would be passed")
			}
			return least, nil
		})
	_, err := b.run(t)
	if company.CodeOf(err) != company.EBudget || len(b.model.requests) != 1 || b.journal.count(kindCall) != 1 {
		t.Fatalf("%d calls, error %v", len(b.model.requests), err)
	}
}

// retried is a model that is asked again when its server is not reached.
type retried struct{ adapters.Model }

func (m retried) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return adapters.Retry(meter(m.Model), adapters.Policy{Unreachable: []time.Duration{1, 1, 1}},
		adapters.WallClock{}), nil
}

// Each attempt of a retry is a call of its own, before it goes out, and costs
// what it cost.
func TestRetriesAreMeteredOneByOne(t *testing.T) {
	m := replies(finish)
	plain := m.reply
	m.reply = func(n int, req adapters.Request) (adapters.Response, error) {
		if n < 3 {
			return adapters.Response{}, &adapters.Error{Kind: adapters.Unreachable, Unanswered: n == 2}
		}
		return plain(n, req)
	}
	b := newBench(t, m)
	b.cfg.Models = retried{m}
	out := b.mustRun(t)
	worst := budget.WorstCase(m.requests[0], m.info)
	if want := worst.Add(company.Amount{MicroUSD: 15, Tokens: 15}); out.Spent != want ||
		b.allowance.Balance().Spent != want {
		t.Errorf("spent %+v, want %+v", out.Spent, want)
	}
	if b.journal.count(kindCall) != 3 || b.journal.count(kindReply) != 1 {
		t.Errorf("journal %v", b.journal.kinds)
	}
}
