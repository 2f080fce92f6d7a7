package bus

import (
	"context"
	"errors"
	"fmt"
)

// FindID looks for the record of a subject that was appended under an id, behind a
// sequence; 0: it is not there. A driver asks it where an append met a conflict, which
// may be a repeat. ErrUnknown: the log could not be read.
func FindID(ctx context.Context, l Log, subject string, after uint64, id string) (seq uint64, err error) {
	if id == "" {
		return 0, nil
	}
	found := errors.New("found")
	err = l.Read(ctx, subject, after+1, func(m Message) error {
		if m.ID == id {
			seq = m.Seq
			return found
		}
		return nil
	})
	if err != nil && !errors.Is(err, found) {
		return 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return seq, nil
}
