package tui

import (
	"cmp"
	"context"
	"io"
	"os/exec"
	"sync"
	"time"

	"company/internal/agent"
	"company/internal/client"
	"company/internal/company"
	"company/internal/feed"
	"company/internal/retry"
	"company/internal/safetext"
	"company/internal/view"
)

const (
	// readEvery is the least time between two reads of the office that events cause.
	readEvery = 250 * time.Millisecond
	// tickEvery is how soon ages are drawn anew without an event.
	tickEvery = time.Second
	// refreshEvery is how many ticks pass without an event until the office is read: a
	// retry that is due moves a task by the clock alone.
	refreshEvery = 3
	// idleEvery is how soon an office is looked at again where no company is at work.
	idleEvery = 5 * time.Second
	// reconnectEvery is how soon a lost office is tried again.
	reconnectEvery = time.Second

	maxItems   = 500  // of the feed that are kept
	maxPast    = 200  // events of the past that are read at first
	maxEntries = 2000 // of a conversation that are kept
	entryLines = 12   // of one message or result
)

// Entrance is the way to an office.
type Entrance interface {
	// Connect reaches the office. Its caller closes it. Errors are the company's own.
	Connect(ctx context.Context) (*client.Office, error)
	// ReadPatch is the unified diff of a range, and notes beside it.
	ReadPatch(ctx context.Context, r view.Range) (text string, notes []string, err error)
	// Submit gives an instruction to the company at work, or to one that it starts. It
	// returns when the task has its id.
	Submit(ctx context.Context, s view.Submission) (company.TaskID, error)
	// Retry reopens a task that has ended, and has it go on.
	Retry(ctx context.Context, task company.TaskID) error
	// ReadPull is a pull request with its evidence, for people.
	ReadPull(ctx context.Context, number int, s view.Style) (string, error)
	// Program is a command of this program about the same office.
	Program(args ...string) (*exec.Cmd, error)
	// EditText returns the command that opens a text in the person's editor, and the
	// function that reads the text afterwards, which takes the command's error.
	EditText(text string) (editor *exec.Cmd, read func(error) (string, error), err error)
}

// feeder reads an office for the screens. Its methods are for concurrent use.
type feeder struct {
	entrance Entrance
	send     func(snapshotMsg)
	wake     chan struct{} // holds one: the office is to be read

	mu      sync.Mutex
	focus   focus
	items   []feed.Item
	seq     uint64 // of the newest item
	display feed.Display
	office  *client.Office // that serves, while it is followed

	last snapshot // of the goroutine that runs
	log  *logStream
}

func newFeeder(e Entrance, send func(snapshotMsg)) *feeder {
	return &feeder{
		entrance: e, send: send, wake: make(chan struct{}, 1),
		display: feed.Display{Out: io.Discard, Style: func() feed.Style { return feed.Style{} }},
	}
}

// lookAt says which parts are to be read from now on.
func (f *feeder) lookAt(at focus) {
	f.mu.Lock()
	f.focus = at
	f.mu.Unlock()
	f.wakeReader()
}

// wakeReader has the office read soon.
func (f *feeder) wakeReader() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// feedScreens reads the office until ctx ends.
func (f *feeder) feedScreens(ctx context.Context) {
	defer func() { f.log.stopReading() }()
	for ctx.Err() == nil {
		office, err := f.entrance.Connect(ctx)
		wait := reconnectEvery
		switch {
		case err != nil:
		case office.IsServed():
			err = f.followOffice(ctx, office)
			office.Close()
		default:
			err = f.readOnce(ctx, office)
			wait = idleEvery
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			f.reportLoss(err)
		}
		f.awaitWake(ctx, wait)
	}
}

// awaitWake waits, or until a read is wanted.
func (f *feeder) awaitWake(ctx context.Context, wait time.Duration) {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-f.wake:
		_ = retry.Sleep(ctx, readEvery) // no faster than with a company at work
	}
}

