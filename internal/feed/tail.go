package feed

import (
	"bytes"
	"io"
)

// Tail passes writes on, each being the print of one item. While it
// holds, it keeps the last ones, until Release.
type Tail struct {
	Out   io.Writer
	Most  int // how many prints it keeps; 0: all
	Holds bool
	held  [][]byte
}

// Write takes the print of one item.
func (t *Tail) Write(text []byte) (int, error) {
	if !t.Holds {
		return t.Out.Write(text)
	}
	if t.held = append(t.held, bytes.Clone(text)); t.Most > 0 && len(t.held) > t.Most {
		t.held = t.held[1:]
	}
	return len(text), nil
}

// Release gives the kept prints. From then on none is kept.
func (t *Tail) Release() string {
	text := string(bytes.Join(t.held, nil))
	t.Holds, t.held = false, nil
	return text
}
