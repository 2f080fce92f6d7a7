package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"company/internal/company"
	"company/internal/ledger"
	"company/internal/retry"
)

const (
	// maxCommit is how many commands share a record of the ledger, and its sync.
	maxCommit = 64
	// appendTimeout bounds one try to append.
	appendTimeout = 30 * time.Second
	// busPatience is how long an append is tried again while the bus gives no
	// answer: an election of its servers, a disk that stalls.
	busPatience = time.Minute
	firstWait   = 50 * time.Millisecond
	longestWait = 2 * time.Second
)

// request is a command that is to be decided.
type request struct {
	ctx     context.Context
	sent    ledger.Command
	fresh   bool // its id was made here and is no repeat
	actor   string
	command company.Command
	// archives are of the archived tasks that the command is about, by the task that
	// the others of an archive follow.
	archives map[company.TaskID]*company.Archive
	at       time.Time   // of its events; zero: the office's time when it is decided
	answer   chan answer // of capacity 1
}

// answer is what becomes of a request.
type answer struct {
	events []company.Event
	err    error
}

// commit is a batch of requests on its way into the ledger. Their answers are held
// back until it is stored: a refusal, too, may rest on events of the same batch.
type commit struct {
	batch   *ledger.Batch
	decided []*request
	answers []answer
	applied []appliedEvent
}

func (c *commit) addAnswer(r *request, events []company.Event, err error) {
	c.decided, c.answers = append(c.decided, r), append(c.answers, answer{events, err})
}

// appliedEvent is an event with the task as it is after it.
type appliedEvent struct {
	event company.Event
	task  *company.Task
}

// commitCommand has a command decided and its events stored, and waits for the
// outcome. A caller whose context ends while the command is queued takes it back;
// a command that was taken up is seen to its end.
func (o *Orchestrator) commitCommand(ctx context.Context, id, actor string, c company.Command, archives map[company.TaskID]*company.Archive, at time.Time) ([]company.Event, error) {
	r := &request{ctx: ctx, actor: actor, command: c, archives: archives, at: at, answer: make(chan answer, 1)}
	if id == "" {
		r.sent, r.fresh = ledger.Command{ID: fmt.Sprintf("%s-%d", o.token, o.commands.Add(1))}, true
	} else {
		wish, err := company.WishOf(c)
		if err != nil {
			return nil, err
		}
		r.sent = ledger.Command{ID: company.CommandID(actor, id), Wish: wish}
	}
	if err := o.enqueueRequest(r); err != nil { //nolint:contextcheck // the committer is for all requests: each has its own context
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

// enqueueRequest queues a request, and starts the committer when it rests. The
// committer ends by itself: it lives while a request waits for its answer.
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

// withdrawRequest takes a request out of the queue; false: it is not in it any more.
func (o *Orchestrator) withdrawRequest(r *request) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := slices.Index(o.queue, r)
	if at >= 0 {
		o.queue = slices.Delete(o.queue, at, at+1)
	}
	return at >= 0
}

// takeRequests takes the oldest requests off the queue; none: the committer ends.
func (o *Orchestrator) takeRequests() []*request {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := min(len(o.queue), maxCommit)
	taken := slices.Clone(o.queue[:n])
	o.queue = slices.Delete(o.queue, 0, n)
	o.committing = n > 0
	return taken
}

// putBack queues requests again, before all others.
func (o *Orchestrator) putBack(rs []*request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = slices.Insert(o.queue, 0, rs...)
}

// failWith has nothing decided any more, and ends the loop.
func (o *Orchestrator) failWith(err error) {
	o.mu.Lock()
	o.failed = err
	o.mu.Unlock()
	o.wakeLoop()
}

// FailStore ends the loop since nothing can be stored any more, and gives the error of that.
func (o *Orchestrator) FailStore(cause error) error {
	err := company.E(company.CodeOf(cause), "the ledger takes no more, so nothing is decided any more").Wrap(cause).
		Fix("see that the office's disk has space and can be written (df), then: company resume")
	o.failWith(err)
	return err
}

// failureCause is why nothing is decided any more, or nil.
func (o *Orchestrator) failureCause() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

// commitQueued is the committer: it takes the requests that were queued while the batch
// before was being stored, until there are none. It alone touches the state ahead.
func (o *Orchestrator) commitQueued() {
	for taken := o.takeRequests(); len(taken) > 0; taken = o.takeRequests() {
		if err := o.failureCause(); err != nil {
			for _, r := range taken {
				r.answer <- answer{err: err}
			}
			continue
		}
		c := o.decideRequests(taken)
		began := time.Now()
		if err := o.storeCommit(c); err != nil {
			for i := range c.answers {
				c.answers[i] = answer{err: err}
			}
		}
		took := time.Since(began)
		for i, r := range c.decided {
			r.answer <- c.answers[i]
		}
		o.gatherRequests(len(c.decided), took/gatherShare)
	}
}

// gatherShare is the share of the time of an append, one in so many, for which the next one
// waits for company.
const gatherShare = 16

// gatherRequests waits for the next commands of those who were just answered, as long as
// patience allows. Without it callers that send one command after the other fall into two
// groups, of which each waits for the append of the other.
func (o *Orchestrator) gatherRequests(answered int, patience time.Duration) {
	if answered < 2 {
		return
	}
	all := min(o.countQueued()+answered, maxCommit)
	for until := time.Now().Add(patience); o.countQueued() < all && time.Now().Before(until); {
		runtime.Gosched()
	}
}

func (o *Orchestrator) countQueued() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue)
}

