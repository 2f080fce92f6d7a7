package feed

import (
	"bytes"
	"io"
)

// Tail passes writes on. Each write is the output of one item. While Holds is set it keeps the last ones until
// Release.
type Tail struct {
	Out   io.Writer
	Most  int // number of outputs to keep; 0 means all
	Holds bool
	held  [][]byte
}

// Write takes the output of one item.
func (t *Tail) Write(text []byte) (int, error) {
	if !t.Holds {
		return t.Out.Write(text)
	}
	if t.held = append(t.held, bytes.Clone(text)); t.Most > 0 && len(t.held) > t.Most {
		t.held = t.held[1:]
	}
	return len(text), nil
}

// Release returns the kept outputs. Later writes are passed on.
func (t *Tail) Release() string {
	text := string(bytes.Join(t.held, nil))
	t.Holds, t.held = false, nil
	return text
}
