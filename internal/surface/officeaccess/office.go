// Package officeaccess gives commands and the terminal UI access to an office.
//
// It resolves which office, which checkout or project, and which config the user means. It takes
// the office's lock, or connects to the process that holds it. A read-only command, or one that
// sends one command, connects (ConnectOffice, Read). A command that works there enters (Enter,
// TakeOver). Reading creates no office, a process reads a config once, and exactly one process
// holds an office at a time. The package prints only notices about an office's folders, and
// decides nothing about tasks.
package officeaccess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"company/internal/api"
	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/clock"
	"company/internal/lib/retry"
	"company/internal/lib/safetext"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/surface/terminalio"
)

// Entrance is the access of one process to offices. It holds the user's choices, and the console
// for notices.
type Entrance struct {
	Console *terminalio.Console // its environment is that of the process

	OfficeDir   string   // folder of the office, empty to search for it
	RepoDir     string   // checkout, or an address for a submission (empty means the working directory)
	ConfigFlags []string // key=value pairs for the config

	Version string        // of the program
	Commit  string        // commit that it was built from; may be empty
	Clocks  clock.Sources // the zero value means this machine's clocks

	Desk api.Desk // for offices that this process opens for work; may be nil

	// OnlyReads is set by commands that change nothing. They read an office whose config does not load.
	OnlyReads bool

	configs map[[2]string]config.Loaded // loaded configs by office and project
}

// ForCall returns an Entrance for one call of a program, with a console of its own and no loaded
// configs.
func (ent *Entrance) ForCall(console *terminalio.Console) *Entrance {
	return &Entrance{
		Console: console, OfficeDir: ent.OfficeDir, RepoDir: ent.RepoDir, ConfigFlags: slices.Clone(ent.ConfigFlags),
		Version: ent.Version, Commit: ent.Commit, Clocks: ent.Clocks,
	}
}

// WallTime returns the time of the wall clock.
func (ent *Entrance) WallTime() time.Time {
	if ent.Clocks.Wall != nil {
		return ent.Clocks.Wall()
	}
	return time.Now()
}

const (
	// DialTimeout limits the wait for an answer of the process that holds an office.
	DialTimeout = 5 * time.Second
	// TakeOverTimeout is the limit for a process that does not serve requests. It is opening the
	// office, or stopping its containers.
	TakeOverTimeout = 30 * time.Second
)

// FindOffice finds the office without creating it.
func (ent *Entrance) FindOffice() (office.Paths, error) {
	if officeapp.IsAddress(ent.RepoDir) {
		return office.Paths{}, company.E(company.EUsage, "only company submit takes an address with --repo").
			Because("other commands use the current office").
			Fix("leave --repo out; company project list shows where the clone is")
	}
	return office.Find(office.FindOptions{Dir: ent.RepoDir, Office: ent.OfficeDir, Env: ent.Console.LookupEnv})
}

// Access is access to an office, here or in another process. The caller closes it.
type Access struct {
	*client.Office
	// App is the office if this process holds it, and nil if another process does.
	App *officeapp.App
}

