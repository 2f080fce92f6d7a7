package hosttest_test

import (
	"flag"
	"runtime/debug"
	"slices"
	"testing"

	"company/internal/lib/hosttest"
)

// recorder is a test that notes how it was ended.
type recorder struct {
	testing.TB
	skipped, failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Skip(...any)           { r.skipped = true }
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

// TestSkips: -short skips what needs Docker and what is long, also with CI set. Without it, long tests run if they are
// asked for.
func TestSkips(t *testing.T) {
	was := flag.Lookup("test.short").Value.String()
	t.Cleanup(func() { setShort(t, was) })
	t.Setenv("CI", "1")
	for _, c := range []struct {
		short, long            string
		skipsDocker, skipsLong bool
	}{{"true", "", true, true}, {"true", "1", true, true}, {"false", "", false, true}, {"false", "1", false, false}} {
		setShort(t, c.short)
		t.Setenv(hosttest.LongVariable, c.long)
		if got := hosttest.Short(); got != (c.short == "true") {
			t.Errorf("-short=%s: Short is %t", c.short, got)
		}
		docker, long := recorder{}, recorder{}
		hosttest.NeedsDocker(&docker)
		hosttest.Long(&long, "a minute of waiting")
		if docker.skipped != c.skipsDocker || long.skipped != c.skipsLong {
			t.Errorf("%+v: a test with Docker was skipped %t, a long one %t", c, docker.skipped, long.skipped)
		}
	}
}

// TestNotRaced: NotRaced skips a test under the race detector alone.
func TestNotRaced(t *testing.T) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("this program does not know how it was built")
	}
	under := slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
	got := recorder{}
	if hosttest.NotRaced(&got, "programs of others"); got.skipped != under {
		t.Errorf("under the race detector: %t, skipped: %t", under, got.skipped)
	}
}

func setShort(t *testing.T, value string) {
	t.Helper()
	if err := flag.Set("test.short", value); err != nil {
		t.Fatal(err)
	}
}
