// Package table has tables of texts.
package table

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Table is a table whose rows have a value for each field.
type Table struct {
	Fields []string
	Rows   [][]string
}

// Read reads comma-separated values, with the fields in the first line.
func Read(r io.Reader) (Table, error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return Table{}, err
	}
	if len(lines) == 0 {
		return Table{}, errors.New("a table has a line with its fields")
	}
	t := Table{Fields: lines[0], Rows: lines[1:]}
	for i, field := range t.Fields {
		if field == "" {
			return Table{}, fmt.Errorf("field %d has no name", i+1)
		}
		if slices.Contains(t.Fields[:i], field) {
			return Table{}, fmt.Errorf("there are two fields %s", field)
		}
	}
	return t, nil
}

// Write writes the table as Read reads it.
func (t Table) Write(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(t.Fields); err != nil {
		return err
	}
	return out.WriteAll(t.Rows)
}

// Column is the place of a field.
func (t Table) Column(field string) (int, error) {
	at := slices.Index(t.Fields, field)
	if at < 0 {
		return 0, fmt.Errorf("there is no field %s", field)
	}
	return at, nil
}
