package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/retry"
)

const (
	// maxCommit limits how many commands share a record of the ledger and its sync.
	maxCommit = 64
	// appendTimeout limits one attempt to append.
	appendTimeout = 30 * time.Second
	// busPatience is how long an append is retried while the bus does not answer, for example during an election of its
	// servers or a disk stall.
	busPatience = time.Minute
	firstWait   = 50 * time.Millisecond
	longestWait = 2 * time.Second
)

// request is a command that waits for its decision.
type request struct {
	ctx     context.Context
	sent    ledger.Command
	fresh   bool // its id was generated here and cannot be a repeat
	actor   string
	command company.Command
	// archives holds the archives of archived tasks that the command refers to. The key is the task that the others in
	// an archive follow.
	archives map[company.TaskID]*company.Archive
	at       time.Time   // time of its events; zero means the office's time at the decision
	answer   chan answer // of capacity 1
}

// answer is the result of a request.
type answer struct {
	events []company.Event
	err    error
}

// commit is a batch of requests that is being stored in the ledger. Their answers are held back until it is stored.
// This includes refusals, since they may depend on events of the same batch.
type commit struct {
	batch   *ledger.Batch
	decided []*request
	answers []answer
	applied []appliedEvent
}

func (c *commit) addAnswer(r *request, events []company.Event, err error) {
	c.decided, c.answers = append(c.decided, r), append(c.answers, answer{events, err})
}

// appliedEvent is an event with the state of its task after it.
type appliedEvent struct {
	event company.Event
	task  *company.Task
}

// commitCommand has a command decided and its events stored, and waits for the result. If ctx ends while the command
// is queued, the command is withdrawn. A command that was already taken runs to its end.
func (o *Orchestrator) commitCommand(
	ctx context.Context, id, actor string, command company.Command, archives map[company.TaskID]*company.Archive,
	at time.Time,
) ([]company.Event, error) {
	r := &request{ctx: ctx, actor: actor, command: command, archives: archives, at: at, answer: make(chan answer, 1)}
	if id == "" {
		r.sent, r.fresh = ledger.Command{ID: fmt.Sprintf("%s-%d", o.token, o.commands.Add(1))}, true
	} else {
		wish, err := company.WishOf(command)
		if err != nil {
			return nil, err
		}
		r.sent = ledger.Command{ID: company.CommandID(actor, id), Wish: wish}
	}
	//nolint:contextcheck // the committer is for all requests: each has its own context
	if err := o.enqueueRequest(r); err != nil {
		return nil, err
	}
	select {
	case a := <-r.answer:
		return a.events, a.err
	case <-ctx.Done():
	}
	if o.withdrawRequest(r) {
		return nil, context.Cause(ctx)
	}
	a := <-r.answer
	return a.events, a.err
}

// enqueueRequest queues a request and starts the committer if it is not running. The committer ends by itself when
// the queue is empty.
func (o *Orchestrator) enqueueRequest(r *request) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.failed != nil:
		return o.failed
	case r.ctx.Err() != nil:
		return context.Cause(r.ctx)
	}
	o.queue = append(o.queue, r)
	if !o.committing {
		o.committing = true
		go o.commitQueued()
	}
	return nil
}

// withdrawRequest removes a request from the queue. It returns false if the request is no longer queued.
func (o *Orchestrator) withdrawRequest(r *request) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	index := slices.Index(o.queue, r)
	if index >= 0 {
		o.queue = slices.Delete(o.queue, index, index+1)
	}
	return index >= 0
}

// takeRequests removes the oldest requests from the queue. If it returns none, the committer must end.
func (o *Orchestrator) takeRequests() []*request {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := min(len(o.queue), maxCommit)
	taken := slices.Clone(o.queue[:n])
	o.queue = slices.Delete(o.queue, 0, n)
	o.committing = n > 0
	return taken
}

// putBack returns requests to the front of the queue.
func (o *Orchestrator) putBack(rs []*request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = slices.Insert(o.queue, 0, rs...)
}

// failWith stops all decisions and ends the loop.
func (o *Orchestrator) failWith(err error) {
	o.mu.Lock()
	o.failed = err
	o.mu.Unlock()
	o.wakeLoop()
}

// FailStore ends the loop because the ledger cannot store events. It returns the error to report.
func (o *Orchestrator) FailStore(cause error) error {
	err := company.E(company.CodeOf(cause), "the ledger can no longer be written, so all work stops").Wrap(cause).
		Fix("check that the office's disk has space and is writable (df), then: company resume")
	o.failWith(err)
	return err
}

// failureCause returns why decisions have stopped, or nil.
func (o *Orchestrator) failureCause() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

// commitQueued is the committer. While one batch is stored, new requests are queued; it takes them next, until the
// queue is empty. Only commitQueued touches the state ahead.
func (o *Orchestrator) commitQueued() {
	for taken := o.takeRequests(); len(taken) > 0; taken = o.takeRequests() {
		if err := o.failureCause(); err != nil {
			for _, r := range taken {
				r.answer <- answer{err: err}
			}
			continue
		}
		commit := o.decideRequests(taken)
		if err := o.storeCommit(commit); err != nil {
			for i := range commit.answers {
				commit.answers[i] = answer{err: err}
			}
		}
		for i, r := range commit.decided {
			r.answer <- commit.answers[i]
		}
	}
}

