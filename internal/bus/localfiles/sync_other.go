//go:build !linux

package localfiles

import "os"

// SyncData makes the bytes of a file survive a power cut.
func SyncData(file *os.File) error { return file.Sync() }
