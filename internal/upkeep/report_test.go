package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"company/internal/company"
	"company/internal/present/view"
)

// A cleanup keeps work that was never merged, and notes what it could not remove.
func TestReportRemove(t *testing.T) {
	removed := 0
	garbage := func(name string, unmerged bool, err error) Garbage {
		return Garbage{Kind: "run", Name: name, Bytes: 10, Unmerged: unmerged, removal: func(context.Context) error {
			removed++
			return err
		}}
	}
	all := []Garbage{garbage("t1-01.1", false, nil), garbage("t2-01.1", true, nil),
		garbage("t3-01.1", false, errors.New("busy"))}
	for name, x := range map[string]struct {
		dryRun, unmerged           bool
		items, kept, failed, calls int
	}{
		"all that was merged": {false, false, 1, 1, 1, 2},
		"unmerged, too":       {false, true, 2, 0, 1, 3},
		"a dry run":           {true, false, 2, 1, 0, 0},
	} {
		removed = 0
		out := NewReport(x.dryRun)
		failed := out.Remove(t.Context(), all, x.unmerged)
		if len(out.Items) != x.items || out.Kept != x.kept || len(failed) != x.failed || removed != x.calls ||
			out.Bytes != int64(10*x.items) {
			t.Errorf("%s: %+v, failed %v, %d removed", name, out, failed, removed)
		}
	}
}

// A cleanup of which something stays tells the code of what refused it: a disk, or another part.
func TestRemovalError(t *testing.T) {
	if err := RemovalError(nil); err != nil {
		t.Errorf("nothing failed: %v", err)
	}
	disk := &fs.PathError{Op: "unlinkat", Path: "t1-01.1", Err: syscall.EIO}
	deaf := company.E(company.EDocker, "the daemon does not answer").Fix("start it")
	for name, x := range map[string]struct {
		failed []error
		code   company.Code
		hint   string
	}{
		"a disk":   {[]error{fmt.Errorf("run t1-01.1: %w", disk)}, company.EConfig, "disk"},
		"a daemon": {[]error{disk, fmt.Errorf("image x: %w", deaf)}, company.EDocker, "start it"},
	} {
		err := RemovalError(x.failed)
		var own *company.Error
		if !errors.As(err, &own) || own.Code != x.code || !strings.Contains(own.Hint, x.hint) ||
			!errors.Is(err, x.failed[0]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What came of asking about pull requests, to the letter; the last failure is the result's.
func TestRenderSync(t *testing.T) {
	deaf := errors.New("the forge does not answer")
	text, failed := RenderSync([]view.PullSync{
		{Number: 1, State: company.PROpen},
		{Number: 2, State: company.PRMerged},
		{Number: 3, State: company.PROpen, FollowUp: "t9"},
		{Number: 4, State: company.PROpen, Err: deaf, Error: deaf.Error()},
	})
	want := "#1  open, nothing new\n#2  merged\n#3  t9 follows it up\n#4  could not be heard: the forge does not " +
		"answer\n" +
		"NEXT  company resume works on it, unless a company is at work already\n"
	if text != want || !errors.Is(failed, deaf) {
		t.Errorf("%v\n%s", failed, text)
	}
	if text, failed := RenderSync(nil); text != "no open pull requests\n" || failed != nil {
		t.Errorf("of none: %v\n%s", failed, text)
	}
}
