package terminalio

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"company/internal/surface/terminalio/terminaltest"
)

// A terminal that is held holds up nobody who writes to stderr. What it left is there when it goes
// on, within a bound, beyond which a line says how much is not.
func TestHeldTerminalHoldsUpNobody(t *testing.T) {
	person, tty := terminaltest.OpenPTY(t)
	e := &Stderr{W: tty}
	line := strings.Repeat("x", 99) + "\n"
	for range 2 * maxUnread / len(line) {
		if _, err := io.WriteString(e, line); err != nil {
			t.Fatal(err)
		}
	}
	shown := make(chan int)
	go func() {
		n, buf, tail := 0, make([]byte, 1<<16), ""
		for !strings.Contains(tail, "bytes are not shown: they were not read in time]") {
			got, err := person.Read(buf)
			if err != nil {
				break
			}
			n += got
			tail = (tail + string(buf[:got]))[max(0, len(tail)+got-200):]
		}
		shown <- n
	}()
	select {
	case n := <-shown:
		if n < maxUnread/2 || n > maxUnread+maxUnread/2 {
			t.Errorf("%d bytes are shown", n)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("what waited is not shown")
	}
	e.Flush()
	if _, err := io.WriteString(e, "after\n"); err != nil || e.stalled {
		t.Errorf("it stays stalled: %v", err)
	}
}

// A process that is to end does not wait for the reader of its stdout.
func TestHeldTerminalHoldsUpNoEnd(t *testing.T) {
	_, tty := terminaltest.OpenPTY(t)
	ended := make(chan struct{})
	close(ended)
	r := &Stdout{W: tty, Ended: ended}
	_, err := r.Write(make([]byte, 1<<20))
	if _, again := r.Write([]byte("x")); err == nil || again == nil {
		t.Errorf("%v, %v", err, again)
	}
}

// What goes to a terminal is checked once more, in whatever pieces it comes; a file gets it
// as it is.
func TestStreamsGuardTerminals(t *testing.T) {
	person, tty := terminaltest.OpenPTY(t)
	text := "é\u009b2J\x1b]0;x\a 日\n"
	for _, w := range []io.Writer{&Stdout{W: tty}, &Stderr{W: tty}} {
		for i := range len(text) {
			if _, err := w.Write([]byte{text[i]}); err != nil {
				t.Fatal(err)
			}
		}
		if got := terminaltest.ReadToPrompt(t, person, "\n"); got != `é\u009b2J\x1b]0;x\x07 日`+"\n" {
			t.Errorf("%T: %q", w, got)
		}
	}
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := (&Stdout{W: file}).Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file.Name()); err != nil || string(got) != text {
		t.Errorf("%q, %v", got, err)
	}
}
