package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"company/internal/bus"
	"company/internal/bus/localfiles"
	"company/internal/lib/safedir"

	natsclient "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Salvage opens the ledger and the journals of a damaged store read-only, without the server, and
// returns the damage. It corrects single changed bits while reading, but does not change the files.
func Salvage(ctx context.Context, opts Options) (bus.Bus, []Damage, error) {
	own, lock, err := localfiles.Claim(opts.Folder, opts.Dir)
	if err != nil {
		return nil, nil, err
	}
	s := &salvaged{records: map[string][]bus.Message{}, lock: lock}
	var all []Damage
	for _, stream := range []string{LedgerStream, journalsStream} {
		damage, err := s.readStream(ctx, own, stream)
		if err != nil {
			return nil, nil, errors.Join(localfiles.OpenError(own.Path(), err), lock.Release())
		}
		all = append(all, damage...)
	}
	if s.blobs, err = localfiles.OpenBlobs(own); err != nil {
		return nil, nil, errors.Join(localfiles.OpenError(own.Path(), err), lock.Release())
	}
	return s, all, nil
}

// salvaged holds the readable records of a damaged store. It implements bus.Bus and bus.Log.
type salvaged struct {
	records map[string][]bus.Message
	blobs   *localfiles.Blobs
	lock    *localfiles.Lock
}

var _ interface {
	bus.Bus
	bus.Log
} = (*salvaged)(nil)

func (s *salvaged) readStream(ctx context.Context, own *safedir.Folder, stream string) ([]Damage, error) {
	deleted := map[uint64]bool{}
	damage, _, err := readDamage(ctx, own, stream, func(_ string, _ int64, r blockRecord) error {
		if r.deleted {
			deleted[r.seq] = true
			return nil
		}
		message := bus.Message{Subject: r.subject, Seq: r.seq, Time: r.time, Data: slices.Clone(r.data)}
		if len(r.header) > 0 {
			header, err := natsclient.DecodeHeadersMsg(r.header)
			if err != nil {
				return fmt.Errorf("stream %s, record %d: %w", stream, r.seq, err)
			}
			message.ID = readID(r.subject, header.Get(jetstream.MsgIDHeader))
		}
		s.records[r.subject] = append(s.records[r.subject], message)
		return nil
	})
	for subject, messages := range s.records {
		if stream == journalsStream && subject != bus.Ledger {
			s.records[subject] = slices.DeleteFunc(messages, func(m bus.Message) bool { return deleted[m.Seq] })
		}
	}
	return damage, err
}

func (s *salvaged) Log() bus.Log     { return s }
func (s *salvaged) Queue() bus.Queue { return nil }
func (s *salvaged) Blobs() bus.Blobs { return s.blobs }

func (s *salvaged) Broken() context.Context { return context.Background() }
func (s *salvaged) Close() error            { return errors.Join(s.blobs.Close(), s.lock.Release()) }

// Append implements bus.Log.
func (s *salvaged) Append(context.Context, string, []byte, uint64, string) (uint64, error) {
	return 0, bus.ErrNotAllowed
}

// Purge implements bus.Log.
func (s *salvaged) Purge(context.Context, string) error { return bus.ErrNotAllowed }

// Last implements bus.Log.
func (s *salvaged) Last(_ context.Context, subject string) (bus.Message, error) {
	messages := s.records[subject]
	if len(messages) == 0 {
		return bus.Message{}, fmt.Errorf("last record of %s: %w", subject, bus.ErrNotFound)
	}
	return messages[len(messages)-1], nil
}

// Read implements bus.Log.
func (s *salvaged) Read(ctx context.Context, subject string, from uint64, fn func(bus.Message) error) error {
	messages := s.records[subject]
	index, _ := slices.BinarySearchFunc(
		messages, from, func(m bus.Message, seq uint64) int { return cmp.Compare(m.Seq, seq) })
	for _, message := range messages[index:] {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := fn(message); err != nil {
			return err
		}
	}
	return nil
}

// Follow implements bus.Log. It ends after the existing records, because there will be no new ones.
func (s *salvaged) Follow(ctx context.Context, subject string, from uint64, fn func(bus.Message) error) error {
	return s.Read(ctx, subject, from, fn)
}

// Subjects implements bus.Log, in alphabetical order.
func (s *salvaged) Subjects(context.Context) ([]string, error) {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.records)), func(subject string) bool {
		return !strings.HasPrefix(subject, bus.JournalPrefix) || len(s.records[subject]) == 0
	}), nil
}
