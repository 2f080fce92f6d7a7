package api

import (
	"crypto/rand"
	"encoding/hex"
)

// NewCommandID makes the id of one command.
func NewCommandID() string {
	var b [12]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // the kernel has no randomness: nothing can go on
	}
	return "c-" + hex.EncodeToString(b[:])
}
