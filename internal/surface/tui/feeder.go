package tui

import (
	"cmp"
	"context"
	"io"
	"os/exec"
	"sync"
	"time"

	"company/internal/agent"
	"company/internal/api/client"
	"company/internal/company"
	"company/internal/lib/retry"
	"company/internal/lib/safetext"
	"company/internal/present/feed"
	"company/internal/present/view"
)

const (
	// readEvery is the minimum interval between two reads of the office caused by events.
	readEvery = 250 * time.Millisecond
	// tickEvery is the interval at which ages are redrawn without an event.
	tickEvery = time.Second
	// idleEvery is the interval between looks for an office that does not exist yet.
	idleEvery = 5 * time.Second
	// reconnectEvery is the interval between attempts to reconnect.
	reconnectEvery = time.Second

	maxItems   = 500  // feed items kept
	maxPast    = 200  // past events read at first
	maxEntries = 2000 // entries kept of a conversation
	entryLines = 12   // lines kept of one message or result
)

// Entrance gives the UI access to an office.
type Entrance interface {
	// Connect connects to the office. The caller closes it. Errors are the company's own.
	Connect(ctx context.Context) (*client.Office, error)
	// ReadPatch returns the unified diff of a range, and notes about it.
	ReadPatch(ctx context.Context, r view.Range) (text string, notes []string, err error)
	// Submit sends an instruction to the company, and starts its work. It returns once the task has an
	// id.
	Submit(ctx context.Context, s view.Submission) (company.TaskID, error)
	// GoOn starts the work of the office if a task can continue, or any task if the id is empty.
	GoOn(ctx context.Context, task company.TaskID) error
	// Retry reopens an ended task and continues it.
	Retry(ctx context.Context, task company.TaskID) error
	// ReadPull returns a pull request with its evidence, for people.
	ReadPull(ctx context.Context, number int, s view.Style) (string, error)
	// Program returns a command of this program for the same office.
	Program(args ...string) (*exec.Cmd, error)
	// EditText returns the command that opens a text in the person's editor, and the
	// function that reads the text afterwards, which takes the command's error.
	EditText(text string) (editor *exec.Cmd, read func(error) (string, error), err error)
}

// feeder reads an office for the screens. Its methods are safe for concurrent use.
type feeder struct {
	entrance Entrance
	send     func(snapshotMsg)
	wake     chan struct{} // buffered signal to read the office
	// refresh is the interval at which the office is read if no event comes: a due retry moves a task without one.
	refresh time.Duration

	mu      sync.Mutex
	focus   focus
	items   []feed.Item
	seq     uint64 // of the newest item
	display feed.Display
	office  *client.Office // the office while it is followed

	last snapshot // used only by the reading goroutine
	log  *logStream
}

func newFeeder(entrance Entrance, send func(snapshotMsg)) *feeder {
	return &feeder{
		entrance: entrance, send: send, wake: make(chan struct{}, 1),
		display: feed.Display{Out: io.Discard, Style: func() feed.Style { return feed.Style{} }},
	}
}

// lookAt sets the parts to read from now on.
func (f *feeder) lookAt(at focus) {
	f.mu.Lock()
	f.focus = at
	f.mu.Unlock()
	f.wakeReader()
}

// wakeReader triggers a read of the office.
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
		case !office.IsMissing():
			err = f.followOffice(ctx, office)
			office.Close()
		default:
			err = f.readOffice(ctx, office)
			office.Close()
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

// awaitWake waits for the given time, or until a read is requested.
func (f *feeder) awaitWake(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-f.wake:
		_ = retry.Sleep(ctx, readEvery) // no faster than with an office
	}
}

// reportLoss shows that the office does not respond. Data read before stays visible.
func (f *feeder) reportLoss(err error) {
	if f.last.link.state != linkLost {
		f.last.link.since = f.last.now
	}
	f.last.link.state, f.last.link.why = linkLost, safetext.EscapeLine(explainLoss(err), 200)
	f.send(snapshotMsg(f.last))
}

func explainLoss(err error) string {
	if client.IsFeedCut(err) {
		return "the company process there ended"
	}
	return err.Error()
}

// readPast reads the events since the last read, at most the newest maxPast.
func (f *feeder) readPast(ctx context.Context, office *client.Office) error {
	work, err := office.Work(ctx)
	if err != nil {
		return err
	}
	f.mu.Lock()
	from := f.seq + 1
	f.mu.Unlock()
	if work.Seq > maxPast {
		from = max(from, work.Seq-maxPast)
	}
	if work.Seq < from {
		return nil
	}
	return office.Follow(ctx, feed.Range{From: from, Until: work.Seq}, f.takeItem)
}

