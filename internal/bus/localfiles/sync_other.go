//go:build !linux

package localfiles

import "os"

// SyncData has the bytes of a file outlast a power cut.
func SyncData(file *os.File) error { return file.Sync() }
