// Package local is the forge of an office that has none: a pull request is a
// record and a page in the office's own folder. It owns that folder. What has
// become of a pull request is in the ledger; the page is for reading.
package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/google/renameio/v2"

	"company/internal/company"
	"company/internal/forge"
)

// Forge keeps pull requests below Dir.
type Forge struct {
	Dir string // made when absent
}

var _ forge.Forge = (*Forge)(nil)

// Kind is local.
func (*Forge) Kind() string { return "local" }

// Record is the file of one pull request.
type Record struct {
	SchemaVersion int            `json:"schema_version"`
	Number        int            `json:"number"`
	Office        string         `json:"office"`
	Task          company.TaskID `json:"task"`
	Title         string         `json:"title"`
	Branch        string         `json:"branch"`
	Base          string         `json:"base"`
	Head          company.OID    `json:"head"`
}

// Page is the path of a pull request's page.
func (f *Forge) Page(number int) string { return filepath.Join(f.Dir, strconv.Itoa(number)+".md") }

func (f *Forge) record(number int) string {
	return filepath.Join(f.Dir, strconv.Itoa(number)+".json")
}

// Open writes the page and then the record: a record has its page.
func (f *Forge) Open(_ context.Context, pr forge.PR) (forge.Opened, error) {
	if pr.Number < 1 {
		return forge.Opened{}, company.E(company.EInternal, "a local pull request needs a number")
	}
	was, err := f.Read(pr.Number)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return forge.Opened{}, company.E(company.EForge, fmt.Sprintf("the record of pull request %d cannot be read", pr.Number)).Wrap(err).
			Fix("remove " + f.record(pr.Number) + ": it is made anew from the ledger")
	case was.Office != pr.Office || was.Task != pr.Task:
		return forge.Opened{}, company.E(company.EConflict, fmt.Sprintf("pull request %d belongs to %s of office %s", pr.Number, was.Task, was.Office))
	}
	text, err := json.MarshalIndent(Record{
		SchemaVersion: 1, Number: pr.Number, Office: pr.Office, Task: pr.Task, Title: pr.Title, Branch: pr.Branch, Base: pr.Base, Head: pr.Head,
	}, "", "  ")
	if err != nil {
		return forge.Opened{}, err
	}
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return forge.Opened{}, unwritable(err)
	}
	if err := renameio.WriteFile(f.Page(pr.Number), []byte(pr.Text()), 0o600); err != nil {
		return forge.Opened{}, unwritable(err)
	}
	if err := renameio.WriteFile(f.record(pr.Number), append(text, '\n'), 0o600); err != nil {
		return forge.Opened{}, unwritable(err)
	}
	return forge.Opened{Number: pr.Number, URL: "file://" + f.Page(pr.Number)}, nil
}

// Read is the record of one pull request; fs.ErrNotExist when there is none.
func (f *Forge) Read(number int) (Record, error) {
	var r Record
	text, err := os.ReadFile(f.record(number))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("read %s: %w", f.record(number), err)
	}
	return r, nil
}

func unwritable(err error) error {
	return company.E(company.EForge, "the pull request cannot be written").Wrap(err).Fix("check the office's disk")
}