// takeItem keeps a feed item for people.
func (f *feeder) takeItem(item feed.Item) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq = max(f.seq, item.Seq)
	if shown, _ := f.display.Show(item); shown {
		f.items = append(f.items, item)
		if over := len(f.items) - maxItems; over > 0 {
			f.items = append([]feed.Item(nil), f.items[over:]...)
		}
	}
	return nil
}

// followOffice reads an office, and again after events, until its process or ctx ends.
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
		ended <- office.Follow(ctx, feed.Range{From: from}, func(item feed.Item) error {
			defer f.wakeReader()
			return f.takeItem(item)
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
		if err := f.readOffice(ctx, office); err != nil {
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
				if quiet++; time.Duration(quiet)*tickEvery >= f.refresh {
					quiet = 0
					due = true
					break
				}
				f.last.now = office.Now()
				f.send(snapshotMsg(f.last))
			}
		}
	}
}

// setOffice keeps the office for commands.
func (f *feeder) setOffice(office *client.Office) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.office = office
}

// readOffice reads the parts in focus and sends a snapshot.
func (f *feeder) readOffice(ctx context.Context, office *client.Office) error {
	f.mu.Lock()
	focus := f.focus
	next := snapshot{link: link{state: linkIdle}, feed: f.items[:len(f.items):len(f.items)], diff: f.last.diff}
	f.mu.Unlock()
	var err error
	if next.overview, err = office.Overview(ctx, focus.all); err != nil {
		return err
	}
	if next.agents, err = office.Agents(ctx); err != nil {
		return err
	}
	if next.agents.Open {
		next.link.state = linkLive
	}
	if focus.task != "" {
		shown, err := office.Shown(ctx, string(focus.task))
		if isLoss(err) {
			return err
		}
		if next.task = shown.Task; err != nil {
			next.taskWhy = safetext.EscapeLine(err.Error(), 300)
		}
	}
	next.log = f.log.readEntries()
	if next.diff, err = f.readDiff(ctx, office, focus.diff, next.diff); err != nil {
		return err
	}
	next.now = office.Now()
	f.last = next
	f.send(snapshotMsg(next))
	return nil
}

// isLoss reports whether an error comes from the connection, and not from the office.
func isLoss(err error) bool {
	return err != nil && (client.IsFeedCut(err) || company.CodeOf(err) == company.EHeld)
}

// readDiff reads a diff, unless old is up to date.
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

// followLog starts to read the conversation in focus and stops all others.
func (f *feeder) followLog(ctx context.Context, office *client.Office) {
	f.mu.Lock()
	run := f.focus.run
	f.mu.Unlock()
	if f.log.isOf(run) {
		return
	}
	f.log.stopReading()
	if f.log = nil; run != "" {
		f.log = readLog(ctx, office, run, f.wakeReader)
	}
}

// logStream reads the conversation of a run. A nil logStream reads no conversation.
type logStream struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu  sync.Mutex
	log runLog
}

// readLog starts to read a conversation. It calls changed for each entry and at the end.
func readLog(ctx context.Context, office *client.Office, run company.RunID, changed func()) *logStream {
	ctx, cancel := context.WithCancel(ctx)
	s := &logStream{cancel: cancel, done: make(chan struct{}), log: runLog{run: run}}
	go func() {
		defer close(s.done)
		err := office.StreamTranscript(ctx, run, true, func(e agent.TranscriptEntry) error {
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

// takeEntry adds an entry of the conversation, or the output of a running call.
func (s *logStream) takeEntry(entry agent.TranscriptEntry) {
	s.mu.Lock()
	s.log.outputs = agent.AddOutput(s.log.outputs, entry)
	s.mu.Unlock()
	s.addEntry(entry.RenderText(entryLines))
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

// isOf reports whether the stream reads the conversation of run. A nil stream matches the empty
// run.
func (s *logStream) isOf(run company.RunID) bool {
	if s == nil {
		return run == ""
	}
	return s.log.run == run // set once
}

// readEntries returns the entries read so far.
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

// stopReading stops the read and waits for it to end.
func (s *logStream) stopReading() {
	if s != nil {
		s.cancel()
		<-s.done
	}
}
