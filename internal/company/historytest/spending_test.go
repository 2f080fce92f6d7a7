package historytest_test

import (
	"testing"

	. "company/internal/company"
)

// Money goes to runs that are held, and fits under the cap.
func TestSpending(t *testing.T) {
	t.Parallel()
	id := RunID("t1-plan.1")
	amount := func(usd, tokens int64) Amount { return Amount{MicroUSD: usd, Tokens: tokens} }
	reserved := func(usd, tokens int64) func() *story {
		return func() *story {
			return prepared().claim(id).runOf(id, &BudgetReserved{Amount: amount(400, 400)}).runOf(
				id, &BudgetReserved{Amount: amount(usd, tokens)})
		}
	}
	more := func(usd, tokens int64) func(s *story) {
		return func(s *story) { the[BudgetReserved](s, 1).Amount = amount(usd, tokens) }
	}
	back := with(reserved(600, 600), func(s *story) {
		s.runOf(id, &BudgetWaiting{Back: amount(1, 1)}).runOf(id, &BudgetReserved{Amount: amount(1, 1)})
	})
	raised := with(reserved(600, 600), func(s *story) {
		s.task(&BudgetRaised{By: amount(5, 5)}).runOf(id, &BudgetReserved{Amount: amount(5, 5)})
	})
	spent := func(usd, tokens int64) func() *story {
		return with(reserved(600, 600),
			func(s *story) { s.runOf(id, &RunEnded{Status: RunError, Spent: amount(usd, tokens)}) })
	}
	twice := with(spent(900, 900), func(s *story) {
		s.claim("t1-plan.2").runOf("t1-plan.2", &BudgetReserved{Amount: amount(100, 100)})
	})
	checkBroken(t, []broken{
		{"held", reserved(1, 1), func(s *story) { drop[RunClaimed](s, 0) }, "money for t1-plan.1, which nobody holds"},
		{"held still", with(reserved(1, 1)),
			func(s *story) {
				insert[BudgetReserved](s, 1, (&story{}).runOf(id, &RunReleased{}))
			}, "money for t1-plan.1, which nobody holds"},
		{"money under the cap", reserved(600, 600), more(601, 600),
			"t1 has used $0.001001, 1000 tokens of $0.001, 1000 tokens"},
		{"tokens under the cap", reserved(600, 600), more(600, 601), "t1 has used "},
		{"more after some was given back", back, func(s *story) { drop[BudgetWaiting](s, 0) }, "t1 has used "},
		{"as much as was given back", back, func(s *story) { the[BudgetReserved](s, 2).Amount.Tokens++ }, "t1 has used "},
		{"more after a raise", raised, func(s *story) { drop[BudgetRaised](s, 0) }, "t1 has used "},
		{"as much as it was raised by", raised, func(s *story) { the[BudgetReserved](s, 2).Amount.MicroUSD++ },
			"t1 has used "},
		{"together with what is spent", twice, func(s *story) { the[BudgetReserved](s, 2).Amount.Tokens++ }, "t1 has used "},
		{"together with all that is spent", twice, func(s *story) { the[RunEnded](s, 0).Spent.Tokens++ }, "t1 has used "},
	})
	overdrawn := func(usd, tokens int64) func() *story {
		return with(spent(usd, tokens), func(s *story) {
			s.claim("t1-plan.2").runOf("t1-plan.2", &BudgetReserved{Amount: amount(1, 1)})
			s.end("t1-plan.2").claim("t1-plan.3").end("t1-plan.3")
		})
	}
	checkBroken(t, []broken{
		{"as granted", overdrawn(1001, 1000), func(s *story) { the[RunEnded](s, 0).Spent = amount(1000, 1000) },
			"t1 has used "},
		{"tokens as granted", overdrawn(1000, 1001), func(s *story) { the[RunEnded](s, 0).Spent = amount(1000, 1000) },
			"t1 has used "},
	})
}

// The state's books say what the events do.
func TestBooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spoil func(*Task)
		want  string
	}{
		{func(t *Task) { t.Cap.Tokens++ }, "the cap of t1 is $0.001, 1000 tokens, its books say $0.001, 1001 tokens"},
		{func(t *Task) { t.Spent.Tokens++ }, "t1 has used $0.00, 0 tokens, its books say 1 token"},
		{func(t *Task) { t.Runs["t1-plan.1"].Reserved.MicroUSD++ }, "t1 has used $0.00, 0 tokens, its books say "},
	} {
		requireBroken(t, observed(t, prepared().claim("t1-plan.1"), &TaskPaused{}, c.spoil), c.want)
	}
}

// observed tells a right story and one event more, whose fold is then spoiled.
func observed(t *testing.T, s *story, what Data, spoil func(*Task)) error {
	t.Helper()
	return observedState(t, s, what, func(state *State) {
		if spoil != nil {
			spoil(state.Tasks["t1"])
		}
	})
}

func observedState(t *testing.T, s *story, what Data, spoil func(*State)) error {
	t.Helper()
	c, st, err := s.watch()
	if err != nil {
		t.Fatal(err)
	}
	before := st.View()
	events := s.task(what).events()
	e := events[len(events)-1]
	if err := Apply(st, e); err != nil {
		t.Fatal(err)
	}
	spoil(st)
	return c.Observe(before, e, st)
}
