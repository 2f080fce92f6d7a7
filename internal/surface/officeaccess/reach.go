package officeaccess

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/semver"

	"company/internal/api"
	"company/internal/api/client"
	"company/internal/company"
	"company/internal/lib/retry"
	"company/internal/office"
	"company/internal/present/view"
)

const (
	// answerPatience limits the wait for an answer of a process that listens.
	answerPatience = 5 * time.Second
	// openPatience limits the wait for a process that does not listen: it is opening the office, or stopping its
	// containers.
	openPatience = 30 * time.Second
	// endPatience limits the wait for the end of a process, whose effects may take long to stop.
	endPatience = 2 * time.Minute
	// askEvery is the interval of attempts to reach the process that has an office.
	askEvery = 20 * time.Millisecond
)

// Reach connects to the process that has an office, and starts one if there is none. It ends an unused process of an
// older version, or one with an outdated config, before. The office may not exist yet. Reach starts no work. It returns
// EHeld if the process does not answer in time. The caller closes the client.
func (ent *Entrance) Reach(ctx context.Context, paths office.Paths) (*client.Office, error) {
	return ent.reachProcess(ctx, paths, false)
}

// ReachForWork is Reach for a caller that starts work. It also replaces a process with another environment, if nothing
// is going on there, and one of an older version in any case. It continues the work of a process that it ends. It kills
// a process that neither answers nor beats.
func (ent *Entrance) ReachForWork(ctx context.Context, paths office.Paths) (*client.Office, error) {
	return ent.reachProcess(ctx, paths, true)
}

func (ent *Entrance) reachProcess(ctx context.Context, paths office.Paths, forWork bool) (*client.Office, error) {
	var ended *endedWork // of a process that was replaced; one is enough
	settled := false     // no process is replaced any more
	began := time.Now()
	for {
		held := office.FindHolder(paths)
		kill := forWork && mayKill(began, paths, held)
		var conn *client.Office
		var err error
		switch {
		case held != nil && !kill:
			conn, err = ent.dialHolder(ctx, paths, held)
		case ent.Foreground:
			conn, err = ent.openHere(ctx, paths, forWork)
		default:
			err = ent.startBackground(ctx, paths)
			settled = settled || err == nil
		}
		if err != nil && company.CodeOf(err) != company.EHeld {
			return nil, err
		}
		if kill {
			if now := office.FindHolder(paths); err != nil && now != nil && now.PID == held.PID {
				return nil, err
			}
			began = time.Now() // another process has the office, or none
		}
		if conn != nil && forWork && conn.Server().Passing {
			conn.Close() // it ends soon, and starts no work for others
			conn = nil
			began = time.Now()
		}
		if conn != nil {
			if settled || !ent.isOutdated(ctx, paths, conn.Server(), forWork) {
				return ended.continueOn(ctx, conn)
			}
			settled = true
			if ended, err = endForSuccessor(ctx, paths, conn); err != nil {
				return nil, err
			}
			began = time.Now()
			continue
		}
		if isOverdue(began, held) && !(forWork && office.SilentFor(paths, held) > 0) {
			return nil, office.HeldError(held)
		}
		if err != nil && time.Since(began) > openPatience {
			return nil, err
		}
		if err := retry.Sleep(ctx, askEvery); err != nil {
			return nil, err
		}
	}
}

// dialHolder connects to a process. It returns nil without an error if the process does not answer. It returns
// EConflict if another office answers, because the socket was replaced.
func (ent *Entrance) dialHolder(ctx context.Context, paths office.Paths, held *office.Holder) (*client.Office, error) {
	conn, err := client.Dial(ctx, held)
	if conn == nil || err != nil {
		return nil, err
	}
	if id, other := office.ReadID(paths), conn.Server().Office; id != "" && other != id {
		conn.Close()
		return nil, company.E(company.EConflict, "another office answers at "+held.Socket).
			Because(fmt.Sprintf("this office is %s, and %q answers", id, other)).
			Fix(fmt.Sprintf("end process %d, or remove the socket, and try again", held.PID))
	}
	return conn, nil
}

// isOverdue reports whether there is a holder that has not answered since began for as long as it may.
func isOverdue(began time.Time, held *office.Holder) bool {
	return held != nil && time.Since(began) > waitFor(held)
}

// mayKill reports whether a holder has not answered since began for long enough to be killed, and does not beat.
func mayKill(began time.Time, paths office.Paths, held *office.Holder) bool {
	return isOverdue(began, held) && time.Since(began) > office.KillPatience && office.SilentFor(paths, held) > 0
}

// waitFor returns how long to wait for a process without an answer.
func waitFor(held *office.Holder) time.Duration {
	if held.Socket == "" || !office.Accepts(held.Socket) {
		return openPatience
	}
	return answerPatience
}

