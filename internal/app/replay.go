package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"company/internal/agent"
	"company/internal/clock"
	"company/internal/company"
	"company/internal/config"
	"company/internal/container"
	"company/internal/gitexec"
	"company/internal/gitops"
	"company/internal/office"
	"company/internal/replay"
	"company/internal/upkeep"
)

// StreamRecord gives the record that a finished task is replayed from.
func (a *App) StreamRecord(ctx context.Context, id company.TaskID, emit func(replay.Entry) error) error {
	return replay.StreamRecord(ctx, recordSource{a}, id, emit)
}

// recordSource is an open office, to read records from.
type recordSource struct{ *App }

func (s recordSource) ReadEvents(ctx context.Context, id company.TaskID, fn func(company.Event) error) error {
	return s.ledger.ReadTask(ctx, id, 1, fn)
}

func (s recordSource) ReadRun(ctx context.Context, run company.RunID, fn func(string, json.RawMessage) error) error {
	return s.readJournal(ctx, run, false, fn)
}

func (s recordSource) Payloads() agent.Blobs { return blobReader{s.ledger} }

// ReplayOptions are what a task is replayed with.
type ReplayOptions struct {
	Record *replay.Record
	Paths  office.Paths // of the office that did the task: its git store is read
	// Pack has the git objects in the place of that store.
	// Nil: the store has them.
	Pack    io.Reader
	Config  config.Loaded
	Configs ConfigSource
	Env     func(string) (string, bool)
	Version string // of the program
	Logger  *slog.Logger
	// OtherPrompts has messages that the program itself writes differ with a warning.
	OtherPrompts bool
	Progress     func(line string) // gets a line for each step that was done; it must be quick
}

// replayFolders begins the names of the folders of replays, among the temporary files.
const replayFolders = "company-replay-"

// Replay does a finished task again, in an office of its own in a temporary folder. A
// divergence is in the report and no error. What an earlier replay left that was killed is
// removed first.
func Replay(ctx context.Context, o ReplayOptions) (report *replay.Report, err error) {
	if err := sweepReplays(ctx, o); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", replayFolders)
	if err != nil {
		return nil, company.E(company.EConfig, "there is no room for a replay").Wrap(err).Fix("make room in " + os.TempDir())
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.Pack != nil {
		o.Paths.Git = filepath.Join(dir, "recorded")
		if err := gitops.UnpackMirror(ctx, o.Paths.Git, o.Record.Project().ID, o.Pack); err != nil {
			return nil, err
		}
	}
	checkout := filepath.Join(dir, "project")
	if err := makeCheckout(ctx, o, checkout); err != nil {
		return nil, err
	}
	first, err := o.Record.Seed(checkout, BindAgents(o.Config.Config))
	if err != nil {
		return nil, err
	}
	off, lock, err := openReplayOffice(ctx, filepath.Join(dir, "office"))
	if err != nil {
		return nil, err
	}
	trees := storedTrees{project: o.Record.Project(), recorded: o.Paths.Git, replayed: off.Git}
	director := replay.NewDirector(o.Record, trees, o.Progress)
	if o.OtherPrompts {
		director.AllowOtherPrompts()
	}
	a, err := Open(ctx, Options{
		Office: off, Lock: lock, Config: replayConfig(o.Config, o.Record), Configs: o.Configs, Env: o.Env, Clocks: clockFrom(o.Record.Submitted()),
		Version: o.Version, Logger: o.Logger, stage: &stage{o.Record, director, trees, first},
	})
	if err != nil {
		return nil, err
	}
	defer a.Close()
	if _, err := a.Start(ctx, false); err != nil {
		return nil, err
	}
	werr := a.followReplay(ctx, director)
	if err := errors.Join(werr, a.Stop()); err != nil {
		return nil, err
	}
	return director.Report(), nil
}

// followReplay speaks for the president, and waits for the end of a replay.
func (a *App) followReplay(ctx context.Context, d *replay.Director) error {
	sctx, stop := context.WithCancel(ctx)
	spoken := make(chan error, 1)
	go func() { spoken <- d.SpeakForPresident(sctx, a.orch) }()
	defer func() { stop(); <-spoken }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-d.Done():
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-a.lifetime.Done():
			return context.Cause(a.lifetime) //nolint:contextcheck // the office has its own end
		case <-tick.C:
			if err := a.checkReplay(ctx, d); err != nil {
				return err
			}
		}
	}
}

// replayPatience is how long nothing may happen in a replay, beside twice the time that a
// run may take.
const replayPatience = 15 * time.Minute

// checkReplay tries again what failed outside, as often as it is recorded. It finds what a
// replay cannot get over: one more failure, and a step that never comes.
func (a *App) checkReplay(ctx context.Context, d *replay.Director) error {
	for _, q := range a.View().Approvals {
		if !q.Open() || q.Kind != company.AskTrouble {
			continue
		}
		switch known, again := d.MeetTrouble(q.ID); {
		case again:
			_, err := a.orch.Do(ctx, company.President, company.Answer{Approval: q.ID, Option: company.OptApprove})
			return err
		case !known:
			return company.E(company.EDiverged, "the replay cannot go on").Because(q.Question).Fix("mend what the message names, and replay again")
		}
	}
	idle, next := d.Idle()
	if limit := max(replayPatience, 2*a.loaded.Config.Workers.RunTimeout); idle > limit {
		return company.E(company.EDiverged, "the replay does not go on").Because(fmt.Sprintf("for %s nothing has happened, and the record has %s next", limit, next)).
			Fix("run it again with -v")
	}
	return nil
}

