package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/office"
	"company/internal/orchestrator"
	"company/internal/safetext"
	"company/internal/server"
)

const (
	// dialFor is how long the holder of an office has to answer.
	dialFor = 5 * time.Second
	// takeOverFor is the same for one that cannot answer yet, or not any more: it
	// opens the office, or puts away its containers first.
	takeOverFor = 30 * time.Second
	// answerFor is how long one request may take that the holder has taken.
	answerFor = 30 * time.Second
)

// access is an office as a command sees it: opened by this process, which
// then holds its lock; served by the process that does; or not there yet.
type access interface {
	State(ctx context.Context) (*company.State, error)
	// Now is the office's time, which may be another than the wall clock's.
	Now() time.Time
	// Do has a command of the president decided. The id makes a repeat
	// harmless; empty: a fresh one.
	Do(ctx context.Context, id string, c company.Command) (server.Done, error)
	Follow(ctx context.Context, from uint64, fn func(orchestrator.Item) error) error
	Close()
}

// paths finds the office. It makes nothing.
func (a *app) paths() (office.Paths, error) {
	return office.Find(office.FindOptions{Dir: a.repoDir, Office: a.officeDir, Env: a.env})
}

// load reads the config of an office.
func (a *app) load(ctx context.Context, p office.Paths) (office.Loaded, error) {
	flags := map[string]string{}
	for _, kv := range a.set {
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return office.Loaded{}, company.E(company.EUsage, fmt.Sprintf("--set %q is not key=value", kv)).Fix("--set workers.max=5")
		}
		flags[k] = v
	}
	return office.Load(ctx, a.loadOptions(p, flags))
}

// loadFor reads the config for work on a project: where that is not the
// office's own, what its company.yaml says about gates and containers counts.
func (a *app) loadFor(ctx context.Context, p office.Paths, project string) (office.Loaded, error) {
	if project == p.Repo {
		project = ""
	}
	b := *a
	b.project = project
	return b.load(ctx, p)
}

func (a *app) loadOptions(p office.Paths, flags map[string]string) office.LoadOptions {
	return office.LoadOptions{OfficeDir: p.Root, Project: a.project, Env: a.env, Environ: a.environ, Flags: flags}
}

// ready is the office and a config that it can work with.
func (a *app) ready(ctx context.Context) (office.Paths, office.Loaded, error) {
	paths, err := a.paths()
	if err != nil {
		return office.Paths{}, office.Loaded{}, err
	}
	loaded, err := a.load(ctx, paths)
	if err != nil {
		return office.Paths{}, office.Loaded{}, err
	}
	return paths, loaded, loaded.Check()
}

// exists says whether the office was ever opened.
func exists(p office.Paths) bool {
	state, err := p.Folder(p.State)
	if err != nil {
		return false
	}
	defer state.Close()
	_, err = state.Lstat("office.json")
	return err == nil
}

