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
	"company/internal/company"
	"company/internal/container"
	"company/internal/engine/replay"
	"company/internal/gitops"
	"company/internal/gitops/gitexec"
	"company/internal/lib/clock"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/upkeep"
)

// StreamRecord calls emit for each entry of the record from which a finished task is replayed.
func (a *App) StreamRecord(ctx context.Context, id company.TaskID, emit func(replay.Entry) error) error {
	return replay.StreamRecord(ctx, recordSource{a}, id, emit)
}

// recordSource is an open office as a source of records.
type recordSource struct{ *App }

func (s recordSource) ReadEvents(ctx context.Context, id company.TaskID, fn func(company.Event) error) error {
	return s.ledger.ReadTask(ctx, id, 1, fn)
}

func (s recordSource) ReadRun(ctx context.Context, run company.RunID, fn func(string, json.RawMessage) error) error {
	return s.readJournal(ctx, run, false, fn)
}

func (s recordSource) Payloads() agent.Blobs { return blobReader{s.ledger} }

// ReplayOptions holds the parameters of a replay.
type ReplayOptions struct {
	Record *replay.Record
	Paths  office.Paths // of the office that ran the task; its git store is read
	// Pack has the git objects instead of that store. A nil Pack means that the store has them.
	Pack    io.Reader
	Config  config.Loaded
	Configs ConfigSource
	Env     func(string) (string, bool)
	Version string // version of the program
	Logger  *slog.Logger
	// OtherPrompts turns differences in messages written by the program into warnings.
	OtherPrompts bool
	Progress     func(line string) // called with a line for each completed step; must return quickly
}

// replayFolders is the name prefix of replay folders, among the temporary files.
const replayFolders = "company-replay-"

// Replay replays a finished task in an office of its own in a temporary folder. The report lists
// divergences, which are no errors. It first removes leftovers of killed replays.
func Replay(ctx context.Context, options ReplayOptions) (report *replay.Report, err error) {
	if err := sweepReplays(ctx, options); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", replayFolders)
	if err != nil {
		return nil, company.E(company.EConfig, "cannot create a folder for the replay").Wrap(err).
			Fix("free space in " + os.TempDir())
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if options.Pack != nil {
		options.Paths.Git = filepath.Join(dir, "recorded")
		if err := gitops.UnpackMirror(ctx, options.Paths.Git, options.Record.Project().ID, options.Pack); err != nil {
			return nil, err
		}
	}
	checkout := filepath.Join(dir, "project")
	if err := makeCheckout(ctx, options, checkout); err != nil {
		return nil, err
	}
	first, err := options.Record.Seed(checkout, BindAgents(options.Config.Config))
	if err != nil {
		return nil, err
	}
	off, lock, err := openReplayOffice(ctx, filepath.Join(dir, "office"))
	if err != nil {
		return nil, err
	}
	trees := storedTrees{project: options.Record.Project(), recorded: options.Paths.Git, replayed: off.Git}
	director := replay.NewDirector(options.Record, trees, options.Progress)
	if options.OtherPrompts {
		director.AllowOtherPrompts()
	}
	app, err := Open(ctx, Options{
		Office: off, Lock: lock, Config: replayConfig(options.Config, options.Record), Configs: options.Configs,
		Env:     options.Env,
		Clocks:  clockFrom(options.Record.Submitted()),
		Version: options.Version, Logger: options.Logger, stage: &stage{options.Record, director, trees, first},
	})
	if err != nil {
		return nil, err
	}
	defer app.Close()
	if _, err := app.StartWork(ctx); err != nil {
		return nil, err
	}
	werr := app.followReplay(ctx, director)
	if err := errors.Join(werr, app.Stop()); err != nil {
		return nil, err
	}
	return director.Report(), nil
}

// followReplay answers in place of the president, and waits for the end of a replay.
func (a *App) followReplay(ctx context.Context, director *replay.Director) error {
	sctx, stop := context.WithCancel(ctx)
	spoken := make(chan error, 1)
	go func() { spoken <- director.SpeakForPresident(sctx, a.orch) }()
	defer func() { stop(); <-spoken }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-director.Done():
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-a.lifetime.Done():
			return context.Cause(a.lifetime) //nolint:contextcheck // the office has its own end
		case <-tick.C:
			if err := a.checkReplay(ctx, director); err != nil {
				return err
			}
		}
	}
}

// replayPatience limits the time without progress in a replay. If twice the timeout of a run is
// longer, that is the limit.
const replayPatience = 15 * time.Minute

// checkReplay retries external failures as often as recorded. It returns EDiverged for an
// additional failure, and for a replay without progress.
func (a *App) checkReplay(ctx context.Context, director *replay.Director) error {
	for _, approval := range a.View().Approvals {
		if !approval.Open() || approval.Kind != company.AskTrouble {
			continue
		}
		switch known, again := director.MeetTrouble(approval.ID); {
		case again:
			_, err := a.orch.Do(ctx, company.President, company.Answer{Approval: approval.ID, Option: company.OptApprove})
			return err
		case !known:
			return company.E(company.EDiverged, "the replay cannot continue").Because(approval.Question).
				Fix("fix the cause, and replay again")
		}
	}
	idle, next := director.Idle()
	if limit := max(replayPatience, 2*a.loaded.Config.Workers.RunTimeout); idle > limit {
		return company.E(company.EDiverged, "the replay makes no progress").
			Because(fmt.Sprintf("nothing happened for %s, and the record has %s next", limit, next)).
			Fix("run it again with -v")
	}
	return nil
}

