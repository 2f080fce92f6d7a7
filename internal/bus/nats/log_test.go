package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"company/internal/bus"

	natsserver "github.com/nats-io/nats-server/v2/server"
	natsclient "github.com/nats-io/nats.go"
)

// TestSlowReaderMissesNothing fills the client's room for what is on its way
// to a reader, with words of the server, so that it drops records. They are
// read again: in the middle of a read, at its end, and where a reader follows.
func TestSlowReaderMissesNothing(t *testing.T) {
	t.Parallel()
	done := errors.New("enough")
	for name, c := range map[string]struct {
		records uint64 // that come through a consumer
		follow  bool
	}{
		"in the middle":           {records: 2 * readAhead},
		"at the end":              {records: readAhead + readAhead/2 + 1},
		"in the middle, follows":  {records: 2 * readAhead, follow: true},
		"at the end, and follows": {records: readAhead + readAhead/2 + 1, follow: true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			opened, err := Open(ctx, Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			b := opened.(*Bus)
			defer func() {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			}()
			singly := uint64(0) // records that come before there is a consumer
			if !c.follow {
				singly = readSingly
			}
			for i := range singly + c.records {
				if _, err := b.Log().Append(ctx, bus.Ledger, fmt.Append(nil, i), i, fmt.Sprint(i)); err != nil {
					t.Fatal(err)
				}
			}
			read := b.Log().Read
			if c.follow {
				read = b.Log().Follow
			}
			var seen uint64
			err = read(ctx, bus.Ledger, 0, func(m bus.Message) error {
				seen++
				if m.Seq != seen {
					return fmt.Errorf("record %d came in the place of %d", m.Seq, seen)
				}
				switch seen - singly {
				case 1:
					waitUntilSent(ctx, t, b, readAhead)
				case 100: // of the first request; room for the second is taken
					beat(t, b, 60)
				case readAhead/2 + 2: // the second request has been made
					waitUntilSent(ctx, t, b, readAhead+readAhead/2+1)
				case c.records:
					return done
				}
				return nil
			})
			if !errors.Is(err, done) {
				t.Fatalf("after %d of %d records: %v", seen, singly+c.records, err)
			}
		})
	}
}

// beat sends the only reader what a server sends that has no record to send.
func beat(t *testing.T, b *Bus, times int) {
	t.Helper()
	conns, err := b.server.Connz(&natsserver.ConnzOptions{Subscriptions: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range conns.Conns {
		for _, subject := range c.Subs {
			// Requests are answered below inboxes of three parts, a reader has one of two.
			if !strings.HasPrefix(subject, natsclient.InboxPrefix) || strings.Count(subject, ".") != 1 {
				continue
			}
			for range times {
				if err := b.conn.PublishMsg(
					&natsclient.Msg{Subject: subject, Header: natsclient.Header{"Status": {"100"}}}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := b.conn.Flush(); err != nil {
		t.Fatal(err)
	}
}

// waitUntilSent returns when the only reader of the ledger was sent so many
// records and the client has taken them, or dropped them.
func waitUntilSent(ctx context.Context, t *testing.T, b *Bus, records uint64) {
	t.Helper()
	for sent := uint64(0); sent < records; {
		if err := ctx.Err(); err != nil {
			t.Errorf("%d of %d records were sent: %v", sent, records, err)
			return
		}
		readers := b.log.ledger.ListConsumers(ctx)
		for r := range readers.Info() {
			sent = r.Delivered.Consumer
		}
	}
	if err := b.conn.FlushWithContext(ctx); err != nil { // its answer comes after what was sent
		t.Error(err)
	}
}
