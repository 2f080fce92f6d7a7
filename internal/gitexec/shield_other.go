//go:build !linux

package gitexec

// blockSignals blocks nothing: Go has no call for it on another system than Linux.
func blockSignals() (restore func(), err error) { return func() {}, nil }
