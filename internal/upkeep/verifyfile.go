package upkeep

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	"company/internal/company"
	"company/internal/ledger"
	"company/internal/view"
)

// verificationFile is where a round stands, in the office's state folder. Without it
// the next round begins anew, and tells what it finds once more.
const verificationFile = "verification.json"

// maxVerificationFile bounds the file, in bytes.
const maxVerificationFile = 1 << 20

// maxFound bounds the damage that is named: a disk that fails takes thousands of
// files, and the first ones show it.
const maxFound = 100

// verification is how far a round has come.
type verification struct {
	SchemaVersion int         `json:"schema_version"`
	Begun         time.Time   `json:"begun,omitzero"`
	Ended         time.Time   `json:"ended,omitzero"`
	Ledger        ledger.Head `json:"ledger"` // the newest event that was verified
	LedgerDone    bool        `json:"ledger_done"`
	// Blob is the newest blob that was read; they are read in the order of their names.
	Blob      company.Hash `json:"blob,omitempty"`
	BlobsDone bool         `json:"blobs_done"`
	Blobs     int          `json:"blobs"`
	Bytes     int64        `json:"bytes"`
	// Part is the newest part of the store of blobs that was checked.
	Part      string `json:"part,omitempty"`
	PartsDone bool   `json:"parts_done,omitempty"`
	// Task is the newest task whose blobs were looked for; they go in the order of their names.
	Task company.TaskID `json:"task,omitempty"`
	// Journal is the run of the newest journal on the bus that was read for the names of blobs,
	// and Verdict the key of the newest cached verdict; both go in the order of their names.
	Journal company.RunID `json:"journal,omitempty"`
	Verdict string        `json:"verdict,omitempty"`

	Found  []view.Damage `json:"found"`  // in this round
	Damage []view.Damage `json:"damage"` // reported, and not found whole by a later round
}

// add notes damage, once.
func (p *verification) add(d view.Damage) {
	if len(p.Found) < maxFound && !slices.ContainsFunc(p.Found, d.IsSame) {
		p.Found = append(p.Found, d)
	}
}

// load reads where the newest round stands. A file that cannot be read is none.
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
