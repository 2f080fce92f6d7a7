package tui

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/api/apitest"
	"company/internal/api/client"
	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/engine/replay"
	"company/internal/lib/hosttest"
	"company/internal/office"
	"company/internal/present/feed"
	"company/internal/present/view"
	"company/internal/upkeep"
)

// servedOffice is an office with the real core, without an engine.
type servedOffice struct {
	*decidertest.Decider
	reads int // overviews that were asked for
	mu    sync.Mutex
	more  chan struct{} // closed and made again with each command
}

func (o *servedOffice) Source() view.Source {
	o.mu.Lock()
	o.reads++
	o.mu.Unlock()
	return view.Source{State: o.View(), Now: now, AtWork: true,
		Folders: view.Folders{Has: func(string, string) bool { return false }}}
}

func (o *servedOffice) DoID(ctx context.Context, _, actor string, c company.Command) ([]company.Event, error) {
	evs, err := o.Do(ctx, actor, c)
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.more)
	o.more = make(chan struct{})
	return evs, err
}

func (*servedOffice) StartWork(context.Context) ([]company.TaskID, error) { return nil, nil }
func (*servedOffice) RequestEnd() error                                   { return nil }

func (o *servedOffice) Follow(ctx context.Context, r feed.Range, fn func(feed.Item) error) error {
	for next := max(1, r.From); ; {
		o.mu.Lock()
		more := o.more
		o.mu.Unlock()
		for _, e := range o.Events() {
			if e.Seq < next || r.Until > 0 && e.Seq > r.Until {
				continue
			}
			if err := fn(feed.Describe(e, o.View().Tasks[e.Task])); err != nil {
				return err
			}
			next = e.Seq + 1
		}
		if r.Until > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-more:
		}
	}
}

func (o *servedOffice) Verify(context.Context) (view.Verification, error) {
	return view.Verification{}, company.E(company.ENotFound, "there is no ledger")
}

func (*servedOffice) CheckEvidence(context.Context, string) (view.EvidenceCheck, error) {
	return view.EvidenceCheck{}, company.E(company.ENotFound, "there is no ledger")
}

func (o *servedOffice) FindLeftovers(context.Context, bool, bool) (upkeep.Report, error) {
	return upkeep.NewReport(true), nil
}

func (o *servedOffice) StreamRecord(context.Context, company.TaskID, func(replay.Entry) error) error {
	return company.E(company.ENotFound, "there is no record")
}

func (o *servedOffice) StreamTranscript(
	ctx context.Context, run company.RunID, follow bool, fn func(agent.TranscriptEntry) error,
) error {
	if err := fn(
		agent.TranscriptEntry{Message: &agent.TranscriptMessage{Role: "assistant", Content: "hello from " + string(run),
			Timestamp: now}}); err != nil || !follow {
		return err
	}
	for _, o := range []agent.LiveOutput{{ID: "1", Lines: []string{"over"}}, {ID: "2", Lines: []string{"under way"}},
		{ID: "1"}} {
		if err := fn(agent.TranscriptEntry{Output: &o}); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// checkoutEntrance is the way to the office of a checkout.
type checkoutEntrance struct {
	Entrance // nothing else is asked of it
	dir      string
}

func (e checkoutEntrance) Connect(ctx context.Context) (*client.Office, error) {
	paths, err := office.Find(office.FindOptions{Dir: e.dir, Env: os.LookupEnv})
	if err != nil {
		return nil, err
	}
	conn, err := client.Dial(ctx, office.FindHolder(paths))
	if conn == nil && err == nil {
		err = company.E(company.ENotFound, "company serve is not running")
	}
	return conn, err
}

func (checkoutEntrance) ReadPatch(context.Context, view.Range) (string, []string, error) {
	return "", nil, company.E(company.ENotFound, "there is no mirror")
}

func (checkoutEntrance) GoOn(context.Context, company.TaskID) error { return nil }

func (checkoutEntrance) Submit(context.Context, view.Submission) (company.TaskID, error) {
	return "", company.E(company.EConflict, "nothing is submitted here")
}

// seenSnapshots are those that a feeder sent.
type seenSnapshots chan snapshotMsg

// await waits for a snapshot that fits.
func (s seenSnapshots) await(t *testing.T, what string, fits func(snapshot) bool) snapshot {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case msg := <-s:
			if fits(snapshot(msg)) {
				return snapshot(msg)
			}
		case <-limit:
			t.Fatalf("no snapshot came with %s", what)
		}
	}
}