// Enter takes the office's lock and opens it, or connects to the process that holds it. It returns
// EHeld if neither succeeds within patience.
func (ent *Entrance) Enter(ctx context.Context, paths office.Paths, patience time.Duration) (*Access, error) {
	off, err := ent.OpenOffice(ctx, paths)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	for {
		lock, held, err := office.TryLock(paths)
		if err != nil {
			return nil, errors.Join(err, off.Close())
		}
		if lock != nil {
			loaded, fault := ent.LoadConfig(ctx, paths)
			if fault != nil && !(ent.OnlyReads && company.CodeOf(fault) == company.EConfig) {
				return nil, errors.Join(fault, lock.Release(), off.Close())
			}
			if fault != nil {
				loaded.Config = config.Default()
			}
			app, err := officeapp.Open(ctx, ent.openOptions(off, lock, loaded))
			if err != nil && fault != nil && company.CodeOf(err) == company.EConfig {
				return nil, fault // the defaults do not fit this office
			}
			if err != nil {
				return nil, err
			}
			if fault != nil {
				ent.Console.PrintNote(
					"the config does not load, so the office is read-only; see company config check")
			}
			return &Access{Office: client.Local(app), App: app}, nil
		}
		remote, err := client.Dial(ctx, held)
		if err != nil {
			return nil, errors.Join(err, off.Close())
		}
		if remote != nil {
			if err := off.Close(); err != nil {
				remote.Close()
				return nil, err
			}
			return &Access{Office: remote}, nil
		}
		if time.Since(began) > waitFor(held, patience) {
			_ = off.Close()
			return nil, office.HeldError(held)
		}
		select {
		case <-ctx.Done():
			_ = off.Close()
			return nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// openOptions returns the options with which this process opens an office.
func (ent *Entrance) openOptions(off *office.Office, lock *office.Lock, loaded config.Loaded) officeapp.Options {
	return officeapp.Options{
		Office: off, Lock: lock, Config: loaded, Env: ent.Console.LookupEnv, Clocks: ent.Clocks, Version: ent.Version,
		Logger:  ent.Console.Log,
		Configs: ent.ProjectConfigs(off.Paths), Lines: lineWriter{ent, off.Paths}, Desk: ent.Desk, Bell: ent.findBell(),
	}
}

// findBell returns the terminal on which people follow the work, or nil.
func (ent *Entrance) findBell() io.Writer {
	if !terminalio.IsTerminal(ent.Console.Err) {
		return nil
	}
	return ent.Console.Err
}

// waitFor returns how long to wait for an office that is held without an answer. It returns
// patience, or a longer time if the process has no socket yet, since it is opening the office or
// ending. Every command is such a process briefly.
func waitFor(held *office.Holder, patience time.Duration) time.Duration {
	if held == nil || held.Socket == "" {
		return max(patience, TakeOverTimeout)
	}
	return patience
}

// OpenOffice opens the folders of an office and prints its notices.
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

// TakeOver takes the office. It waits for a company that ends with its own task. It returns
// EConflict for a company that serves.
func (ent *Entrance) TakeOver(ctx context.Context, paths office.Paths) (*officeapp.App, error) {
	for waits := false; ; {
		access, err := ent.Enter(ctx, paths, TakeOverTimeout)
		if err != nil {
			return nil, err
		}
		if access.App != nil {
			return access.App, nil
		}
		access.Close()
		serverInfo, _ := access.Server()
		if serverInfo.Serving {
			return nil, company.E(company.EConflict, "this office is already being served").
				Because(fmt.Sprintf("by process %d, company %s", serverInfo.PID, serverInfo.Version)).
				Fix(fmt.Sprintf("use that process, or stop it first: kill %d", serverInfo.PID))
		}
		if !waits {
			ent.Console.PrintNote("waiting for process %d, which uses this office until its task ends", serverInfo.PID)
			waits = true
		}
		if err := retry.Sleep(ctx, 250*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// IdentifyOffice returns the id of the current office, or "" if there is none. held reports
// whether a process holds it.
func (ent *Entrance) IdentifyOffice(ctx context.Context) (id string, held bool) {
	paths, err := ent.FindOffice()
	if err != nil || !paths.Exists() {
		return "", false
	}
	off, err := ent.OpenOffice(ctx, paths)
	if err != nil {
		return "", false
	}
	defer off.Close()
	return off.ID, office.IsHeld(paths)
}

// ConnectOffice connects to the office for a command that only reads or sends one command. It
// creates no office. If the company ends meanwhile, for example after a no that ends its last
// task, the client connects again.
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

// ConnectOnce is ConnectOffice without reconnecting, for callers that follow an office. They
// notice when the company ends and connect again themselves.
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
	// The process that holds the office has checked its folders and git.
	if remote, err := client.Dial(ctx, office.FindHolder(paths)); remote != nil || err != nil {
		return remote, paths, err
	}
	access, err := ent.Enter(ctx, paths, DialTimeout)
	if err != nil {
		return nil, paths, err
	}
	return access.Office, paths, nil
}
