// Package report shows rows of words and numbers.
package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Sheet is a heading and rows of as many cells.
type Sheet struct {
	Header []string
	Rows   [][]string
}

// Table writes the sheet in aligned columns, two spaces apart.
func (s Sheet) Table(w io.Writer) error {
	widths := make([]int, len(s.Header))
	lines := append([][]string{s.Header}, s.Rows...)
	for _, line := range lines {
		if len(line) != len(s.Header) {
			return fmt.Errorf("a row of %d cells below a heading of %d", len(line), len(s.Header))
		}
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range lines {
		var b strings.Builder
		for i, cell := range line {
			b.WriteString(cell)
			b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
