package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/hours/internal/journal"
	"example.com/hours/internal/rates"
)

// Env is what commands work on, and where they print.
type Env struct {
	Dir string
	Out io.Writer
}

// Entries reads the journal, in order. Where there is no file there are no entries.
func (e *Env) Entries() ([]journal.Entry, error) {
	f, err := os.Open(filepath.Join(e.Dir, "journal.txt"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := journal.Read(f)
	journal.Sort(list)
	return list, err
}

// Save writes the journal anew with these entries, in order.
func (e *Env) Save(list []journal.Entry) error {
	journal.Sort(list)
	path := filepath.Join(e.Dir, "journal.txt")
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	if err := errors.Join(journal.Write(f, list), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Rates reads what hours cost. Where there is no file nothing has a rate.
func (e *Env) Rates() (rates.Table, error) {
	f, err := os.Open(filepath.Join(e.Dir, "rates.txt"))
	if errors.Is(err, fs.ErrNotExist) {
		return rates.Table{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return rates.Read(f)
}
