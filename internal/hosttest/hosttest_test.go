package hosttest_test

import (
	"testing"

	"company/internal/hosttest"
)

// recorder is a test that notes how it was ended.
type recorder struct {
	testing.TB
	skipped, failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Skipf(string, ...any)  { r.skipped = true }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; panic(r) }

func TestLacks(t *testing.T) {
	for ci, want := range map[string]recorder{"": {skipped: true}, "1": {failed: true}} {
		t.Setenv("CI", ci)
		got := recorder{}
		func() {
			defer func() { _ = recover() }()
			hosttest.Lacks(&got, "no %s", "cargo")
		}()
		if got != want {
			t.Errorf("CI=%q: skipped %t, failed %t", ci, got.skipped, got.failed)
		}
	}
}
