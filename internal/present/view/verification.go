package view

import (
	"fmt"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Verification is the result of reading the whole ledger and every blob.
type Verification struct {
	SchemaVersion int      `json:"schema_version"`
	Events        uint64   `json:"events"` // number of intact events
	Blobs         int      `json:"blobs"`  // number of blobs read
	Bytes         int64    `json:"bytes"`  // size of these blobs
	Damage        []Damage `json:"damage"`
}

// Damage is a missing record or blob, or one that differs from the data that was written. Only a person can repair it.
type Damage struct {
	Code  company.Code `json:"code"`
	What  string       `json:"what"`  // ledger or blob
	Where string       `json:"where"` // the first damaged event, or the blob with its use
	Why   string       `json:"why"`
	Fix   string       `json:"fix"`
}

// Text describes the damage in a sentence, without advice.
func (d Damage) Text() string {
	return safetext.EscapeLine(fmt.Sprintf("%s: the %s is damaged: %s: %s", d.Code, d.What, d.Where, d.Why), 600)
}

// IsSame reports whether two findings are about the same damage.
func (d Damage) IsSame(o Damage) bool { return d.What == o.What && d.Where == o.Where }
