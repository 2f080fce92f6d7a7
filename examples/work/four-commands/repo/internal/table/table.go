// Package table prints text in columns.
package table

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is rows under a heading.
type Table struct {
	rows  [][]string
	right map[int]bool
}

// New makes a table with this heading.
func New(heads ...string) *Table { return &Table{rows: [][]string{heads}, right: map[int]bool{}} }

// Right puts the cells of columns, counted from 0, to the right.
func (t *Table) Right(columns ...int) *Table {
	for _, c := range columns {
		t.right[c] = true
	}
	return t
}

// Add adds a row. What is missing is empty.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Print prints the table. Columns are two blanks apart, and no line ends with a blank.
func (t *Table) Print(w io.Writer) error {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.right[i] {
				b.WriteString(pad + cell + "  ")
			} else {
				b.WriteString(cell + pad + "  ")
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
