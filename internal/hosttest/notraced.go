//go:build !race

package hosttest

// raced tells whether the race detector is at work.
const raced = false