// TestFeederFollowsAServedOffice: tasks, feed and conversations come as they happen, the
// loss of the company is shown, and the next one is found (UI-2).
func TestFeederFollowsAServedOffice(t *testing.T) {
	d := decidertest.New(t)
	id := d.Submit("make the door open", t.TempDir())
	o := &servedOffice{Decider: d, more: make(chan struct{})}
	checkout := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", checkout).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	stop := apitest.ServeOffice(t, checkout, o)

	ctx, cancel := context.WithCancel(t.Context())
	sent := make(seenSnapshots, 1000)
	f := newFeeder(checkoutEntrance{dir: checkout}, func(s snapshotMsg) { sent <- s })
	var reading sync.WaitGroup
	reading.Go(func() { f.feedScreens(ctx) })
	defer func() {
		cancel()
		reading.Wait()
	}()

	s := sent.await(t, "the task", func(s snapshot) bool { return s.link.state == linkLive && len(s.overview.Tasks) == 1 })
	if len(s.feed) == 0 || !strings.Contains(s.feed[0].Text, "make the door open") {
		t.Errorf("the feed is %+v", s.feed)
	}
	f.lookAt(focus{task: id, run: "t1-plan.1", diff: string(id)})
	s = sent.await(t, "a conversation", func(s snapshot) bool {
		return len(s.log.entries) > 0 && len(s.log.outputs) == 1 && s.log.outputs[0].ID == "2" && s.task != nil &&
			s.diff.of != ""
	})
	if !strings.Contains(s.log.entries[0], "hello from t1-plan.1") || s.task.ID != id || s.diff.why == "" {
		t.Errorf("read %+v, %v, %+v", s.log, s.task.ID, s.diff)
	}

	// A command over the connection that is followed, as the screens send it.
	desk := &desk{feeder: f, ctx: ctx, entrance: f.entrance}
	if msg, ok := desk.sendCommand(company.Pause{Task: id}, "paused")().(resultMsg); !ok || msg.bad {
		t.Fatalf("pause: %+v", msg)
	}
	sent.await(t, "the pause", func(s snapshot) bool { return len(s.overview.Tasks) == 1 && s.overview.Tasks[0].Paused })
	if msg, _ := desk.sendCommand(company.Pause{Task: "t99"}, "paused")().(resultMsg); !msg.bad ||
		!strings.Contains(msg.text, "t99") {
		t.Errorf("pause of no task: %+v", msg)
	}

	// Events in a burst cause at most four reads a second: reads cost two views each, and
	// a third one with a task.
	o.mu.Lock()
	o.reads = 0
	o.mu.Unlock()
	began := time.Now()
	for i := range 100 {
		if _, err := o.DoID(ctx, fmt.Sprint(i), "president", company.Pause{Task: id, Off: i%2 == 0}); err != nil {
			t.Fatal(err)
		}
	}
	sent.await(t, "the burst", func(s snapshot) bool { return len(s.feed) > 100 || time.Since(began) > 2*time.Second })
	o.mu.Lock()
	reads := o.reads
	o.mu.Unlock()
	if most := 4 * (int(time.Since(began)/readEvery) + 2); reads > most {
		t.Errorf("%d views in %v, at most %d", reads, time.Since(began), most)
	}

	// watch.refresh: without an event the office is read at an interval, here at each tick.
	o.mu.Lock()
	o.reads = 0
	o.mu.Unlock()
	hosttest.Eventually(t, "a read without an event", func() (any, bool) {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.reads, o.reads > 0
	})

	stop()
	s = sent.await(t, "the loss", func(s snapshot) bool { return s.link.state == linkLost })
	if len(s.overview.Tasks) != 1 || s.link.why == "" {
		t.Errorf("after the loss: %+v", s.link)
	}
	apitest.ServeOffice(t, checkout, o)
	sent.await(t, "the next company", func(s snapshot) bool { return s.link.state == linkLive })
}
