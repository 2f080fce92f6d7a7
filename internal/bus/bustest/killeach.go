package bustest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/bus"
)

// operations lists the operations in which a child is killed, one after another.
var operations = []string{"append", "journal", "purge", "put", "lease", "extend", "ack", "nack", "blob",
	"close", "open"}

// childMix performs all operations in turn. It prints a line when an operation begins and when it is
// done.
func childMix(ctx context.Context, driver Driver, b bus.Bus, dir string) error {
	var ledger uint64
	message, err := b.Log().Last(ctx, bus.Ledger)
	if err == nil {
		ledger = message.Seq
	}
	for n := 0; ; n++ {
		name := fmt.Sprintf("%d-%d", os.Getpid(), n)
		subject := "run.mix." + name
		var lease bus.Lease
		take := func() (err error) {
			lease, err = b.Queue().Lease(ctx)
			return err
		}
		for _, step := range []struct {
			op string
			do func() error
		}{
			{"append", func() (err error) {
				ledger, err = b.Log().Append(ctx, bus.Ledger, []byte(name), ledger, name)
				return err
			}},
			{"journal", func() error {
				_, err := b.Log().Append(ctx, subject, []byte(name), 0, name)
				return err
			}},
			{"purge", func() error { return b.Log().Purge(ctx, subject) }},
			{"put", func() error { return b.Queue().Put(ctx, bus.Item{ID: name}) }},
			{"lease", take},
			{"nack", func() error { return lease.Nack(ctx, 0) }},
			{"lease", take},
			{"extend", func() error { return lease.Extend(ctx) }},
			{"ack", func() error { return lease.Ack(ctx) }},
			{"blob", func() error {
				_, _, err := b.Blobs().Put(ctx, strings.NewReader(name))
				return err
			}},
			{"close", func() error { return b.Close() }},
			{"open", func() (err error) {
				b, err = driver.Open(ctx, dir, 0)
				return err
			}},
		} {
			fmt.Println("begin", 0, step.op)
			if err := step.do(); err != nil {
				return fmt.Errorf("%s: %w", step.op, err)
			}
			fmt.Println(step.op, 0, name)
		}
	}
}

// killInEveryOperation kills a process in each kind of operation, at its beginning or a little later.
// It checks that the answers the process received are true, and that an operation without an answer
// was done completely or not at all.
func killInEveryOperation(t *testing.T, s *store) {
	for i, op := range operations {
		s.close(t)
		child := startChild(t, s, "mix")
		var acks []ack
		rounds := 1 + i%2 // kill in the first or second round of the child
		began := ""
		for child.lines.Scan() {
			var a ack
			if _, err := fmt.Sscan(child.lines.Text(), &a.what, &a.seq, &a.id); err != nil {
				t.Fatalf("child says %q", child.lines.Text())
			}
			if a.what != "begin" {
				acks = append(acks, a)
				continue
			}
			began = a.id
			if began == op {
				if rounds--; rounds == 0 {
					break
				}
			}
		}
		if i%3 > 0 { // kill a little later
			time.Sleep(time.Duration(i) * 50 * time.Microsecond)
		}
		for _, line := range child.killProcess(t) {
			var a ack
			if _, err := fmt.Sscan(line, &a.what, &a.seq, &a.id); err == nil && a.what != "begin" {
				acks = append(acks, a)
			} else if err == nil {
				began = a.id
			}
		}
		s.open(t)
		requireMix(t, s, acks, began)
	}
}

// requireMix checks a store against the answers that a child received before it was killed.
func requireMix(t *testing.T, s *store, acks []ack, began string) {
	t.Helper()
	ids := map[string]map[string]bool{}
	for _, a := range acks {
		if ids[a.what] == nil {
			ids[a.what] = map[string]bool{}
		}
		ids[a.what][a.id] = true
	}
	stored := map[string]bool{}
	for _, message := range s.readRecords(t, bus.Ledger, 0) {
		if string(message.Data) != message.ID || stored[message.ID] {
			t.Fatalf("killed in %s: the ledger has %q under %q", began, message.Data, message.ID)
		}
		stored[message.ID] = true
	}
	for id := range ids["append"] {
		if !stored[id] {
			t.Fatalf("killed in %s: %s is not in the ledger", began, id)
		}
	}
	for id := range ids["journal"] {
		got := messageTexts(s.readRecords(t, "run.mix."+id, 0))
		switch {
		case ids["purge"][id] && len(got) > 0:
			t.Fatalf("killed in %s: %s was purged, and has %q", began, id, got)
		case !ids["purge"][id] && !slices.Equal(got, []string{id}) && (len(got) > 0 || began != "purge"):
			t.Fatalf("killed in %s: %s has %q", began, id, got)
		}
	}
	for id := range ids["blob"] {
		if got := s.mustBlob(t, hashOf([]byte(id))); !bytes.Equal(got, []byte(id)) {
			t.Fatalf("killed in %s: the blob %s has %q", began, id, got)
		}
	}
	waiting := s.drainQueue(t) // the next child starts with an empty queue
	for id := range ids["put"] {
		if there := slices.Contains(waiting, id); there == ids["ack"][id] && began != "ack" {
			t.Fatalf("killed in %s: %s was put and acknowledged: %v; it is there: %v", began, id, ids["ack"][id], there)
		}
	}
}

// blobsHalfPut checks that a Get finds no blob after the process was killed while putting a blob from
// an endless source.
func blobsHalfPut(t *testing.T, s *store) {
	s.close(t)
	child := startChild(t, s, "half blob")
	if !child.lines.Scan() || !strings.HasPrefix(child.lines.Text(), "writing") {
		child.killProcess(t)
		t.Fatalf("child says %q", child.lines.Text())
	}
	child.killProcess(t)
	s.open(t)
	_, err := s.Blobs().Get(s.ctx, hashOf(halfBlob))
	requireErr(t, err, bus.ErrNotFound)
}

var halfBlob = bytes.Repeat([]byte("half"), 1<<16)

func childHalfBlob(ctx context.Context, b bus.Bus) error {
	_, _, err := b.Blobs().Put(ctx, io.MultiReader(bytes.NewReader(halfBlob), stuckReader{ctx}))
	return err
}

// stuckReader prints a line when it is read, and then blocks.
type stuckReader struct{ ctx context.Context }

func (r stuckReader) Read([]byte) (int, error) {
	fmt.Println("writing")
	<-r.ctx.Done()
	return 0, context.Cause(r.ctx)
}