// reportLoss shows that the office does not answer. The parts that were read stay.
func (f *feeder) reportLoss(err error) {
	if f.last.link.state != linkLost {
		f.last.link.since = f.last.now
	}
	f.last.link.state, f.last.link.why = linkLost, safetext.EscapeLine(explainLoss(err), 200)
	f.send(snapshotMsg(f.last))
}

func explainLoss(err error) string {
	if client.IsFeedCut(err) {
		return "the company there ended"
	}
	return err.Error()
}

// readOnce reads an office where no company is at work, and lets go of it.
func (f *feeder) readOnce(ctx context.Context, office *client.Office) error {
	defer office.Close()
	defer f.log.stopReading() // it reads from this office
	if err := f.readPast(ctx, office); err != nil {
		return err
	}
	f.mu.Lock()
	run := f.focus.run
	f.mu.Unlock()
	f.log.stopReading()
	f.log = nil
	if run != "" {
		f.log = readLog(ctx, office, run, false, func() {})
		f.log.awaitEnd()
	}
	return f.readOffice(ctx, office, linkIdle)
}

// readPast takes the events that came since those which were read, the newest of them.
func (f *feeder) readPast(ctx context.Context, office *client.Office) error {
	if office.IsMissing() {
		return nil
	}
	w, err := office.Work(ctx)
	if err != nil {
		return err
	}
	f.mu.Lock()
	from := f.seq + 1
	f.mu.Unlock()
	if w.Seq > maxPast {
		from = max(from, w.Seq-maxPast)
	}
	if w.Seq < from {
		return nil
	}
	return office.Follow(ctx, feed.Range{From: from, Until: w.Seq}, f.takeItem)
}

// takeItem keeps an item that people read.
func (f *feeder) takeItem(it feed.Item) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq = max(f.seq, it.Seq)
	if shown, _ := f.display.Show(it); shown {
		f.items = append(f.items, it)
		if over := len(f.items) - maxItems; over > 0 {
			f.items = append([]feed.Item(nil), f.items[over:]...)
		}
	}
	return nil
}

// followOffice reads a served office, and again after its events, until it ends or ctx.
func (f *feeder) followOffice(ctx context.Context, office *client.Office) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.setOffice(office)
	defer f.setOffice(nil)
	if err := f.readPast(ctx, office); err != nil {
		return err
	}
	f.mu.Lock()
	from := f.seq + 1
	f.mu.Unlock()
	ended, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		ended <- office.Follow(ctx, feed.Range{From: from}, func(it feed.Item) error {
			defer f.wakeReader()
			return f.takeItem(it)
		})
	}()
	defer func() {
		cancel()
		<-done
		f.log.stopReading()
		f.log = nil
	}()
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for quiet := 0; ; {
		f.followLog(ctx, office)
		if err := f.readOffice(ctx, office, linkLive); err != nil {
			return err
		}
		read := time.Now()
		for due := false; !due; {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case err := <-ended:
				return cmp.Or(err, io.EOF)
			case <-f.wake:
				_ = retry.Sleep(ctx, readEvery-time.Since(read))
				due, quiet = true, 0
			case <-tick.C:
				if quiet++; quiet%refreshEvery == 0 {
					due = true
					break
				}
				f.last.now = office.Now()
				f.send(snapshotMsg(f.last))
			}
		}
	}
}

// setOffice keeps the office that serves, for commands.
func (f *feeder) setOffice(office *client.Office) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.office = office
}

// readOffice reads what the focus asks for, and sends it.
func (f *feeder) readOffice(ctx context.Context, office *client.Office, state linkState) error {
	f.mu.Lock()
	at := f.focus
	next := snapshot{link: link{state: state}, feed: f.items[:len(f.items):len(f.items)], diff: f.last.diff}
	f.mu.Unlock()
	var err error
	if next.overview, err = office.Overview(ctx, at.all); err != nil {
		return err
	}
	if next.agents, err = office.Agents(ctx); err != nil {
		return err
	}
	if at.task != "" {
		shown, err := office.Shown(ctx, string(at.task))
		if isLoss(err) {
			return err
		}
		if next.task = shown.Task; err != nil {
			next.taskWhy = safetext.EscapeLine(err.Error(), 300)
		}
	}
	next.log = f.log.readEntries()
	if next.diff, err = f.readDiff(ctx, office, at.diff, next.diff); err != nil {
		return err
	}
	next.now = office.Now()
	f.last = next
	f.send(snapshotMsg(next))
	return nil
}

