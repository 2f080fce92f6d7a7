// Package table writes text in columns.
package table

import (
	"strings"
	"unicode/utf8"
)

// Table has titles and rows of as many cells.
type Table struct {
	titles []string
	right  []bool
	rows   [][]string
}

// New makes a table. A title that begins with > is of a column that stands right.
func New(titles ...string) *Table {
	t := &Table{}
	for _, title := range titles {
		text, right := strings.CutPrefix(title, ">")
		t.titles, t.right = append(t.titles, text), append(t.right, right)
	}
	return t
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Len counts the rows.
func (t *Table) Len() int { return len(t.rows) }

// String writes the table. Two blanks part columns, and no line ends with blanks.
func (t *Table) String() string {
	all := append([][]string{t.titles}, t.rows...)
	widths := make([]int, len(t.titles))
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			blanks := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.right[i] {
				line.WriteString(blanks + cell + "  ")
			} else {
				line.WriteString(cell + blanks + "  ")
			}
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return out.String()
}
