package screen

import (
	"slices"
	"strings"
)

// Column is one column of a table.
type Column struct {
	Title string
	// Rank says how early the column is left out where the terminal is too narrow:
	// the one with the highest rank first. 0: it always stays.
	Rank int
	// Least is how many cells the column keeps before others are left out for it. It
	// counts for the last column, which is cut where it does not fit; 0: 24.
	Least int
}

// Table is rows of cells below titles. The last column takes the room that is left.
type Table struct {
	Indent  string
	Columns []Column
	rows    []tableRow
}

type tableRow struct {
	cells []string
	color string   // of the whole row
	notes []string // lines below the row
}

// Row adds a row. A cell that is empty is shown as "-", the last one as nothing.
func (t *Table) Row(cells ...string) { t.ColorRow("", cells...) }

// ColorRow adds a row whose first two cells have a colour.
func (t *Table) ColorRow(color string, cells ...string) {
	row := tableRow{cells: slices.Clone(cells), color: color}
	for i, cell := range row.cells {
		if cell == "" && i < len(row.cells)-1 {
			row.cells[i] = "-"
		}
	}
	t.rows = append(t.rows, row)
}

// Note adds a line below the last row.
func (t *Table) Note(text string) {
	row := &t.rows[len(t.rows)-1]
	row.notes = append(row.notes, text)
}

// Len is how many rows there are.
func (t *Table) Len() int { return len(t.rows) }

// columnGap is how many blanks separate two columns.
const columnGap = 2

// Render is the table for a stream. Where all titles are empty there is no line of
// titles.
func (t *Table) Render(s Style) string {
	if len(t.rows) == 0 {
		return ""
	}
	shown, widths := t.fitColumns(s)
	var b strings.Builder
	if slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Title != "" }) {
		titles := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			titles[i] = c.Title
		}
		t.writeRow(&b, s, tableRow{cells: titles}, shown, widths, Dim)
	}
	noteIndent := t.Indent + strings.Repeat(" ", widths[shown[0]]+columnGap)
	for _, row := range t.rows {
		t.writeRow(&b, s, row, shown, widths, "")
		for _, note := range row.notes {
			b.WriteString(noteIndent + s.Fit(note, Cells(noteIndent)) + "\n")
		}
	}
	return b.String()
}

// fitColumns picks the columns that a stream has room for, and how wide each is.
func (t *Table) fitColumns(s Style) (shown, widths []int) {
	last := len(t.Columns) - 1
	widths = make([]int, len(t.Columns))
	for i, c := range t.Columns {
		shown = append(shown, i)
		widths[i] = Cells(c.Title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], Cells(row.cells[i]))
		}
	}
	if s.Width <= 0 {
		return shown, widths
	}
	shown = slices.DeleteFunc(shown, func(i int) bool { return t.Columns[i].Rank > 0 && t.isEmpty(i) })
	least := t.Columns[last].Least
	if least == 0 {
		least = 24
	}
	least = min(least, widths[last])
	for {
		room := s.Width - Cells(t.Indent)
		for _, i := range shown {
			if i != last {
				room -= widths[i] + columnGap
			}
		}
		if room >= least {
			widths[last] = min(widths[last], room)
			return shown, widths
		}
		drop := -1
		for at, i := range shown {
			if t.Columns[i].Rank > 0 && (drop < 0 || t.Columns[i].Rank > t.Columns[shown[drop]].Rank) {
				drop = at
			}
		}
		if drop < 0 {
			widths[last] = min(widths[last], max(1, room))
			return shown, widths
		}
		shown = slices.Delete(shown, drop, drop+1)
	}
}

// isEmpty says whether a column tells nothing.
func (t *Table) isEmpty(column int) bool {
	for _, row := range t.rows {
		if cell := row.cells[column]; cell != "-" && cell != "" {
			return false
		}
	}
	return true
}

func (t *Table) writeRow(b *strings.Builder, s Style, row tableRow, shown, widths []int, color string) {
	line := t.Indent
	for at, i := range shown {
		cell := Cut(row.cells[i], widths[i])
		if at < len(shown)-1 {
			cell = Pad(cell, widths[i]+columnGap)
		}
		if row.color != "" && at < 2 {
			cell = s.Paint(row.color, strings.TrimRight(cell, " ")) + cell[len(strings.TrimRight(cell, " ")):]
		}
		line += cell
	}
	b.WriteString(s.Paint(color, strings.TrimRight(line, " ")) + "\n")
}
