// Package entrance is the way of a surface into an office.
//
// It owns what a user means by where they stand and what they name: which office, which
// checkout or project, which config; and the way in: the office's lock, or the process
// that has it. A surface that only looks or sends a command connects (ConnectOffice, Read),
// one that works there opens or dials (OpenOrDial, TakeOver). It promises that a look makes
// no office where there is none, that a process reads a config once, and that exactly one
// process has an office at a time. It shows nothing of an office but notices of its
// folders, and decides nothing about tasks.
package entrance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"company/internal/api"
	officeapp "company/internal/app"
	"company/internal/client"
	"company/internal/clock"
	"company/internal/company"
	"company/internal/config"
	"company/internal/console"
	"company/internal/office"
	"company/internal/retry"
	"company/internal/safetext"
)

// Entrance is how one process gets into offices: what its user names, and the console on
// which notices of an office come.
type Entrance struct {
	Console *console.Console // its environment is that of the process

	OfficeDir   string   // folder of the office; empty: it is looked for
	RepoDir     string   // checkout, or for a submission an address; empty: where one stands
	ConfigFlags []string // key=value of the config

	Version string        // of the program
	Commit  string        // that it was built from; may be empty
	Clocks  clock.Sources // of the machine; zero: of this one

	Desk api.Desk // of offices that this process opens for work; nil without one

	configs map[[2]string]config.Loaded // that were read, by office and project
}

// ForCall is the entrance of one call of a program, at a console of its own: it has read no
// config yet.
func (ent *Entrance) ForCall(c *console.Console) *Entrance {
	return &Entrance{
		Console: c, OfficeDir: ent.OfficeDir, RepoDir: ent.RepoDir, ConfigFlags: slices.Clone(ent.ConfigFlags), Version: ent.Version, Commit: ent.Commit, Clocks: ent.Clocks,
	}
}

// WallTime is what the wall clock says.
func (ent *Entrance) WallTime() time.Time {
	if ent.Clocks.Wall != nil {
		return ent.Clocks.Wall()
	}
	return time.Now()
}

const (
	// DialTimeout is how long the holder of an office has to answer.
	DialTimeout = 5 * time.Second
	// TakeOverTimeout is the same for one that cannot answer yet, or not any more: it
	// opens the office, or puts away its containers first.
	TakeOverTimeout = 30 * time.Second
)

// FindOffice finds the office. It makes nothing.
func (ent *Entrance) FindOffice() (office.Paths, error) {
	if officeapp.IsAddress(ent.RepoDir) {
		return office.Paths{}, company.E(company.EUsage, "--repo takes an address with company submit alone").Because("other commands are about the office you stand in").
			Fix("leave --repo out; company project list shows where the clone is")
	}
	return office.Find(office.FindOptions{Dir: ent.RepoDir, Office: ent.OfficeDir, Env: ent.Console.LookupEnv})
}

