package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/office"
)

// ReadTranscript makes the transcript of a run from its journal.
func (a *App) ReadTranscript(ctx context.Context, id company.RunID) (agent.Transcript, error) {
	t := a.View().Tasks[id.Task()]
	if t == nil || t.Runs[id] == nil {
		return agent.Transcript{}, company.E(company.ENotFound, "there is no run "+string(id))
	}
	run := t.Runs[id]
	led := a.ledger
	return agent.ReadTranscript(ctx, run.ID, string(run.Role), blobReader{led}, func(fn func(string, json.RawMessage) error) error {
		each := func(r ledger.Record) error { return fn(r.Kind, r.Data) }
		if run.Journal != "" {
			return led.ReadSealed(ctx, run.Journal, each)
		}
		return led.ReadJournal(ctx, run.ID, each)
	})
}

// MaxTranscript bounds a transcript, in bytes.
const MaxTranscript = 256 << 20

// TranscriptFile is the name of a run's transcript.
const TranscriptFile = "transcript.ndjson"

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
