package rust

import "company/internal/ecosystem"

var _ ecosystem.FormChecker = Ecosystem{}

// IsWritten reports whether the file is cargo's lock file.
func (e Ecosystem) IsWritten(file string) bool { return e.IsLockFile(file) }

// CheckForm returns an error if a lock file of cargo cannot be read.
func (e Ecosystem) CheckForm(file string, text []byte) error {
	_, err := e.ParseLock(file, text)
	return err
}
