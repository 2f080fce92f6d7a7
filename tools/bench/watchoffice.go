package main

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"company/internal/agent"
	"company/internal/api"
	"company/internal/api/page"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/engine/orchestrator"
	"company/internal/engine/replay"
	"company/internal/ledger"
	"company/internal/lib/clock"
	"company/internal/lib/secret"
	"company/internal/office"
	"company/internal/present/feed"
	"company/internal/present/view"
	"company/internal/upkeep"
)

// watchedOffice is an office at work whose crew is the bench itself, served over TCP to
// listeners and browsers. What serves is the company's own: the ledger on a bus that syncs,
// the orchestrator, the hub, the API and the page.
type watchedOffice struct {
	*crew
	dir    string // of all it writes
	ledger *ledger.Ledger
	hub    *feed.Hub
	server *api.Server
	url    string
	token  string       // of listeners
	client *http.Client // of them

	ending  context.Context
	end     context.CancelFunc
	closers []func() error // in the order in which they were opened

	mu    sync.Mutex
	doing map[company.RunID]view.Activity
}

// openWatched makes an office of a size, whose tasks stand at different places of their way,
// and serves it. machine are its clocks.
func (w *benchEnv) openWatched(
	ctx context.Context, name string, size watchSize, machine clock.Sources,
) (_ *watchedOffice, err error) {
	o := &watchedOffice{dir: filepath.Join(w.dir, name), doing: map[company.RunID]view.Activity{}, token: rand.Text()}
	o.ending, o.end = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			err = errors.Join(err, o.close())
		}
	}()
	repo := filepath.Join(o.dir, "repo")
	if err := errors.Join(os.MkdirAll(repo, 0o700), os.Mkdir(filepath.Join(o.dir, "run"), 0o700)); err != nil {
		return nil, err
	}
	if _, err := runGit(ctx, repo, nil, "init", "-q", "-b", "main"); err != nil {
		return nil, err
	}
	paths, err := office.Find(office.FindOptions{Dir: repo})
	if err != nil {
		return nil, err
	}
	off, err := office.Open(ctx, paths)
	if err != nil {
		return nil, err
	}
	o.closers = append(o.closers, off.Close)
	b, err := nats.Open(ctx, nats.Options{Folder: off.BusFolder, Logger: w.Logger})
	if err != nil {
		return nil, err
	}
	o.closers = append(o.closers, b.Close)
	officeTime := clock.New(machine)
	if o.ledger, err = ledger.Open(
		ctx, b, ledger.Options{Folder: off.StateFolder, Logger: w.Logger, Clock: officeTime.Now}); err != nil {
		return nil, err
	}
	if err := o.fillCrew(ctx, off.ID, repo, size, officeTime.Now()); err != nil {
		return nil, err
	}
	if o.live, err = orchestrator.Open(
		ctx, orchestrator.Config{Ledger: o.ledger, Clock: officeTime, Office: off.ID, Version: "bench", Active: size.tasks,
			Logger: w.Logger, Projection: o}); err != nil {
		return nil, err
	}
	o.state, o.now, o.changed[""] = o.live.View(), o.live.Now(), true
	o.hub = feed.NewHub(o.state.Seq)
	return o, o.startServer(w, off.ID) //nolint:contextcheck // a server stops by its own time
}

// fillCrew gives the ledger the office's tasks.
func (o *watchedOffice) fillCrew(ctx context.Context, id, repo string, size watchSize, now time.Time) error {
	p := past{ctx: ctx, log: o.ledger, batch: o.ledger.Begin(), state: company.NewState(),
		now: now.Add(-40 * time.Minute).UTC(), repo: repo, step: 50 * time.Millisecond}
	o.crew = newCrew(p, size)
	if err := o.do(company.Company, company.StartOffice{Office: id, Version: "bench", Workers: size.workers}); err != nil {
		return err
	}
	for n := range size.tasks {
		if err := o.fillTask(n * size.waves * size.width / size.tasks); err != nil {
			return err
		}
	}
	for range 20 * size.workers { // until runs, gates and reviews are under way in all of them
		if err := o.doOne(); err != nil {
			return err
		}
	}
	return o.flushEvents()
}

