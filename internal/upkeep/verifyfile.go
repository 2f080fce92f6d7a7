package upkeep

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	"company/internal/company"
	"company/internal/ledger"
	"company/internal/present/view"
)

// verificationFile stores the progress of a round in the office's state folder. Without it the next round starts from
// the beginning, and reports its findings again.
const verificationFile = "verification.json"

// maxVerificationFile limits the size of the file, in bytes.
const maxVerificationFile = 1 << 20

// maxFound limits the damage that is listed. A failing disk damages thousands of files, and the first ones show it.
const maxFound = 100

// verification is the progress of a round.
type verification struct {
	SchemaVersion int         `json:"schema_version"`
	Begun         time.Time   `json:"begun,omitzero"`
	Ended         time.Time   `json:"ended,omitzero"`
	Ledger        ledger.Head `json:"ledger"` // the last verified event
	LedgerDone    bool        `json:"ledger_done"`
	// Blob is the last verified blob. Blobs are read in order of their names.
	Blob      company.Hash `json:"blob,omitempty"`
	BlobsDone bool         `json:"blobs_done"`
	Blobs     int          `json:"blobs"`
	Bytes     int64        `json:"bytes"`
	// Task is the last task whose blobs were checked. Tasks are checked in order of their ids.
	Task company.TaskID `json:"task,omitempty"`
	// Journal is the run of the last journal on the bus whose blobs were checked. Verdict is the key of the last cached
	// verdict. Both are checked in order of their names.
	Journal company.RunID `json:"journal,omitempty"`
	Verdict string        `json:"verdict,omitempty"`

	Found  []view.Damage `json:"found"`  // in this round
	Damage []view.Damage `json:"damage"` // reported damage that no later round found repaired
}

// add records damage, without duplicates.
func (p *verification) add(damage view.Damage) {
	if len(p.Found) < maxFound && !slices.ContainsFunc(p.Found, damage.IsSame) {
		p.Found = append(p.Found, damage)
	}
}

// load reads the progress of the newest round. A file that cannot be read counts as missing.
func (v *Verifier) load() verification {
	var p verification
	text, err := v.Office.StateFolder.ReadFile(verificationFile, maxVerificationFile)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil || p.SchemaVersion != 1 {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			v.Logger.Warn("the verification begins anew", "file", v.Office.StateFolder.Join(verificationFile), "err", err)
		}
		return verification{}
	}
	return p
}

func (v *Verifier) saveProgress(p verification) error {
	p.SchemaVersion = 1
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return v.Office.StateFolder.WriteFile(verificationFile, append(text, '\n'), 0o600)
}
