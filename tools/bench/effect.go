package main

import (
	"context"
	"fmt"
	"time"

	"company/internal/company"
)

// manyTasks are open tasks of three projects, of which one in ten has failed once and waits.
type manyTasks struct {
	state *company.State
	now   time.Time
	count int
}

// do decides a command and applies its events, a millisecond later.
func (m *manyTasks) do(actor string, c company.Command) error {
	m.now = m.now.Add(time.Millisecond)
	events, err := company.Decide(m.state, company.Meta{ID: fmt.Sprint("c", m.state.Seq), Actor: actor, Now: m.now}, c)
	for _, e := range events {
		if err == nil {
			e.Seq = m.state.Seq + 1
			err = company.Apply(m.state, e)
		}
	}
	return err
}

// failEffect reports the outcome of one effect of a task.
func (m *manyTasks) failEffect(n int) error {
	return m.do(
		company.Company,
		company.ReportEffectFailure{Task: company.NewTaskID(1 + n), Key: "prepare",
			EffectFailed: company.EffectFailed{Code: company.EDocker, Error: "it does not answer"}})
}

func newManyTasks(count int) (*manyTasks, error) {
	m := &manyTasks{state: company.NewState(), now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), count: count}
	if err := m.do(company.President, company.StartOffice{Office: "bench", Workers: 3}); err != nil {
		return nil, err
	}
	for i := range count {
		submit := company.Submit{Instruction: "do it", Project: company.Project{ID: fmt.Sprint("p", i%3), Path: "/p"},
			Priority: company.Priorities[i%len(company.Priorities)]}
		if err := m.do(company.President, submit); err != nil {
			return nil, err
		}
		if i%10 == 9 {
			if err := m.failEffect(i); err != nil {
				return nil, err
			}
		}
	}
	m.now = m.now.Add(time.Second)
	return m, nil
}

// benchEffect measures what the outcome of one effect costs the core while many tasks are
// open, from its command to the next due steps: by an agenda, which the office keeps, against
// asking all tasks anew.
func benchEffect(ctx context.Context, w *benchEnv) ([]Line, error) {
	const workers = 4
	m, err := newManyTasks(w.sampleCount(10_000, 100))
	if err != nil {
		return nil, err
	}
	var agenda company.Agenda
	agenda.Update(m.state.View(), m.now)
	n := 0
	got, err := takeSamples(ctx, w.sampleCount(200, 1),
		timeFunc(func() error {
			n = (n + 1) % m.count
			id := company.NewTaskID(1 + n)
			if err := m.failEffect(n); err != nil {
				return err
			}
			seen := m.state.View()
			agenda.Update(seen, m.now, id)
			agenda.Due(workers)
			company.IsDue(seen, company.Effect{Task: id, Key: "prepare " + string(id)}, m.now)
			agenda.Next()
			return nil
		}),
		timeFunc(func() error {
			company.Due(m.state, m.now, workers)
			company.NextDue(m.state, m.now)
			company.Due(m.state, m.now, m.count)
			return nil
		}),
	)
	if err != nil {
		return nil, err
	}
	line := compareLine(fmt.Sprintf("an effect's outcome, %d,%03d tasks open", m.count/1000, m.count%1000),
		"asked of all tasks", got[0], got[1])
	return []Line{line.withTarget("≤ 1 ms", line.Ours <= 1)}, nil
}
