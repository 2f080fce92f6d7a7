package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/present/feed"
	"company/internal/present/view"
)

// watchSize is how large the office is that the bench watch looks at.
type watchSize struct {
	tasks        int // that are open at any time
	waves, width int // of each plan
	workers      int
}

// countSubtasks counts those of all open tasks.
func (s watchSize) countSubtasks() int { return s.tasks * s.waves * s.width }

// crew is everybody in an office: it answers what the office has due, one effect at a time
// and in a random order, so that tasks stand at different places of their way. A task that
// has ended is archived, and another one takes its place.
type crew struct {
	past
	size   watchSize
	agenda company.Agenda
	random *rand.Rand
}

func newCrew(p past, size watchSize) *crew {
	p.waves, p.width, p.changed = size.waves, size.width, map[company.TaskID]bool{"": true}
	return &crew{past: p, size: size, random: rand.New(rand.NewPCG(1, 2))}
}

// submitTask submits one more task.
func (c *crew) submitTask() error {
	n := c.state.LastTask + 1
	return c.do(company.President, company.Submit{
		Instruction: fmt.Sprintf("Limit the rate of requests to the API by client, round %d.\n%s", n,
			strings.Repeat("A client that asks too often gets 429 and the time to wait. ", 8)),
		Project:  company.Project{ID: "bench", Path: c.repo},
		Settings: company.Settings{Cap: company.Amount{MicroUSD: company.NoCap, Tokens: company.NoCap}},
	})
}

// listDue lists the effects that a crew can answer.
func (c *crew) listDue() []company.Effect {
	changed := make([]company.TaskID, 0, len(c.changed))
	for id := range c.changed {
		changed = append(changed, id)
	}
	clear(c.changed)
	c.agenda.Update(c.state, c.now, changed...)
	return slices.DeleteFunc(c.agenda.Due(c.size.tasks), func(e company.Effect) bool {
		return e.Kind == company.EffectTestAhead || e.Drain
	})
}

// fillTask submits a task, and has so many of its subtasks merged.
func (c *crew) fillTask(merged int) error {
	if err := c.submitTask(); err != nil {
		return err
	}
	id := company.NewTaskID(c.state.LastTask)
	for len(c.state.Tasks[id].Subtasks) == 0 || countMerged(c.state.Tasks[id]) < merged {
		due := c.listDue()
		at := slices.IndexFunc(due, func(e company.Effect) bool { return e.Task == id })
		if at < 0 { // the others have all workers: one of them is let go on
			if err := c.doOne(); err != nil {
				return err
			}
			continue
		}
		if err := c.answer(due[at]); err != nil {
			return err
		}
	}
	return nil
}

func countMerged(t *company.Task) (n int) {
	for _, sub := range t.Subtasks {
		if sub.Status == company.SubtaskCompleted {
			n++
		}
	}
	return n
}

// doOne answers one effect.
func (c *crew) doOne() error {
	due := c.listDue()
	if len(due) == 0 {
		return company.E(company.EInternal, "the office of the bench has nothing to do")
	}
	e := due[c.random.IntN(len(due))]
	if err := c.answer(e); err != nil {
		return err
	}
	if t := c.state.Tasks[e.Task]; t == nil || !t.Status.Ended() || c.live == nil {
		return nil
	}
	if err := c.do(company.President, company.SettlePR{Task: e.Task, State: company.PRMerged}); err != nil {
		return err
	}
	if err := c.live.ArchiveTask(c.ctx, e.Task); err != nil {
		return err
	}
	c.changed[e.Task] = true
	return c.submitTask()
}

// answer does an effect, well.
func (c *crew) answer(e company.Effect) error {
	var err error
	if e.Kind == company.EffectEnqueue {
		name := c.freeWorker()
		err = c.do(name, company.Claim{Run: e.Run, Epoch: e.Offer.Epoch, Offer: e.Offer.Number, Worker: name})
	} else {
		err = c.answerEffect(c.state.Tasks[e.Task], e)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e.Key, err)
	}
	return nil
}

// freeWorker names a worker that holds no run.
func (c *crew) freeWorker() string {
	busy := map[string]bool{}
	for _, a := range c.state.ActiveAgents() {
		busy[a.ID] = true
	}
	n := 1
	for busy[fmt.Sprint("w", n)] {
		n++
	}
	return fmt.Sprint("w", n)
}

// doTool is a tool call of one of the agents at work; false: none is.
func (c *crew) doTool(at time.Time) (it feed.Item, doing view.Activity, ok bool) {
	all := c.state.ActiveAgents()
	if len(all) == 0 {
		return it, doing, false
	}
	a := all[c.random.IntN(len(all))]
	text := fmt.Sprintf("read_file {\"path\":\"pkg/p%d/limit.go\"}", c.random.IntN(100))
	it = feed.Item{Time: at, Task: a.Run.Task(), Run: a.Run, Worker: a.ID, Kind: "tool_done", Mark: feed.Done, Text: text,
		DurationMS: 3, After: c.state.Seq}
	return it, view.Activity{Run: a.Run, Turn: 1 + c.random.IntN(40), Text: text, Time: at}, true
}
