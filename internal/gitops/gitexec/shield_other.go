//go:build !linux

package gitexec

// blockSignals does nothing, because Go has no call for it on systems other than Linux.
func blockSignals() (restore func(), err error) { return func() {}, nil }
