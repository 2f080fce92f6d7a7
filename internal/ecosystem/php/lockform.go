package php

import (
	"encoding/json"
	"errors"

	"company/internal/ecosystem"
)

var _ ecosystem.FormChecker = Ecosystem{}

// IsWritten reports whether the file is composer's lock file.
func (e Ecosystem) IsWritten(file string) bool { return e.IsLockFile(file) }

// CheckForm returns an error if a lock file of composer is ambiguous. PHP accepts an object as a list.
func (Ecosystem) CheckForm(_ string, text []byte) error {
	if _, err := readLock(text); err != nil {
		return err
	}
	fields := ecosystem.FieldsOf(text)
	for _, name := range []string{"packages", "packages-dev"} {
		var list []map[string]json.RawMessage
		if raw := fields[name]; raw != nil && json.Unmarshal(raw, &list) != nil {
			return errors.New("its " + name + " are not a list of objects")
		}
	}
	return nil
}