// clockFrom are clocks that began at a moment of the past.
func clockFrom(start time.Time) clock.Sources {
	c := clock.Machine()
	began := c.Monotonic()
	c.Wall = func() time.Time { return start.Add(c.Monotonic() - began) }
	return c
}

// openReplayOffice makes an office in a folder, and locks it.
func openReplayOffice(ctx context.Context, root string) (*office.Office, *office.Lock, error) {
	if err := os.MkdirAll(filepath.Join(root, ".company"), 0o700); err != nil {
		return nil, nil, company.E(company.EConfig, "the folder of the replay cannot be made").Wrap(err).Fix("make room in " + os.TempDir())
	}
	paths, err := office.Find(office.FindOptions{Dir: root, Office: root})
	if err != nil {
		return nil, nil, err
	}
	off, err := office.Open(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	lock, held, err := office.TryLock(paths)
	if err == nil && lock == nil {
		err = office.HeldError(held)
	}
	if err != nil {
		return nil, nil, errors.Join(err, off.Close())
	}
	return off, lock, nil
}

// makeCheckout makes the repository that the replay starts from: the recorded base on its
// branch, from the store of the office that did the task. It has no remote. No branch of the
// store names the base any more once the task has ended: its object is asked for.
func makeCheckout(ctx context.Context, o ReplayOptions, dir string) error {
	base := o.Record.Base()
	branch := base.Branch
	if branch == "" || branch == "HEAD" {
		branch = "base"
	}
	mirror, err := gitops.LookAt(o.Paths.Git, o.Config.Config.Git.Remote, o.Record.Project().ID, dir)
	if err != nil {
		return err
	}
	gitDir, settings := filepath.Join(dir, ".git"), dir+".gitconfig"
	for _, c := range []gitexec.Command{
		{Args: []string{"init", "--quiet", "--initial-branch=" + branch, dir}},
		{GitDir: gitDir, Args: []string{"config", "--file", settings, "uploadpack.allowAnySHA1InWant", "true"}},
		{GitDir: gitDir, Protocols: "file", GlobalConfig: settings, Args: []string{"fetch", "--quiet", "--no-tags", "--update-head-ok", "file://" + mirror.Dir(), string(base.OID) + ":refs/heads/" + branch}},
		{GitDir: gitDir, Args: []string{"read-tree", "HEAD"}},
	} {
		if _, err := c.Output(ctx); err != nil {
			return company.E(company.EGit, "the base of the recorded task is not to be had: "+base.OID.Short()).Wrap(err).
				Fix("company cleanup has removed it; replay a newer task")
		}
	}
	return nil
}

// storedTrees are the trees in the store of the recorded office and in that of the replay.
type storedTrees struct {
	project            company.Project
	recorded, replayed string // folders of the stores
}

func (s storedTrees) RecordedTree(ctx context.Context, commit company.OID) (company.OID, error) {
	return s.readTree(ctx, s.recorded, commit)
}

func (s storedTrees) ReplayedTree(ctx context.Context, commit company.OID) (company.OID, error) {
	return s.readTree(ctx, s.replayed, commit)
}

// ReadRecorded reads a file of a recorded tree.
func (s storedTrees) ReadRecorded(ctx context.Context, tree company.OID, name string) ([]byte, error) {
	m, err := gitops.LookAt(s.recorded, "", s.project.ID, s.project.Path)
	if err != nil {
		return nil, err
	}
	return m.ReadFile(ctx, tree, name)
}

func (s storedTrees) readTree(ctx context.Context, store string, commit company.OID) (company.OID, error) {
	m, err := gitops.LookAt(store, "", s.project.ID, s.project.Path)
	if err != nil {
		return "", err
	}
	return m.Tree(ctx, commit)
}

// sweepReplays removes what replays have left that were killed: containers and folders.
func sweepReplays(ctx context.Context, o ReplayOptions) error {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), replayFolders+"*"))
	if err != nil || len(left) == 0 {
		return err
	}
	var rt container.Runtime
	for _, dir := range left {
		root := filepath.Join(dir, "office")
		if info, err := os.Lstat(filepath.Join(root, ".company")); err != nil || !info.IsDir() {
			continue // another one begins, or it is no folder of ours
		}
		off, lock, err := openReplayOffice(ctx, root)
		if err != nil {
			continue // it is at work, or another user's
		}
		if rt == nil {
			if rt, err = DaemonOf(o.Config.Config, o.Env, o.Logger).OpenRuntime(ctx); err != nil {
				return errors.Join(err, lock.Release(), off.Close())
			}
			defer func() { _ = rt.Close() }()
		}
		err = upkeep.SweepContainers(ctx, rt, off.ID, upkeep.KeepNone, o.Logger)
		if err = errors.Join(err, lock.Release(), off.Close()); err != nil {
			return err
		}
		if err := os.RemoveAll(dir); err != nil {
			return company.E(company.EConfig, "the folder of an earlier replay cannot be removed").Wrap(err).Fix("remove " + dir)
		}
	}
	return nil
}
