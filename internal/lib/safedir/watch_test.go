package safedir_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"company/internal/lib/safedir"
)

// disk is a log on a disk that may be full.
type disk struct {
	strings.Builder
	full bool
}

func (d *disk) Write(p []byte) (int, error) {
	if d.full {
		return 0, errors.New("full")
	}
	return d.Builder.Write(p)
}
func (d *disk) Close() error { return nil }

// A log that fails is told once, and once more when it goes on.
func TestWatchedLog(t *testing.T) {
	d, told := &disk{}, []string{}
	w := safedir.Watch(d, func(err error) { told = append(told, fmt.Sprint(err)) })
	for i, full := range []bool{false, true, true, true, false, false, true} {
		d.full = full
		if _, err := fmt.Fprint(w, i); (err != nil) != full {
			t.Errorf("line %d: %v", i, err)
		}
	}
	if got := strings.Join(told, " "); got != "full <nil> full" || d.String() != "045" {
		t.Errorf("told %s, written %s", got, d.String())
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
