//go:build !linux

package file

import "os"

// syncData makes the bytes of a file survive a power cut.
func syncData(file *os.File) error { return file.Sync() }
