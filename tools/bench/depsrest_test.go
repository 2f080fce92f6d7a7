package main

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Layers are measured when the removal of others has no part in it any more, and a trial
// run waits for nothing.
func TestWaitForInodes(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		quick   bool
		stage   string
		removed time.Time
		want    error
	}{
		"nothing was removed":   {false, "empty", time.Time{}, nil},
		"long ago":              {false, "empty", time.Now().Add(-inodeRest), nil},
		"just now":              {false, "empty", time.Now(), context.Canceled},
		"just now, full caches": {false, "full", time.Now(), nil},
		"just now, for a trial": {true, "empty", time.Now(), nil},
	} {
		d := &depsBench{w: &benchEnv{Options: Options{Quick: c.quick}}, removed: c.removed}
		ctx := t.Context()
		if c.want != nil {
			ctx = ended
		}
		if err := d.waitForInodes(ctx, c.stage); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
