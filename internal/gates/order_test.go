package gates_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/gates"
)

// TestTestsRunBesideLinters: both containers are there at once; a linter that bars stops
// the tests, and the verdict is the same as one after the other (GAT-1).
func TestTestsRunBesideLinters(t *testing.T) {
	b := setup(t, nil).withDocker()
	b.runner.Beside = true
	// meet lets a check go on when two containers are there.
	meet := func() {
		var both sync.WaitGroup
		both.Add(2)
		b.rt.started = func(container.Container) {
			both.Done()
			met := make(chan struct{})
			go func() { both.Wait(); close(met) }()
			select {
			case <-met:
			case <-time.After(time.Minute):
				t.Error("no second check has begun a minute later")
			}
		}
	}
	for _, c := range []struct {
		name, lint, test string
		passed, skipped  bool
	}{
		{"green", "true", "true", true, false},
		{"red lint", "exit 3", "sleep 600", false, true},
		{"red lint, the tests are over", "sleep 1; exit 3", "true", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			meet()
			var begun []string
			j := b.job(c.lint, c.test)
			j.OnCheckStarted = func(name string) { begun = append(begun, name) }
			res := b.mustRun(j)
			if res.Passed != c.passed || len(res.Checks) != 2 || res.Checks[1].Skipped != c.skipped {
				t.Fatalf("%+v", res)
			}
			if slices.Sort(begun); !slices.Equal(begun, []string{"lint", "test"}) {
				t.Errorf("told of %v", begun)
			}
			if c.skipped && (res.Checks[1].Log != "" || res.Checks[1].ExitCode != 0) {
				t.Errorf("a skipped check with a result: %+v", res.Checks[1])
			}
		})
	}
	b.rt.started = nil

	t.Run("the base is measured", func(t *testing.T) {
		j := b.job("true", "true")
		j.Baseline = true
		kept := 0
		b.runner.Blobs = keeps{b, func() { kept++ }}
		j.OnCheckStarted = func(name string) {
			if name == "test" && kept == 0 {
				t.Error("the tests began before the linter's output was kept")
			}
		}
		b.mustRun(j)
	})
}

// keeps tells of each output that is kept.
type keeps struct {
	*bundle
	kept func()
}

func (k keeps) PutBlob(ctx context.Context, out []byte) (company.Hash, error) {
	k.kept()
	return k.bundle.PutBlob(ctx, out)
}

var _ gates.Blobs = keeps{}