// isLoss says whether an error is the connection's, and not an answer of the office.
func isLoss(err error) bool {
	return err != nil && (client.IsFeedCut(err) || company.CodeOf(err) == company.EHeld)
}

// readDiff reads a change, unless it is the one that was read.
func (f *feeder) readDiff(ctx context.Context, office *client.Office, of string, old patchText) (patchText, error) {
	if of == "" {
		return patchText{}, nil
	}
	r, err := office.Range(ctx, of)
	if isLoss(err) {
		return old, err
	}
	if err != nil {
		return patchText{of: of, why: safetext.EscapeLine(err.Error(), 300)}, nil
	}
	key := of + " " + string(r.From) + " " + string(r.To)
	if old.key == key && old.why == "" {
		return old, nil
	}
	next := patchText{of: of, key: key}
	if next.text, next.notes, err = f.entrance.ReadPatch(ctx, r); err != nil {
		next.why = safetext.EscapeLine(err.Error(), 300)
	}
	return next, nil
}

// followLog has the conversation of the focus read, and no other.
func (f *feeder) followLog(ctx context.Context, office *client.Office) {
	f.mu.Lock()
	run := f.focus.run
	f.mu.Unlock()
	if f.log.isOf(run) {
		return
	}
	f.log.stopReading()
	if f.log = nil; run != "" {
		f.log = readLog(ctx, office, run, true, f.wakeReader)
	}
}

// logStream reads the conversation of a run. The nil one reads none.
type logStream struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu  sync.Mutex
	log runLog
}

// readLog begins to read a conversation, and calls changed for each entry and at the end.
func readLog(ctx context.Context, office *client.Office, run company.RunID, follow bool, changed func()) *logStream {
	ctx, cancel := context.WithCancel(ctx)
	s := &logStream{cancel: cancel, done: make(chan struct{}), log: runLog{run: run}}
	go func() {
		defer close(s.done)
		err := office.StreamTranscript(ctx, run, follow, func(e agent.TranscriptEntry) error {
			s.takeEntry(e)
			changed()
			return nil
		})
		s.mu.Lock()
		s.log.ended, s.log.outputs = true, nil
		if err != nil && ctx.Err() == nil && !client.IsFeedCut(err) {
			s.log.why = safetext.EscapeLine(err.Error(), 300)
		}
		s.mu.Unlock()
		changed()
	}()
	return s
}

// takeEntry takes an entry of the conversation, or the output of a call under way.
func (s *logStream) takeEntry(e agent.TranscriptEntry) {
	s.mu.Lock()
	s.log.outputs = agent.AddOutput(s.log.outputs, e)
	s.mu.Unlock()
	s.addEntry(e.RenderText(entryLines))
}

func (s *logStream) addEntry(text string) {
	if text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.entries = append(s.log.entries, text)
	if over := len(s.log.entries) - maxEntries; over > maxEntries/4 {
		s.log.entries, s.log.dropped = append([]string(nil), s.log.entries[over:]...), s.log.dropped+over
	}
}

// isOf says whether it is the conversation of a run. No run has none.
func (s *logStream) isOf(run company.RunID) bool {
	if s == nil {
		return run == ""
	}
	return s.log.run == run // set once
}

// readEntries are those read so far.
func (s *logStream) readEntries() runLog {
	if s == nil {
		return runLog{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.log
	l.entries = l.entries[:len(l.entries):len(l.entries)]
	return l
}

// awaitEnd waits until all of it is read.
func (s *logStream) awaitEnd() { <-s.done }

// stopReading ends the read, and waits for that.
func (s *logStream) stopReading() {
	if s != nil {
		s.cancel()
		<-s.done
	}
}
