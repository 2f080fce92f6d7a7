package replay

import (
	"crypto/sha256"
	"encoding/hex"

	"company/internal/company"
)

// addAttached adds a file of the instruction.
func (f *recordFold) addAttached(e Entry) error {
	sum := sha256.Sum256(e.Text)
	if company.Hash(hex.EncodeToString(sum[:])) != e.Blob {
		return company.E(company.EInvalid, "the record is damaged").Because("a file of the instruction is not the one that it is named for").Fix("save the record anew, or replay another task")
	}
	if f.Attached == nil {
		f.Attached = map[company.Hash][]byte{}
	}
	f.Attached[e.Blob] = e.Text
	return nil
}

// checkAttached refuses a record without a file of its instruction.
func (f *recordFold) checkAttached() error {
	for _, a := range f.submitted.Attachments {
		if _, ok := f.Attached[a.Blob]; !ok {
			return company.E(company.EInvalid, "the record is damaged").Because("it lacks " + a.Name + ", a file of the instruction").Fix("save the record anew, or replay another task")
		}
	}
	return nil
}
