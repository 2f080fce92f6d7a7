// Package terminaltest makes pseudo terminals for tests of what people are asked.
package terminaltest

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// OpenPTY is a pseudo terminal: what is written to the first end is typed at
// the second.
func OpenPTY(t *testing.T) (person, tty *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return person, tty
}

// ReadToPrompt reads what the terminal shows until it asks.
func ReadToPrompt(t *testing.T, person *os.File, prompt string) string {
	t.Helper()
	var shown strings.Builder
	buf := make([]byte, 4096)
	for !strings.HasSuffix(shown.String(), prompt) {
		n, err := person.Read(buf)
		if err != nil {
			t.Fatalf("%v\n%s", err, shown.String())
		}
		shown.Write(buf[:n])
	}
	return strings.ReplaceAll(shown.String(), "\r\n", "\n")
}
