package officeaccess

import (
	"context"
	"errors"
	"fmt"
	"time"

	"company/internal/api"
	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/retry"
	"company/internal/office"
)

// TakeOver takes the office for company serve. It ends a background company, whose work it continues, and waits for
// a command that works in the foreground. It returns EConflict if another company serves.
func (ent *Entrance) TakeOver(ctx context.Context, paths office.Paths) (*officeapp.App, error) {
	waits := false
	off, lock, err := ent.acquireOffice(ctx, paths, api.Always, true, func(info api.ServerInfo) (bool, error) {
		switch {
		case info.Serving:
			return false, company.E(company.EConflict, "this office is already being served").
				Because(fmt.Sprintf("by process %d, company %s", info.PID, info.Version)).
				Fix(fmt.Sprintf("use that process, or stop it first: kill %d", info.PID))
		case info.Foreground:
			if !waits && !info.Passing {
				ent.Console.PrintNote("waiting for process %d, which uses this office until its task ends", info.PID)
			}
			waits = waits || !info.Passing
			return false, nil
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return ent.serveApp(ctx, off, lock, officeapp.Serving)
}

// TakeLock opens an office and takes its lock, for a command that needs the office for itself. It ends a background
// process if nothing is going on there, and otherwise returns the error of busy.
func (ent *Entrance) TakeLock(
	ctx context.Context, paths office.Paths, busy func(*office.Holder) error,
) (*office.Office, *office.Lock, error) {
	return ent.acquireOffice(ctx, paths, api.UnlessBusy, false, func(info api.ServerInfo) (bool, error) {
		if info.Serving || info.Busy || info.Foreground && !info.Passing {
			return false, busy(office.FindHolder(paths))
		}
		return !info.Foreground, nil
	})
}

// OpenAlone opens an office for a command that needs it for itself, like TakeLock. No client can connect to it.
func (ent *Entrance) OpenAlone(
	ctx context.Context, paths office.Paths, busy func(*office.Holder) error,
) (*officeapp.App, error) {
	off, lock, err := ent.TakeLock(ctx, paths, busy)
	if err != nil {
		return nil, err
	}
	app, err := ent.openApp(ctx, off, lock, officeapp.Passing)
	if err == nil && app.Fault() != nil {
		return nil, errors.Join(app.Fault(), app.Close())
	}
	return app, err
}

// killSilentHolder takes the lock of a holder that neither beats nor answers its socket.
func killSilentHolder(ctx context.Context, paths office.Paths, held *office.Holder) (*office.Lock, error) {
	if office.SilentFor(paths, held) > 0 {
		conn, err := client.Dial(ctx, held)
		if conn == nil && err == nil {
			return office.KillSilentHolder(ctx, paths, held)
		}
		if conn != nil {
			conn.Close()
		}
	}
	return nil, office.HeldError(held)
}

// acquireOffice opens an office and takes its lock. If another process has it, mayEnd decides: whether to ask that
// process to end, to wait for it, or to give up with an error. With kills, a silent process is killed.
func (ent *Entrance) acquireOffice(
	ctx context.Context, paths office.Paths, unless api.EndUnless, kills bool,
	mayEnd func(api.ServerInfo) (bool, error),
) (*office.Office, *office.Lock, error) {
	for began := time.Now(); ; {
		held := office.FindHolder(paths)
		kill := kills && mayKill(began, paths, held)
		if held == nil || kill {
			off, lock, err := openLocked(ctx, paths, kill)
			if err == nil {
				ent.printNotices(off.Notices)
			}
			if company.CodeOf(err) != company.EHeld {
				return off, lock, err
			}
			if now := office.FindHolder(paths); held == nil || now == nil || now.PID != held.PID {
				began = time.Now()
				continue
			}
			return nil, nil, err
		}
		conn, err := ent.dialHolder(ctx, paths, held)
		if err != nil {
			return nil, nil, err
		}
		if conn != nil {
			began = time.Now()
			err = askToEnd(ctx, paths, conn, unless, mayEnd)
		} else if isOverdue(began, held) && !(kills && office.SilentFor(paths, held) > 0) {
			err = office.HeldError(held)
		}
		if err == nil {
			err = retry.Sleep(ctx, askEvery)
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// askToEnd asks a process to end if mayEnd allows it, and closes conn.
func askToEnd(
	ctx context.Context, paths office.Paths, conn *client.Office, unless api.EndUnless,
	mayEnd func(api.ServerInfo) (bool, error),
) error {
	end, err := mayEnd(conn.Server())
	if err == nil && end {
		return endProcess(ctx, paths, conn, unless)
	}
	conn.Close()
	return err
}