// decideRequests decides requests in order, each on the state that its predecessors leave. Requests that do not fit
// into the batch are put back.
func (o *Orchestrator) decideRequests(taken []*request) *commit {
	refused := map[*request]error{}
	for {
		c := &commit{batch: o.cfg.Ledger.Begin()}
		broken := false
		for i, r := range taken {
			if err := refused[r]; err != nil {
				c.addAnswer(r, nil, err)
				continue
			}
			events, err := o.decideRequest(c, r)
			if errors.Is(err, ledger.ErrBatchFull) {
				o.putBack(taken[i:])
				break
			}
			if broken = errors.Is(err, errNotApplied); broken {
				// The state is half changed. The batch restarts without the command whose events cannot be applied, so that the
				// ledger never holds them.
				refused[r] = company.E(company.EInternal, "cannot apply the events of this command to the state").Wrap(err).
					Fix("report it, with the office's log")
				o.ahead = o.View().View()
				break
			}
			c.addAnswer(r, events, err)
		}
		if !broken {
			return c
		}
	}
}

// errNotApplied marks events that were decided but cannot be applied.
var errNotApplied = errors.New("orchestrator: cannot apply an event")

// decideRequest decides one request and applies its events to the state ahead.
func (o *Orchestrator) decideRequest(c *commit, r *request) ([]company.Event, error) {
	if r.ctx.Err() != nil {
		return nil, context.Cause(r.ctx)
	}
	if !r.fresh {
		if events, err := c.batch.Earlier(r.sent); events != nil || err != nil {
			return events, err
		}
		ctx, cancel := context.WithTimeout(r.ctx, appendTimeout)
		defer cancel()
		if events, err := o.cfg.Ledger.Earlier(ctx, r.sent); events != nil || err != nil {
			return events, err
		}
	}
	if err := o.missingArchives(r); err != nil {
		return nil, err
	}
	meta := company.Meta{ID: r.sent.ID, Actor: r.actor, Now: o.cfg.Clock.Now(), Zone: time.Local}
	if !r.at.IsZero() {
		meta.Now = r.at
	}
	command := r.command
	if len(r.archives) > 0 {
		command = company.RestoreArchived{Command: r.command, Archives: r.archives}
	}
	var drafts []company.Event
	err := company.Guard(fmt.Sprintf("deciding %T", r.command), func() (err error) {
		drafts, err = company.Decide(o.ahead, meta, command)
		return err
	})
	if err != nil || len(drafts) == 0 {
		return nil, err
	}
	for i := range drafts {
		drafts[i].Data = redactText(o.cfg.Secrets, drafts[i].Data)
	}
	events, err := c.batch.Add(r.sent, meta.Now, drafts)
	if err != nil {
		return nil, err // events that the ledger cannot hold are refused like the command
	}
	err = company.Guard(fmt.Sprintf("applying %T", r.command), func() error {
		for _, event := range events {
			if err := company.Apply(o.ahead, event); err != nil {
				return err
			}
			c.applied = append(c.applied, appliedEvent{event, o.ahead.Tasks[event.Task]})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotApplied, err)
	}
	return events, nil
}

// storeCommit stores a batch and then publishes its changes. An error ends the office: no part of the batch was
// acknowledged or acted upon, and the view is still that of the previous batch.
func (o *Orchestrator) storeCommit(c *commit) error {
	if c.batch.Len() == 0 {
		return nil
	}
	at, err := o.appendBatch(c.batch)
	if err != nil {
		return o.FailStore(err)
	}
	o.publishView(o.ahead.View(), at, c.applied)
	for _, appliedEvent := range c.applied {
		event := appliedEvent.event
		phase := ""
		if appliedEvent.task != nil {
			phase = appliedEvent.task.Phase()
		}
		o.cfg.Logger.Info("event", "seq", event.Seq, "kind", event.Kind, "task_id", event.Task, "phase", phase,
			"run_id", event.Run)
		if o.cfg.Projection == nil {
			continue
		}
		if err := company.Guard("projecting an event",
			func() error { o.cfg.Projection.MarkChanged(event, appliedEvent.task); return nil }); err != nil {
			o.cfg.Logger.Error("event not projected", "seq", event.Seq, "err", err, "details", company.DetailsOf(err))
		}
	}
	o.wakeLoop()
	return nil
}

// appendBatch appends a batch. If the bus does not answer, it retries with the same batch until BusPatience ends or
// the office is closed.
func (o *Orchestrator) appendBatch(batch *ledger.Batch) (at ledger.Head, err error) {
	waiting, cancel := context.WithTimeout(o.open, o.cfg.BusPatience)
	defer cancel()
	wait := retry.Doubling(firstWait, longestWait)
	policy := retry.Policy{Next: func(attempt int, err error) (time.Duration, bool) {
		again := ledger.IsOutage(err)
		if again {
			o.cfg.Logger.Warn("the bus gives no answer, the append is tried again", "attempt", attempt+1, "commands",
				batch.Len(),
				"err", err)
		}
		return wait(attempt), again
	}}
	_ = policy.Do(waiting, func(int) error { // the error is that of the last attempt, or the timeout
		ctx, cancel := context.WithTimeout(context.WithoutCancel(waiting), appendTimeout)
		defer cancel()
		at, err = o.cfg.Ledger.AppendBatch(ctx, batch)
		return err
	})
	return at, err
}
