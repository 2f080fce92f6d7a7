package view

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
)

// Verification is the result of reading the whole ledger and every blob.
type Verification struct {
	SchemaVersion int      `json:"schema_version"`
	Events        uint64   `json:"events"` // that are as they were written
	Blobs         int      `json:"blobs"`  // that were read
	Bytes         int64    `json:"bytes"`  // of them
	Damage        []Damage `json:"damage"`
}

// Damage is a record or a blob of the office that differs from the one that was written,
// or is gone. Only a person can mend it.
type Damage struct {
	Code  company.Code `json:"code"`
	What  string       `json:"what"`  // ledger, or blob
	Where string       `json:"where"` // the first event that is wrong, or the blob with what names it, or its place in a pack
	Why   string       `json:"why"`
	Fix   string       `json:"fix"`
}

// Text is the damage in a sentence, without what to do.
func (d Damage) Text() string {
	return safetext.EscapeLine(fmt.Sprintf("%s: the %s is damaged: %s: %s", d.Code, d.What, d.Where, d.Why), 600)
}

// IsSame says whether two findings are of the same damage.
func (d Damage) IsSame(o Damage) bool { return d.What == o.What && d.Where == o.Where }

// writeDamage names each damage with its remedy.
func writeDamage(b *strings.Builder, s Style, all []Damage) {
	for _, d := range all {
		fmt.Fprintf(b, "  %s %s\n", s.Paint(screen.Red, "!"), s.Wrap(d.Text(), "    "))
		fmt.Fprintf(b, "    %s\n", s.Wrap(safetext.EscapeLine(d.Fix, 600), "    "))
	}
}
