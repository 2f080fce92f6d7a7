//go:build !linux

package gitexec

import "errors"

// limitProcess refuses: another system than Linux has no call that bounds another process.
func limitProcess(int) error {
	return errors.New("git is bounded on Linux alone")
}
