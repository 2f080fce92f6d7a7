package agent

import (
	"strings"
	"testing"

	"company/internal/lib/safetext"
)

// What one result of the largest size costs before it is journaled.
func BenchmarkResult(b *testing.B) {
	s := strings.Repeat("--- PASS: TestName (0.00s) ok 2030-01-02T03:04:05Z some text here\n", 1000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		callSignature("run_command", `{"command":"go test ./..."}`, safetext.EscapeControl(s))
	}
}
