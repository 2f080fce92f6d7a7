package ledger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"company/internal/bus"
	"company/internal/company"
)

// taskRecords lists the records of the ledger that hold events of one task. Each is stored as the
// distance from the one before, in about two bytes.
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

// list returns the record numbers, or an error if the encoding is cut short.
func (r taskRecords) list() ([]uint64, error) {
	var out []uint64
	at := uint64(0)
	for rest := r.distances; len(rest) > 0; {
		d, n := binary.Uvarint(rest)
		if n <= 0 || d == 0 {
			return nil, errors.New("the records of a task are truncated")
		}
		at, rest = at+d, rest[n:]
		out = append(out, at)
	}
	return out, nil
}

// cutBehind returns the list without the records after the given one.
func (r taskRecords) cutBehind(record uint64) taskRecords {
	if r.last <= record {
		return taskRecords{r.last, r.distances[:len(r.distances):len(r.distances)]}
	}
	var out taskRecords
	all, _ := r.list() // cannot fail: add wrote the distances
	for _, at := range all {
		if at <= record {
			out.add(at)
		}
	}
	return out
}

// packTasks returns the encoded lists for a snapshot.
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

// readThrough limits the distance between two records of a task that are read in one pass. Reading the
// records of other tasks in between costs less than starting another read.
const readThrough = 64

// ReadTask calls fn for the events of one task, like Read. It reads the records of the task and few
// others. It verifies each record by itself, but not the chain between them.
func (l *Ledger) ReadTask(
	ctx context.Context, task company.TaskID, fromSeq uint64, fn func(company.Event) error,
) error {
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

// readRecords reads records that are close to each other, and calls fn for their events of a task.
func (l *Ledger) readRecords(
	ctx context.Context, records []uint64, task company.TaskID, fromSeq uint64, fn func(company.Event) error,
) error {
	var refused error
	err := l.bus.Log().Read(ctx, subject, records[0], func(message bus.Message) error {
		switch {
		case message.Seq < records[0]:
			return nil
		case message.Seq > records[0]:
			return damagedError(fromSeq, fmt.Sprintf("a record of %s is missing", task))
		}
		rec, _, err := open(nil, message)
		if err != nil {
			return err
		}
		for _, event := range rec.Events {
			if event.Task != task || event.Seq < fromSeq {
				continue
			}
			if refused = fn(event); refused != nil {
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
		return damagedError(fromSeq, fmt.Sprintf("a record of %s is missing", task))
	}
	return busError("read the ledger", err)
}
