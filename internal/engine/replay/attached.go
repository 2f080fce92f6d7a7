package replay

import (
	"crypto/sha256"
	"encoding/hex"

	"company/internal/company"
)

// addAttached adds a file of the instruction.
func (f *recordFold) addAttached(entry Entry) error {
	sum := sha256.Sum256(entry.Text)
	if company.Hash(hex.EncodeToString(sum[:])) != entry.Blob {
		return company.E(company.EInvalid, "the record is damaged").
			Because("an attached file does not match its name").
			Fix("save the record again, or replay another task")
	}
	if f.Attached == nil {
		f.Attached = map[company.Hash][]byte{}
	}
	f.Attached[entry.Blob] = entry.Text
	return nil
}

// checkAttached returns an error if the record lacks a file of its instruction.
func (f *recordFold) checkAttached() error {
	for _, attachment := range f.submitted.Attachments {
		if _, ok := f.Attached[attachment.Blob]; !ok {
			return company.E(company.EInvalid, "the record is damaged").
				Because("it lacks " + attachment.Name + ", an attached file").
				Fix("save the record again, or replay another task")
		}
	}
	return nil
}
