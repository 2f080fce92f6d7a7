package ledger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"company/internal/bus"
	"company/internal/company"
)

// taskRecords are the records of the ledger that hold events of one task: each as its
// distance from the one before, in some two bytes.
type taskRecords struct {
	last      uint64
	distances []byte
}

func (r *taskRecords) add(record uint64) {
	if record > r.last {
		r.distances = binary.AppendUvarint(r.distances, record-r.last)
		r.last = record
	}
}

// list gives the records; distances that end within a number are an error.
func (r taskRecords) list() ([]uint64, error) {
	var out []uint64
	at := uint64(0)
	for rest := r.distances; len(rest) > 0; {
		d, n := binary.Uvarint(rest)
		if n <= 0 || d == 0 {
			return nil, errors.New("the records of a task are cut short")
		}
		at, rest = at+d, rest[n:]
		out = append(out, at)
	}
	return out, nil
}

// cutBehind is the list as it was when a record was the newest.
func (r taskRecords) cutBehind(record uint64) taskRecords {
	if r.last <= record {
		return taskRecords{r.last, r.distances[:len(r.distances):len(r.distances)]}
	}
	var out taskRecords
	all, _ := r.list() // it was made here
	for _, at := range all {
		if at <= record {
			out.add(at)
		}
	}
	return out
}

// packTasks writes the lists for a snapshot.
func (x *index) packTasks() map[company.TaskID][]byte {
	out := make(map[company.TaskID][]byte, len(x.tasks))
	for id, r := range x.tasks {
		out[id] = r.distances
	}
	return out
}

func unpackTasks(packed map[company.TaskID][]byte) (map[company.TaskID]taskRecords, error) {
	out := make(map[company.TaskID]taskRecords, len(packed))
	for id, distances := range packed {
		r := taskRecords{distances: distances}
		all, err := r.list()
		if err != nil {
			return nil, err
		}
		if len(all) > 0 {
			r.last = all[len(all)-1]
		}
		out[id] = r
	}
	return out, nil
}

// readThrough is how many records of other tasks are read through where the next of a
// task is that near: that costs less than to begin a read anew.
const readThrough = 64

// ReadTask is Read for the events of one task. It reads their records and few others,
// and verifies each by itself, not the chain between them.
func (l *Ledger) ReadTask(ctx context.Context, task company.TaskID, fromSeq uint64, fn func(company.Event) error) error {
	l.mu.Lock()
	records, err := l.index.tasks[task].list()
	after := l.index.markBefore(max(fromSeq, 1)).Log
	l.mu.Unlock()
	if err != nil {
		return fmt.Errorf("find the events of %s: %w", task, err)
	}
	for len(records) > 0 && records[0] <= after {
		records = records[1:]
	}
	for len(records) > 0 {
		n := 1
		for n < len(records) && records[n]-records[n-1] <= readThrough {
			n++
		}
		if err := l.readRecords(ctx, records[:n], task, fromSeq, fn); err != nil {
			return err
		}
		records = records[n:]
	}
	return nil
}

// readRecords reads records that lie near each other, and gives their events of a task.
func (l *Ledger) readRecords(ctx context.Context, records []uint64, task company.TaskID, fromSeq uint64, fn func(company.Event) error) error {
	var refused error
	err := l.bus.Log().Read(ctx, subject, records[0], func(m bus.Message) error {
		switch {
		case m.Seq < records[0]:
			return nil
		case m.Seq > records[0]:
			return damagedError(fromSeq, fmt.Sprintf("a record of %s is gone", task))
		}
		rec, _, err := open(nil, m)
		if err != nil {
			return err
		}
		for _, e := range rec.Events {
			if e.Task != task || e.Seq < fromSeq {
				continue
			}
			if refused = fn(e); refused != nil {
				return refused
			}
		}
		if records = records[1:]; len(records) == 0 {
			return errDone
		}
		return nil
	})
	switch {
	case refused != nil:
		return refused
	case errors.Is(err, errDone):
		return nil
	case err == nil && len(records) > 0:
		return damagedError(fromSeq, fmt.Sprintf("a record of %s is gone", task))
	}
	return busError("read the ledger", err)
}
