package screen

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// lastWrite is how long a write has after the end of what it belongs to.
const lastWrite = time.Second

var errUnread = errors.New("nobody reads what is written here")

// WriteUntil writes, and gives up a second after ended: the reader takes nothing, and the
// write stays under way until the process is gone.
func WriteUntil(w io.Writer, text []byte, ended <-chan struct{}) error {
	text = bytes.Clone(text) // its owner may use it again when this has given up
	done := make(chan error, 1)
	go func() { // it ends with the reader, or with the process
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