// open takes the office's lock, or reaches who holds it; who does neither
// within the patience is EHeld. Exactly one of the two is returned.
func (a *app) open(ctx context.Context, paths office.Paths, patience time.Duration) (h *house, remote access, err error) {
	off, err := a.openOffice(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	began := time.Now()
	for {
		lock, held, err := office.TryLock(paths)
		if err != nil {
			return nil, nil, errors.Join(err, off.Close())
		}
		if lock != nil {
			loaded, err := a.load(ctx, paths)
			if err == nil {
				h, err = openHouse(ctx, lock, off, loaded, a.clocks, a.log)
			}
			if h != nil {
				h.configFor = func(ctx context.Context, project string) (office.Loaded, error) {
					return a.loadFor(ctx, paths, project)
				}
			}
			if err != nil {
				_ = lock.Release()
				_ = off.Close()
				return nil, nil, err
			}
			return h, nil, nil
		}
		if c := a.dial(ctx, held); c != nil {
			return nil, c, off.Close()
		}
		if time.Since(began) > waitFor(held, patience) {
			_ = off.Close()
			return nil, nil, heldBy(held)
		}
		select {
		case <-ctx.Done():
			_ = off.Close()
			return nil, nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// waitFor is how long the office may be held without an answer: for the
// patience, and for longer where the holder does not listen, since it opens the
// office or ends. Every command is such a holder for a moment.
func waitFor(held *office.Holder, patience time.Duration) time.Duration {
	if held == nil || held.Socket == "" {
		return max(patience, takeOverFor)
	}
	return patience
}

// openOffice opens the folders of an office, and tells people what they are to
// know of them.
func (a *app) openOffice(ctx context.Context, paths office.Paths) (*office.Office, error) {
	off, err := office.Open(ctx, paths)
	if err != nil {
		return nil, err
	}
	for _, line := range off.Said {
		a.note("%s", safetext.EscapeLine(line, 600))
	}
	return off, nil
}

func heldBy(held *office.Holder) error {
	e := company.E(company.EHeld, "the office is held by a process that does not answer")
	if held == nil || held.PID == 0 {
		return e.Fix("wait for it to end, and try again")
	}
	return e.Because(fmt.Sprintf("process %d on %s: %s", held.PID, held.Host, held.Command)).
		Fix(fmt.Sprintf("wait for it to end, or end it with kill %d, and try again", held.PID))
}

// dial reaches the holder of the office, or gives nil.
func (a *app) dial(ctx context.Context, held *office.Holder) access {
	if held == nil || held.Socket == "" {
		return nil // it is opening, or ending
	}
	c := server.Dial(func(ctx context.Context) (net.Conn, error) { return office.DialSocket(ctx, held.Socket) })
	hctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	hello, err := c.Hello(hctx)
	if err != nil {
		c.Close()
		return nil
	}
	return &distant{c: c, hello: hello}
}

// access gives the office for a command that only looks or sends one command.
// It makes no office where there is none.
func (a *app) access(ctx context.Context) (access, office.Paths, error) {
	paths, err := a.paths()
	if err != nil {
		return nil, paths, err
	}
	if !exists(paths) {
		return absent{}, paths, nil
	}
	h, remote, err := a.open(ctx, paths, dialFor)
	if err != nil || remote != nil {
		return remote, paths, err
	}
	return &near{h}, paths, nil
}

// absent is an office that nobody has opened yet: nothing has happened there.
type absent struct{}

func (absent) State(context.Context) (*company.State, error) { return company.NewState(), nil }
func (absent) Now() time.Time                                { return time.Now().UTC() }
func (absent) Do(context.Context, string, company.Command) (server.Done, error) {
	return server.Done{}, company.E(company.ENotFound, "there is no office here yet").Fix(`company submit "…" opens one`)
}
func (absent) Follow(context.Context, uint64, func(orchestrator.Item) error) error { return io.EOF }
func (absent) Close()                                                              {}

// near is an office that this process holds.
type near struct{ h *house }

func (n *near) State(context.Context) (*company.State, error) { return n.h.View(), nil }

func (n *near) Now() time.Time { return n.h.Now() }

func (n *near) Do(ctx context.Context, id string, c company.Command) (server.Done, error) {
	if id == "" {
		id = commandID()
	}
	evs, err := n.h.DoID(ctx, id, company.President, c)
	return server.Done{Events: evs, Task: n.h.View().SubmittedBy(company.President, id)}, err
}

func (n *near) Follow(ctx context.Context, from uint64, fn func(orchestrator.Item) error) error {
	return n.h.Follow(ctx, from, fn)
}

func (n *near) Close() { n.h.leave() }

// leave closes the office and lets others in.
func (h *house) leave() {
	if h.proj != nil {
		h.proj.flush(h.life) // what was decided without a company at work
	}
	h.close()
	if err := h.lock.Release(); err != nil {
		h.log.Warn("lock not released", "err", err)
	}
	_ = h.office.Close()
}

// distant is an office that another process holds.
type distant struct {
	c     *server.Client
	hello server.Hello
}

// doings are what its agents are at.
func (d *distant) doings(ctx context.Context) ([]server.Doing, error) {
	ctx, cancel := context.WithTimeout(ctx, answerFor)
	defer cancel()
	return d.c.Doings(ctx)
}

// doingsIn are what the agents of an office are at; none where no company is
// at work, or none is told.
func doingsIn(ctx context.Context, acc access) []server.Doing {
	d, ok := acc.(*distant)
	if !ok {
		return nil
	}
	doings, err := d.doings(ctx)
	if err != nil {
		return nil // the ledger's answer stands
	}
	return doings
}

func (d *distant) State(ctx context.Context) (*company.State, error) {
	ctx, cancel := context.WithTimeout(ctx, answerFor)
	defer cancel()
	return d.c.State(ctx)
}

func (d *distant) Now() time.Time { return d.c.Now() }

func (d *distant) Do(ctx context.Context, id string, c company.Command) (server.Done, error) {
	if id == "" {
		id = commandID()
	}
	ctx, cancel := context.WithTimeout(ctx, answerFor)
	defer cancel()
	return d.c.Do(ctx, id, c)
}

func (d *distant) Follow(ctx context.Context, from uint64, fn func(orchestrator.Item) error) error {
	return d.c.Follow(ctx, from, fn)
}

func (d *distant) Close() { d.c.Close() }

// commandID makes the id of one command.
func commandID() string {
	var b [12]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // the kernel has no randomness: nothing can go on
	}
	return "c-" + hex.EncodeToString(b[:])
}

func (a *app) printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
