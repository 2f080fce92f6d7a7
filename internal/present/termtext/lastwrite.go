package termtext

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// lastWrite is how long a write may take after its context ended.
const lastWrite = time.Second

var errUnread = errors.New("the reader of this output is gone")

// WriteUntil writes text. If the reader does not accept it within a second after ended is closed, it returns an error.
// The write then continues in the background until the process exits.
func WriteUntil(w io.Writer, text []byte, ended <-chan struct{}) error {
	text = bytes.Clone(text) // the caller may reuse its buffer after a timeout
	done := make(chan error, 1)
	go func() { // it ends with the write or the process
		_, err := w.Write(text)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ended:
	}
	select {
	case err := <-done:
		return err
	case <-time.After(lastWrite):
		return errUnread
	}
}