// startServer serves the office at a free port of the loopback address.
func (o *watchedOffice) startServer(w *benchEnv, id string) (err error) {
	o.server = api.New(o, api.ServerInfo{Version: "bench", Office: id, PID: os.Getpid(), Serving: true}, w.Logger)
	socket, err := net.Listen("unix", filepath.Join(o.dir, "s"))
	if err != nil {
		return err
	}
	o.url, err = o.server.ListenTCP(
		api.TCPOptions{Listen: "127.0.0.1:0", Program: secret.New(o.token), Page: page.Handler()})
	if err != nil {
		return errors.Join(err, socket.Close())
	}
	o.server.Start(socket)
	o.client = &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100}}
	o.closers = append(o.closers, func() error {
		o.end()
		o.client.CloseIdleConnections()
		o.server.Stop()
		return nil
	})
	return nil
}

func (o *watchedOffice) close() error {
	o.end()
	var errs []error
	for i := len(o.closers) - 1; i >= 0; i-- {
		errs = append(errs, o.closers[i]())
	}
	o.closers = nil
	return errors.Join(errs...)
}

// useTool has an agent use a tool, which the ledger does not know.
func (o *watchedOffice) useTool() {
	it, doing, ok := o.doTool(o.live.Now())
	if !ok {
		return
	}
	o.mu.Lock()
	if len(o.doing) > 4*o.size.workers {
		clear(o.doing)
	}
	o.doing[it.Run] = doing
	o.mu.Unlock()
	o.hub.Publish(it)
}

// MarkChanged passes an event on, as a company at work does.
func (o *watchedOffice) MarkChanged(e company.Event, t *company.Task) {
	if o.hub != nil {
		o.hub.MarkChanged(e, t)
	}
}

// Source is what the views of this moment are made from.
func (o *watchedOffice) Source() view.Source {
	src := view.Source{State: o.live.View(), Now: o.live.Now(), AtWork: true, Archives: o}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, a := range o.doing {
		src.Activities = append(src.Activities, a)
	}
	return src
}

// DoID decides a command.
func (o *watchedOffice) DoID(ctx context.Context, id, actor string, c company.Command) ([]company.Event, error) {
	return o.live.DoID(ctx, id, actor, c)
}

// Follow gives a part of the feed.
func (o *watchedOffice) Follow(ctx context.Context, r feed.Range, fn func(feed.Item) error) error {
	return feed.Source{Ledger: o.ledger, Office: o, Hub: o.hub}.Follow(ctx, r, fn)
}

// FindTask finds a task, archived or not.
func (o *watchedOffice) FindTask(ctx context.Context, id company.TaskID) *company.Task {
	s := o.live.View()
	if t := s.Tasks[id]; t != nil || s.Past[id] == nil {
		return t
	}
	archive, err := o.live.LoadArchive(ctx, id)
	if err != nil {
		return nil
	}
	return archive.Task(id)
}

// LoadArchive reads the archive that holds a task.
func (o *watchedOffice) LoadArchive(id company.TaskID) (*company.Archive, error) {
	return o.live.LoadArchive(o.ending, id)
}

// StreamTranscript gives nothing: the runs of a crew have no conversation.
func (*watchedOffice) StreamTranscript(context.Context, company.RunID, bool, func(agent.TranscriptEntry) error) error {
	return nil
}

// StreamRecord gives nothing: a crew is replayed from nothing.
func (*watchedOffice) StreamRecord(context.Context, company.TaskID, func(replay.Entry) error) error {
	return nil
}

// Verify finds no damage: it looks at nothing.
func (*watchedOffice) Verify(context.Context) (view.Verification, error) {
	return view.Verification{}, nil
}

// FindLeftovers finds none: a crew leaves nothing.
func (*watchedOffice) FindLeftovers(context.Context, bool, bool) (upkeep.Report, error) {
	return upkeep.NewReport(true), nil
}

var (
	_ api.Office              = (*watchedOffice)(nil)
	_ orchestrator.Projection = (*watchedOffice)(nil)
)
