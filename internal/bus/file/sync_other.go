//go:build !linux

package file

import "os"

func syncData(file *os.File) error { return file.Sync() }
