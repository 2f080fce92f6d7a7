//go:build !race

package hosttest

// raced reports whether the race detector is enabled.
const raced = false
