//go:build !linux

package gitexec

import "errors"

// limitProcess always fails, because only Linux has a call that limits another process.
func limitProcess(int) error {
	return errors.New("limits for git are only supported on Linux")
}
