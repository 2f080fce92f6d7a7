// Package terminaltest creates pseudo terminals for tests of questions to people.
package terminaltest

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// OpenPTY returns a pseudo terminal. Data written to person is typed at tty.
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

// ReadToPrompt reads the terminal's output up to the prompt.
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
