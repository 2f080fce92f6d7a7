package bus

import (
	"context"
	"errors"
	"fmt"
)

// FindID returns the sequence of the record that was appended under an id after a sequence, or 0 if
// there is none. Drivers call it after a conflict, which may be a repeat. It returns ErrUnknown if the
// log cannot be read.
func FindID(ctx context.Context, log Log, subject string, after uint64, id string) (seq uint64, err error) {
	if id == "" {
		return 0, nil
	}
	found := errors.New("found")
	err = log.Read(ctx, subject, after+1, func(message Message) error {
		if message.ID == id {
			seq = message.Seq
			return found
		}
		return nil
	})
	if err != nil && !errors.Is(err, found) {
		return 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return seq, nil
}
