package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/agentrun/runfiles"
	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/retry"
	"company/internal/lib/safetext"
	"company/internal/office"
)

// StreamTranscript calls emit for the entries of a run's transcript, read from its journal. With
// follow it continues until the run ends, and includes the output of running calls.
func (a *App) StreamTranscript(
	ctx context.Context, id company.RunID, follow bool, emit func(agent.TranscriptEntry) error,
) error {
	run, err := a.findRun(ctx, id)
	if err != nil {
		return err
	}
	var one sync.Mutex
	emitOne := func(entry agent.TranscriptEntry) error {
		one.Lock()
		defer one.Unlock()
		return emit(entry)
	}
	return agent.StreamTranscript(
		ctx, id, string(run.Role), blobReader{a.ledger}, func(fn func(string, json.RawMessage) error) error {
			if !follow {
				return a.readJournal(ctx, id, false, fn)
			}
			ctx, stop := context.WithCancelCause(ctx)
			var outputs sync.WaitGroup
			defer outputs.Wait()
			defer stop(nil)
			outputs.Go(func() {
				stop(a.outputs.followOutputs(ctx, id,
					func(o agent.LiveOutput) error { return emitOne(agent.TranscriptEntry{Output: &o}) }))
			})
			return a.readJournal(ctx, id, true, fn)
		}, emitOne)
}

// ReadUsage sums the usage that model servers reported for a run's calls. It returns ENotFound for
// an unknown run.
func (a *App) ReadUsage(ctx context.Context, id company.RunID) (adapters.Usage, error) {
	return agent.ReadUsage(ctx, id, blobReader{a.ledger}, func(fn func(string, json.RawMessage) error) error {
		return a.readJournal(ctx, id, false, fn)
	})
}

// ReadTurns lists a run's requests to models. The most expensive ones include the parts of their
// input. It returns ENotFound for an unknown run.
func (a *App) ReadTurns(ctx context.Context, id company.RunID, dearest int) ([]agent.Turn, error) {
	return agent.ReadTurns(ctx, id, blobReader{a.ledger}, dearest, func(fn func(string, json.RawMessage) error) error {
		return a.readJournal(ctx, id, false, fn)
	})
}

func (a *App) findRun(ctx context.Context, id company.RunID) (*company.Run, error) {
	if t := a.FindTask(ctx, id.Task()); t != nil && t.Runs[id] != nil {
		return t.Runs[id], nil
	}
	return nil, company.E(company.ENotFound, "there is no run "+safetext.EscapeLine(string(id), 40)).Fix("company status")
}

// errRunEnded stops following a run's journal.
var errRunEnded = errors.New("app: the run has ended")

// readJournal calls fn once for each record of a run's journal. The journal is on the bus while
// the run is active, and in a blob after its end.
func (a *App) readJournal(
	ctx context.Context, id company.RunID, follow bool, fn func(string, json.RawMessage) error,
) error {
	n := 0
	each := func(record ledger.Record) error {
		if record.N <= n {
			return nil
		}
		n = record.N
		return fn(record.Kind, record.Data)
	}
	if follow {
		if err := a.followRun(ctx, id, each); !errors.Is(err, errRunEnded) {
			return err
		}
	}
	run, err := a.findRun(ctx, id)
	if err != nil {
		return err
	}
	if run.Journal != "" {
		err := a.ledger.ReadSealed(ctx, run.Journal, each)
		if errors.Is(err, bus.ErrNotFound) {
			err = a.explainRemoval(ctx, id, err)
		}
		return err
	}
	return a.ledger.ReadJournal(ctx, id, each)
}

// explainRemoval returns the error for the missing journal of a run that a cleanup has removed,
// also for an archived task. Otherwise it returns err.
func (a *App) explainRemoval(ctx context.Context, id company.RunID, err error) error {
	cleaned := a.View().Office.Cleaned
	t := a.FindTask(ctx, id.Task())
	if t == nil || !t.Status.Ended() || !t.Ended.Before(cleaned) {
		return err
	}
	return company.E(company.ENotFound, "the journal of run "+string(id)+" was removed").
		Because("a cleanup removed the leftovers of tasks that ended before " + cleaned.Format(time.DateTime) + " UTC").
		Fix("raise retention_days to keep later ones longer").Wrap(err)
}

// followRun calls each for the records of a run's journal until the run ends. It then returns
// errRunEnded.
func (a *App) followRun(ctx context.Context, id company.RunID, each func(ledger.Record) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop(nil)
	watch.Go(func() {
		err := retry.Until(ctx, retry.Every(100*time.Millisecond), func() (bool, error) {
			run, err := a.findRun(ctx, id)
			return err == nil && run.Ended, err
		})
		if err == nil {
			err = errRunEnded
		}
		stop(err)
	})
	return a.ledger.FollowJournal(ctx, id, 0, each)
}

// MaxTranscript limits a transcript, in bytes.
const MaxTranscript = 256 << 20

// TranscriptFile is the file name of a run's transcript.
const TranscriptFile = runfiles.TranscriptFile

// ReadTranscriptFile reads the stored transcript of an ended run. It returns fs.ErrNotExist if
// there is none.
func ReadTranscriptFile(paths office.Paths, run company.RunID) (agent.Transcript, error) {
	text, err := paths.ReadRunFile(run, TranscriptFile, MaxTranscript)
	if errors.Is(err, fs.ErrNotExist) {
		return agent.Transcript{}, err
	}
	if err != nil {
		return agent.Transcript{}, company.E(
			company.EInvalid, filepath.Join(paths.Run(run), TranscriptFile)+" is not a transcript").Wrap(err).
			Fix("move it away; the journal has a copy")
	}
	return agent.DecodeTranscript(text)
}

// blobReader reads from the ledger's blob store.
type blobReader struct{ l *ledger.Ledger }

func (blobReader) PutBlob(context.Context, []byte) (company.Hash, error) {
	return "", company.E(company.EInternal, "cannot write while reading a journal")
}

func (b blobReader) GetBlob(ctx context.Context, h company.Hash) ([]byte, error) {
	return b.l.GetBlob(ctx, h, MaxTranscript)
}