// decideRequests decides one request after the other, each on the state that those
// before it leave. What has no room in the batch is put back.
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
				// The state is half changed. The batch begins anew without the command
				// whose events no state can follow, so that the ledger never holds them.
				refused[r] = company.E(company.EInternal, "the state cannot follow this command, so it is refused").Wrap(err).Fix("report it, with the office's log")
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

// errNotApplied marks events that were decided and cannot be applied.
var errNotApplied = errors.New("orchestrator: an event cannot be applied")

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
	m := company.Meta{ID: r.sent.ID, Actor: r.actor, Now: o.cfg.Clock.Now(), Zone: time.Local}
	if !r.at.IsZero() {
		m.Now = r.at
	}
	command := r.command
	if len(r.archives) > 0 {
		command = company.RestoreArchived{Command: r.command, Archives: r.archives}
	}
	var drafts []company.Event
	err := company.Guard(fmt.Sprintf("deciding %T", r.command), func() (err error) {
		drafts, err = company.Decide(o.ahead, m, command)
		return err
	})
	if err != nil || len(drafts) == 0 {
		return nil, err
	}
	events, err := c.batch.Add(r.sent, m.Now, drafts)
	if err != nil {
		return nil, err // events that the ledger cannot hold are refused like the command
	}
	err = company.Guard(fmt.Sprintf("applying %T", r.command), func() error {
		for _, e := range events {
			if err := company.Apply(o.ahead, e); err != nil {
				return err
			}
			c.applied = append(c.applied, appliedEvent{e, o.ahead.Tasks[e.Task]})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotApplied, err)
	}
	return events, nil
}

// storeCommit stores a batch, and then lets everybody see what it changed. An error
// ends the office: nothing of the batch was acknowledged or acted upon, and the
// view is still that of the batch before.
func (o *Orchestrator) storeCommit(c *commit) error {
	if c.batch.Len() == 0 {
		return nil
	}
	at, err := o.appendBatch(c.batch)
	if err != nil {
		return o.FailStore(err)
	}
	o.publishView(o.ahead.View(), at, c.applied)
	for _, a := range c.applied {
		e := a.event
		phase := ""
		if a.task != nil {
			phase = a.task.Phase()
		}
		o.cfg.Logger.Info("event", "seq", e.Seq, "kind", e.Kind, "task_id", e.Task, "phase", phase, "run_id", e.Run)
		if o.cfg.Projection == nil {
			continue
		}
		if err := company.Guard("projecting an event", func() error { o.cfg.Projection.MarkChanged(e, a.task); return nil }); err != nil {
			o.cfg.Logger.Error("event not projected", "seq", e.Seq, "err", err, "details", company.DetailsOf(err))
		}
	}
	o.wakeLoop()
	return nil
}

// appendBatch appends a batch. A bus that gives no answer is asked again for a
// while, with the same batch, unless the office is being closed.
func (o *Orchestrator) appendBatch(b *ledger.Batch) (at ledger.Head, err error) {
	waiting, cancel := context.WithTimeout(o.open, o.cfg.BusPatience)
	defer cancel()
	wait := retry.Doubling(firstWait, longestWait)
	policy := retry.Policy{Next: func(attempt int, err error) (time.Duration, bool) {
		again := ledger.IsOutage(err)
		if again {
			o.cfg.Logger.Warn("the bus gives no answer, the append is tried again", "attempt", attempt+1, "commands", b.Len(), "err", err)
		}
		return wait(attempt), again
	}}
	_ = policy.Do(waiting, func(int) error { // its error is that of the last attempt, or the end of the patience
		ctx, cancel := context.WithTimeout(context.WithoutCancel(waiting), appendTimeout)
		defer cancel()
		at, err = o.cfg.Ledger.AppendBatch(ctx, b)
		return err
	})
	return at, err
}
