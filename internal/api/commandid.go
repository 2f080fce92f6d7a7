package api

import (
	"crypto/rand"
	"encoding/hex"
)

// NewCommandID returns a random id for one command.
func NewCommandID() string {
	var b [12]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // the kernel has no randomness
	}
	return "c-" + hex.EncodeToString(b[:])
}