// OpenOrDial takes the office's lock, or reaches its holder; when neither
// succeeds within the patience, it returns EHeld. Exactly one of the two is
// returned.
func (ent *Entrance) OpenOrDial(ctx context.Context, paths office.Paths, patience time.Duration) (h *officeapp.App, remote *client.Office, err error) {
	off, err := ent.OpenOffice(ctx, paths)
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
			loaded, err := ent.LoadConfig(ctx, paths)
			if err != nil {
				return nil, nil, errors.Join(err, lock.Release(), off.Close())
			}
			h, err := officeapp.Open(ctx, ent.openOptions(off, lock, loaded))
			return h, nil, err
		}
		c, err := client.Dial(ctx, held)
		if c != nil || err != nil {
			return nil, c, errors.Join(err, off.Close())
		}
		if time.Since(began) > waitFor(held, patience) {
			_ = off.Close()
			return nil, nil, office.HeldError(held)
		}
		select {
		case <-ctx.Done():
			_ = off.Close()
			return nil, nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// openOptions is what this process opens an office with.
func (ent *Entrance) openOptions(off *office.Office, lock *office.Lock, loaded config.Loaded) officeapp.Options {
	return officeapp.Options{
		Office: off, Lock: lock, Config: loaded, Env: ent.Console.LookupEnv, Clocks: ent.Clocks, Version: ent.Version, Logger: ent.Console.Log,
		Configs: ent.ProjectConfigs(off.Paths), Lines: lineWriter{ent, off.Paths}, Desk: ent.Desk, Bell: ent.findBell(),
	}
}

// findBell is the terminal on which people follow the work, or nil.
func (ent *Entrance) findBell() io.Writer {
	if !console.IsTerminal(ent.Console.Err) {
		return nil
	}
	return ent.Console.Err
}

// waitFor is how long the office may be held without an answer: for the
// patience, and for longer where the holder does not listen, since it opens the
// office or ends. Every command is such a holder for a moment.
func waitFor(held *office.Holder, patience time.Duration) time.Duration {
	if held == nil || held.Socket == "" {
		return max(patience, TakeOverTimeout)
	}
	return patience
}

// OpenOffice opens the folders of an office, and tells people what they are to
// know of them.
func (ent *Entrance) OpenOffice(ctx context.Context, paths office.Paths) (*office.Office, error) {
	off, err := office.Open(ctx, paths)
	if err != nil {
		return nil, err
	}
	for _, line := range off.Notices {
		ent.Console.PrintNote("%s", safetext.EscapeLine(line, 600))
	}
	return off, nil
}

// TakeOver takes the office. A company that ends with its own task is waited
// for; one that serves is not: EConflict.
func (ent *Entrance) TakeOver(ctx context.Context, paths office.Paths) (*officeapp.App, error) {
	for waits := false; ; {
		h, remote, err := ent.OpenOrDial(ctx, paths, TakeOverTimeout)
		if err != nil || h != nil {
			return h, err
		}
		remote.Close()
		d, _ := remote.Server()
		if d.Serving {
			return nil, company.E(company.EConflict, "this office is served already").
				Because(fmt.Sprintf("by process %d, company %s", d.PID, d.Version)).
				Fix(fmt.Sprintf("use it as it is, or end it first: kill %d", d.PID))
		}
		if !waits {
			ent.Console.PrintNote("process %d works in this office until its task ends; waiting for that", d.PID)
			waits = true
		}
		if err := retry.Sleep(ctx, 250*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// IdentifyOffice is the id of the office that one stands in, "" for none, and
// whether a process has it.
func (ent *Entrance) IdentifyOffice(ctx context.Context) (id string, held bool) {
	p, err := ent.FindOffice()
	if err != nil || !p.Exists() {
		return "", false
	}
	off, err := ent.OpenOffice(ctx, p)
	if err != nil {
		return "", false
	}
	defer off.Close()
	return off.ID, office.IsHeld(p)
}

// ConnectOffice gives the office for a command that only looks or sends one command.
// It makes no office where there is none. The company that has the office may end
// meanwhile, as after a no that ends its last task: then the office is connected to anew.
func (ent *Entrance) ConnectOffice(ctx context.Context) (*client.Office, office.Paths, error) {
	conn, paths, err := ent.ConnectOnce(ctx)
	if conn != nil {
		conn.Reconnect(func(ctx context.Context) (*client.Office, error) {
			again, _, err := ent.ConnectOnce(ctx)
			return again, err
		})
	}
	return conn, paths, err
}

// ConnectOnce is ConnectOffice for what follows an office for long: it sees that the company
// there ends, and connects anew by itself.
func (ent *Entrance) ConnectOnce(ctx context.Context) (*client.Office, office.Paths, error) {
	paths, err := ent.FindOffice()
	if err != nil {
		return nil, paths, err
	}
	if !paths.Exists() {
		if _, err := ent.LoadConfig(ctx, paths); err != nil {
			return nil, paths, err // company submit, which opens an office, would fail
		}
		return client.None(paths), paths, nil
	}
	// The process that has the office has looked at its folders, and asked git.
	if remote, err := client.Dial(ctx, office.FindHolder(paths)); remote != nil || err != nil {
		return remote, paths, err
	}
	h, remote, err := ent.OpenOrDial(ctx, paths, DialTimeout)
	if err != nil || remote != nil {
		return remote, paths, err
	}
	return client.Local(h), paths, nil
}