// isOutdated reports whether this process needs another one than the one that answered. A process of company serve or
// of a command in the foreground is used as it is, and so is one of a newer version. A client that only reads ends no
// work, and no process that others use.
func (ent *Entrance) isOutdated(ctx context.Context, paths office.Paths, info api.ServerInfo, forWork bool) bool {
	order := semver.Compare("v"+info.Version, "v"+ent.Version)
	switch {
	case info.Serving || info.Foreground || order > 0:
		return false
	case !forWork && (info.AtWork || info.Others > 0):
		return false
	case order < 0:
		return true
	case info.Busy:
		return false
	}
	loaded, err := ent.readConfig(ctx, paths, "") // the file may have changed since this process began
	if err != nil {
		return false // the process may have been started before the config was broken
	}
	return info.Config != loaded.Hash || forWork && info.Setup != ent.hashSetup(paths, loaded)
}

// endedWork is the work of a process that was ended for its successor.
type endedWork struct{ paused []string } // tasks and subtasks that a person had paused

// endForSuccessor ends a background process, and returns what is to be continued if it is at work. An interrupt does
// not keep the work from being continued. If work has started or goes on there meanwhile, the process stays.
func endForSuccessor(ctx context.Context, paths office.Paths, conn *client.Office) (*endedWork, error) {
	info := conn.Server()
	if !info.AtWork {
		return nil, endProcess(ctx, paths, conn, api.UnlessAtWork)
	}
	if !info.Busy {
		return &endedWork{}, endProcess(ctx, paths, conn, api.UnlessBusy)
	}
	ctx = context.WithoutCancel(ctx)
	work, err := conn.Work(ctx)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &endedWork{work.PausedIDs()}, endProcess(ctx, paths, conn, api.Always)
}

// continueOn starts the work again in the successor, and returns its client. Tasks that recovery: ask pauses there are
// resumed, because nothing has crashed. A nil endedWork does nothing.
func (e *endedWork) continueOn(ctx context.Context, conn *client.Office) (*client.Office, error) {
	if e == nil {
		return conn, nil
	}
	err := startAndResume(context.WithoutCancel(ctx), conn, func(id company.TaskID) bool {
		return !slices.Contains(e.paused, string(id))
	})
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// startAndResume starts the work of an office, and resumes those tasks that recovery: ask pauses and resumes selects.
func startAndResume(ctx context.Context, conn *client.Office, resumes func(company.TaskID) bool) error {
	paused, err := conn.StartWork(ctx)
	for _, id := range paused {
		if err == nil && resumes(id) {
			_, err = conn.Do(ctx, "", company.Pause{Task: id, Off: true})
		}
	}
	return err
}

// endProcess asks a background process to end, and waits until it has released the office. Its work is saved. If the
// condition does not hold any more, the process stays, and endProcess returns nil. It closes conn.
func endProcess(ctx context.Context, paths office.Paths, conn *client.Office, unless api.EndUnless) error {
	defer conn.Close()
	pid := conn.Server().PID
	switch err := conn.RequestEnd(ctx, unless); {
	case company.CodeOf(err) == company.EConflict:
		return nil
	case err != nil && company.CodeOf(err) != company.EHeld:
		return err
	}
	limit, cancel := context.WithTimeoutCause(ctx, endPatience,
		company.E(company.EHeld, fmt.Sprintf("process %d does not end", pid)).
			Fix(fmt.Sprintf("kill %d, and try again; nothing of the ledger is lost", pid)))
	defer cancel()
	return retry.Until(limit, retry.Every(askEvery), func() (bool, error) {
		held := office.FindHolder(paths)
		return held == nil || held.PID != pid, nil
	})
}

// UseForWork reaches the process that has an office, like ReachForWork, and calls use with a client of it. If use
// returns EHeld, that process is ending, and use is called with its successor.
func (ent *Entrance) UseForWork(ctx context.Context, paths office.Paths, use func(*client.Office) error) error {
	for refusals := 0; ; {
		conn, err := ent.ReachForWork(ctx, paths)
		if err != nil {
			return err
		}
		began := time.Now()
		err = use(conn)
		conn.Close()
		if time.Since(began) > endPatience { // it was used meanwhile
			refusals = 0
		}
		refusals++
		if company.CodeOf(err) != company.EHeld || refusals > mostRefusals || retry.Sleep(ctx, endEvery) != nil {
			return err
		}
	}
}

const (
	// endEvery is the pause after a refusal of a process that is ending.
	endEvery = 250 * time.Millisecond
	// mostRefusals limits the refusals in a row.
	mostRefusals = int(endPatience / endEvery)
)

// GoOn starts the work of an office in the background if a task can continue, or any task if the id is empty. With
// recovery: ask it resumes only that task. It reports whether work has started there.
func (ent *Entrance) GoOn(ctx context.Context, paths office.Paths, task company.TaskID) (started bool, err error) {
	var ids []company.TaskID
	if task != "" {
		ids = append(ids, task)
	}
	err = ent.InBackground().UseForWork(ctx, paths, func(conn *client.Office) error {
		if started = conn.IsAtWork(); started {
			return nil
		}
		work, err := conn.Work(ctx, ids...)
		if err != nil || !slices.ContainsFunc(work.Tasks, func(p view.Progress) bool { return work.CanGoOn(p.ID) }) {
			return err
		}
		err = startAndResume(ctx, conn, func(id company.TaskID) bool { return id == task })
		started = err == nil
		return err
	})
	return started, err
}

// InBackground returns an Entrance for work that outlives this process.
func (ent *Entrance) InBackground() *Entrance {
	other := *ent
	other.Foreground = false
	return &other
}
