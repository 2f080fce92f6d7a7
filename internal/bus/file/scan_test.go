package file

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"company/internal/bus"
	"company/internal/lib/safedir"
)

// appendTo appends a record of so many zeros to a journal that is new.
func appendTo(t *testing.T, b bus.Bus, subject string, size int) error {
	t.Helper()
	_, err := b.Log().Append(t.Context(), subject, make([]byte, size), 0, "")
	return err
}

// Scan reads beside the process that writes: it calls no bytes damage that were zeros when it
// read them and are records now, and none that were cut off meanwhile.
func TestScanBesideTheWriter(t *testing.T) {
	for name, change := range map[string]func(bus.Bus) error{
		"another record": func(b bus.Bus) error { return appendTo(t, b, "run.b", 10) },
		"a new segment": func(b bus.Bus) error {
			return errors.Join(appendTo(t, b, "run.b", 3800), appendTo(t, b, "run.c", 10))
		},
		"the end": func(b bus.Bus) error { return b.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			opened, err := Open(t.Context(), Options{Dir: dir, rollAt: 4000})
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			own, err := safedir.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer own.Close()
			if err := appendTo(t, opened, "run.a", 100); err != nil {
				t.Fatal(err)
			}
			seen := 0
			err = Scan(own, func(Entry) error {
				if seen++; seen == 1 {
					return change(opened)
				}
				return nil
			}, func(file string, offset, bytes int64) error {
				return fmt.Errorf("%s: %d bytes at %d cannot be read", file, bytes, offset)
			})
			if err != nil || seen < 2 {
				t.Errorf("after %d frames: %v", seen, err)
			}
		})
	}
}

// An error of the function that gets the frames ends a scan, whatever it is.
func TestScanEndsWithItsCaller(t *testing.T) {
	dir := t.TempDir()
	opened, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if err := appendTo(t, opened, "run.a", 10); err != nil {
		t.Fatal(err)
	}
	own, err := safedir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	calls, enough := 0, fmt.Errorf("enough: %w", io.ErrUnexpectedEOF)
	err = Scan(own, func(Entry) error { calls++; return enough }, func(string, int64, int64) error { return nil })
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("after %d calls: %v", calls, err)
	}
}
