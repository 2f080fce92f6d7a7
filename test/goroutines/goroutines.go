// Package goroutines sees to it that tests leave none behind, however slow the
// machine is: what ends gets a minute to end.
//
// It owns the patience. What a goroutine of the runtime or of the tests
// themselves is, goleak knows.
package goroutines

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/goleak"
)

const patience = time.Minute

// Main runs the tests of a package and ends the process. It fails when one of
// their goroutines is left that does not end.
func Main(m interface{ Run() int }) {
	remove := OwnHome()
	code := m.Run()
	remove()
	if code == 0 {
		if err := Left(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// OwnHome gives the process a folder for the state of offices, which remove removes. So no test leaves an office in the
// home of whoever runs it.
func OwnHome() (remove func()) {
	dir, err := os.MkdirTemp("", "company-state-")
	if err == nil {
		err = os.Setenv("XDG_STATE_HOME", dir)
	}
	if err != nil {
		panic(err)
	}
	return func() { _ = os.RemoveAll(dir) }
}

// Left returns an error that lists the leaked goroutines, or nil if there are none.
func Left() error { return left(patience) }

func left(patience time.Duration) error {
	for began := time.Now(); ; {
		err := goleak.Find()
		if err == nil || time.Since(began) > patience {
			return err
		}
	}
}