// clockFrom returns clocks that start at a moment in the past.
func clockFrom(start time.Time) clock.Sources {
	sources := clock.Machine()
	began := sources.Boot()
	sources.Wall = func() time.Time { return start.Add(sources.Boot() - began) }
	return sources
}

// openReplayOffice creates an office in a folder and locks it.
func openReplayOffice(ctx context.Context, root string) (*office.Office, *office.Lock, error) {
	if err := os.MkdirAll(filepath.Join(root, ".company"), 0o700); err != nil {
		return nil, nil, company.E(company.EConfig, "cannot create the folder of the replay").Wrap(err).
			Fix("free space in " + os.TempDir())
	}
	paths, err := office.Find(office.FindOptions{Dir: root, Office: root, Env: func(name string) (string, bool) {
		return filepath.Join(root, "state"), name == "XDG_STATE_HOME"
	}})
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

// makeCheckout creates the repository for the replay: the recorded base on its branch, from the
// git store of the recorded office. It has no remote. After the task has ended no branch of the
// store names the base, so it is requested by its object id.
func makeCheckout(ctx context.Context, options ReplayOptions, dir string) error {
	base := options.Record.Base()
	branch := base.Branch
	if branch == "" || branch == "HEAD" {
		branch = "base"
	}
	mirror, err := gitops.LookAt(options.Paths.Git, options.Config.Config.Git.Remote, options.Record.Project().ID, dir)
	if err != nil {
		return err
	}
	gitDir, settings := filepath.Join(dir, ".git"), dir+".gitconfig"
	for _, command := range []gitexec.Command{
		{Args: []string{"init", "--quiet", "--initial-branch=" + branch, dir}},
		{GitDir: gitDir, Args: []string{"config", "--file", settings, "uploadpack.allowAnySHA1InWant", "true"}},
		{GitDir: gitDir, Protocols: "file", GlobalConfig: settings,
			Args: []string{"fetch", "--quiet", "--no-tags", "--update-head-ok", "file://" + mirror.Dir(),
				string(base.OID) + ":refs/heads/" + branch}},
		{GitDir: gitDir, Args: []string{"read-tree", "HEAD"}},
	} {
		if _, err := command.Output(ctx); err != nil {
			return company.E(company.EGit, "the base commit of the recorded task is missing: "+base.OID.Short()).Wrap(err).
				Fix("company cleanup has removed it; replay a newer task")
		}
	}
	return nil
}

// storedTrees gives access to the trees in the git stores of the recorded office and of the
// replay.
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

// RecordedFolder returns the folder of the recorded office's mirror.
func (s storedTrees) RecordedFolder() (string, error) {
	mirror, err := gitops.LookAt(s.recorded, "", s.project.ID, s.project.Path)
	if err != nil {
		return "", err
	}
	return mirror.Dir(), nil
}

// ReadRecorded reads a file of a recorded tree.
func (s storedTrees) ReadRecorded(ctx context.Context, tree company.OID, name string) ([]byte, error) {
	mirror, err := gitops.LookAt(s.recorded, "", s.project.ID, s.project.Path)
	if err != nil {
		return nil, err
	}
	return mirror.ReadFile(ctx, tree, name)
}

func (s storedTrees) readTree(ctx context.Context, store string, commit company.OID) (company.OID, error) {
	mirror, err := gitops.LookAt(store, "", s.project.ID, s.project.Path)
	if err != nil {
		return "", err
	}
	return mirror.Tree(ctx, commit)
}

// sweepReplays removes containers and folders of killed replays.
func sweepReplays(ctx context.Context, options ReplayOptions) error {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), replayFolders+"*"))
	if err != nil || len(left) == 0 {
		return err
	}
	var rt container.Runtime
	for _, dir := range left {
		root := filepath.Join(dir, "office")
		if info, err := os.Lstat(filepath.Join(root, ".company")); err != nil || !info.IsDir() {
			continue // a replay is starting, or the folder is not ours
		}
		off, lock, err := openReplayOffice(ctx, root)
		if err != nil {
			continue // it is in use, or belongs to another user
		}
		if rt == nil {
			if rt, err = DaemonOf(options.Config.Config, options.Env, options.Logger).OpenRuntime(ctx); err != nil {
				return errors.Join(err, lock.Release(), off.Close())
			}
			defer func() { _ = rt.Close() }()
		}
		err = upkeep.SweepContainers(ctx, rt, off.ID, upkeep.KeepNone, options.Logger)
		if err = errors.Join(err, lock.Release(), off.Close()); err != nil {
			return err
		}
		if err := os.RemoveAll(dir); err != nil {
			return company.E(company.EConfig, "cannot remove the folder of an earlier replay").Wrap(err).Fix("remove " + dir)
		}
	}
	return nil
}
