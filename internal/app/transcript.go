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
	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/office"
	"company/internal/retry"
	"company/internal/runfiles"
	"company/internal/safetext"
)

// StreamTranscript gives the entries of a run's transcript from its journal; follow:
// also those that are still to come, until the run ends, and meanwhile what its calls print.
func (a *App) StreamTranscript(ctx context.Context, id company.RunID, follow bool, emit func(agent.TranscriptEntry) error) error {
	run, err := a.findRun(ctx, id)
	if err != nil {
		return err
	}
	var one sync.Mutex
	emitOne := func(e agent.TranscriptEntry) error {
		one.Lock()
		defer one.Unlock()
		return emit(e)
	}
	return agent.StreamTranscript(ctx, id, string(run.Role), blobReader{a.ledger}, func(fn func(string, json.RawMessage) error) error {
		if !follow {
			return a.readJournal(ctx, id, false, fn)
		}
		ctx, stop := context.WithCancelCause(ctx)
		var outputs sync.WaitGroup
		defer outputs.Wait()
		defer stop(nil)
		outputs.Go(func() {
			stop(a.outputs.followOutputs(ctx, id, func(o agent.LiveOutput) error { return emitOne(agent.TranscriptEntry{Output: &o}) }))
		})
		return a.readJournal(ctx, id, true, fn)
	}, emitOne)
}

// ReadUsage sums what the models' servers reported of a run's calls. An unknown run is
// ENotFound.
func (a *App) ReadUsage(ctx context.Context, id company.RunID) (adapters.Usage, error) {
	return agent.ReadUsage(ctx, id, blobReader{a.ledger}, func(fn func(string, json.RawMessage) error) error {
		return a.readJournal(ctx, id, false, fn)
	})
}

// ReadTurns lists a run's requests to models, with the input of the dearest ones taken apart. An
// unknown run is ENotFound.
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

// errRunEnded ends the following of a run's journal.
var errRunEnded = errors.New("app: the run has ended")

// readJournal gives each record of a run's journal once, wherever it lies: on the bus
// while the run is under way, and in a blob from its end on.
func (a *App) readJournal(ctx context.Context, id company.RunID, follow bool, fn func(string, json.RawMessage) error) error {
	n := 0
	each := func(r ledger.Record) error {
		if r.N <= n {
			return nil
		}
		n = r.N
		return fn(r.Kind, r.Data)
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
		if errors.Is(err, bus.ErrNotFound) { // also where damage elsewhere may be why
			err = a.explainRemoval(ctx, id, err)
		}
		return err
	}
	return a.ledger.ReadJournal(ctx, id, each)
}

// explainRemoval is why the journal of a run is not there: a cleanup has removed it, also of
// a task that is archived. Where none did, it is err.
func (a *App) explainRemoval(ctx context.Context, id company.RunID, err error) error {
	cleaned := a.View().Office.Cleaned
	t := a.FindTask(ctx, id.Task())
	if t == nil || !t.Status.Ended() || !t.Ended.Before(cleaned) {
		return err
	}
	return company.E(company.ENotFound, "the journal of run "+string(id)+" was removed").
		Because("a cleanup has removed what tasks left that ended before " + cleaned.Format(time.DateTime) + " UTC").
		Fix("for the tasks to come, raise retention_days").Wrap(err)
}

// followRun gives the records of a run's journal until the run has ended: then its
// error is errRunEnded.
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

// MaxTranscript bounds a transcript, in bytes.
const MaxTranscript = 256 << 20

// TranscriptFile is the name of a run's transcript.
const TranscriptFile = runfiles.TranscriptFile

// ReadTranscriptFile reads the transcript that is kept of an ended run; the error
// is fs.ErrNotExist where there is none.
func ReadTranscriptFile(p office.Paths, run company.RunID) (agent.Transcript, error) {
	text, err := p.ReadRunFile(run, TranscriptFile, MaxTranscript)
	if errors.Is(err, fs.ErrNotExist) {
		return agent.Transcript{}, err
	}
	if err != nil {
		return agent.Transcript{}, company.E(company.EInvalid, filepath.Join(p.Run(run), TranscriptFile)+" is no transcript").Wrap(err).
			Fix("move it away; the journal has it, too")
	}
	return agent.DecodeTranscript(text)
}

// blobReader is the ledger's blob store, to read.
type blobReader struct{ l *ledger.Ledger }

func (blobReader) PutBlob(context.Context, []byte) (company.Hash, error) {
	return "", company.E(company.EInternal, "nothing is written while a journal is read")
}

func (b blobReader) GetBlob(ctx context.Context, h company.Hash) ([]byte, error) {
	return b.l.GetBlob(ctx, h, MaxTranscript)
}
