package termtext

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// What this program draws passes the last check of a stream, and nothing else that steers a
// terminal does.
func TestGuard(t *testing.T) {
	var drawn strings.Builder
	a := Area{Out: &drawn}
	s := Style{Color: true, Width: 40}
	a.Draw(40, []string{"one", "two"}, s)
	a.Draw(40, []string{"three"}, s)
	own := s.Paint(Bright, "now") + "\n\ttab\n" + drawn.String() + "\x1b[H\x1b[Jall"
	if got := Guard(own); got != own {
		t.Errorf("its own text becomes %q", got)
	}
	for _, strange := range []string{
		"\x1b]52;c;eA==\a", "\x1b]8;;http://x\x1b\\", "\x1bPq\x1b\\", "\x1b[2J", "\x1b[5A", "\x1b[6n", "\x1bc", "\x1b[200~",
		"\u009b2J", "\u009d0;x\u009c",
		"a\rb", "\x07", "\x0e", "\x7f", "\u202e", "\u200b", "\x9b2J", "\x1b[31", "\x1b[1;31H", "\x1b", "\r\x1b[99999A\x1b[J",
	} {
		got := Guard("x" + strange + "y\n")
		if strings.ContainsAny(got, "\x1b\r\x07\x0e\x7f") || strings.ContainsAny(got, "\u009b\u009d\u202e\u200b") ||
			!strings.Contains(got, `\`) {
			t.Errorf("%q becomes %q", strange, got)
		}
	}
}

// A write to a reader that takes nothing goes on until its time ends, and a second beyond.
func TestWriteUntil(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	ended, given := make(chan struct{}), make(chan error, 1)
	go func() { given <- WriteUntil(w, make([]byte, 1<<20), ended) }()
	select {
	case err := <-given:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(ended)
	if err := <-given; err == nil {
		t.Error("it was written")
	}
	if _, err := io.CopyN(io.Discard, r, 1<<20); err != nil { // the write under way ends
		t.Fatal(err)
	}
	if err := WriteUntil(w, []byte("x"), ended); err != nil {
		t.Errorf("a reader that reads: %v", err)
	}
}
