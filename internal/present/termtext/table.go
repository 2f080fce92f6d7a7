package termtext

import (
	"slices"
	"strings"
)

// Column is a column of a table.
type Column struct {
	Title string
	// Rank is the order in which columns are left out if the terminal is too narrow, highest first. A column with rank 0
	// always stays.
	Rank int
	// Least is the minimum width of the last column before others are left out. 0 means 24.
	Least int
}

// Table holds rows of cells below titles. The last column takes the remaining width.
type Table struct {
	Indent  string
	Columns []Column
	rows    []tableRow
}

type tableRow struct {
	cells []string
	color string   // of the first two cells
	notes []string // lines below the row
}

// Row adds a row. An empty cell is shown as "-", except in the last column.
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

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// columnGap is the number of blanks between two columns.
const columnGap = 2

// Render renders the table for a stream. The line of titles is left out if all titles are empty.
func (t *Table) Render(style Style) string {
	if len(t.rows) == 0 {
		return ""
	}
	shown, widths := t.fitColumns(style)
	var b strings.Builder
	if slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Title != "" }) {
		titles := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			titles[i] = c.Title
		}
		t.writeRow(&b, style, tableRow{cells: titles}, shown, widths, Dim)
	}
	noteIndent := t.Indent + strings.Repeat(" ", widths[shown[0]]+columnGap)
	for _, row := range t.rows {
		t.writeRow(&b, style, row, shown, widths, "")
		for _, note := range row.notes {
			b.WriteString(noteIndent + style.Fit(note, Cells(noteIndent)) + "\n")
		}
	}
	return b.String()
}

// fitColumns selects the columns that fit into a stream, and their widths.
func (t *Table) fitColumns(style Style) (shown, widths []int) {
	last := len(t.Columns) - 1
	widths = make([]int, len(t.Columns))
	for i, column := range t.Columns {
		shown = append(shown, i)
		widths[i] = Cells(column.Title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], Cells(row.cells[i]))
		}
	}
	if style.Width <= 0 {
		return shown, widths
	}
	shown = slices.DeleteFunc(shown, func(i int) bool { return t.Columns[i].Rank > 0 && t.isEmpty(i) })
	least := t.Columns[last].Least
	if least == 0 {
		least = 24
	}
	least = min(least, widths[last])
	for {
		room := style.Width - Cells(t.Indent)
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
		for index, i := range shown {
			if t.Columns[i].Rank > 0 && (drop < 0 || t.Columns[i].Rank > t.Columns[shown[drop]].Rank) {
				drop = index
			}
		}
		if drop < 0 {
			widths[last] = min(widths[last], max(1, room))
			return shown, widths
		}
		shown = slices.Delete(shown, drop, drop+1)
	}
}

// isEmpty reports whether all cells of a column are empty.
func (t *Table) isEmpty(column int) bool {
	for _, row := range t.rows {
		if cell := row.cells[column]; cell != "-" && cell != "" {
			return false
		}
	}
	return true
}

func (t *Table) writeRow(b *strings.Builder, style Style, row tableRow, shown, widths []int, color string) {
	line := t.Indent
	for index, i := range shown {
		cell := Cut(row.cells[i], widths[i])
		if index < len(shown)-1 {
			cell = Pad(cell, widths[i]+columnGap)
		}
		if row.color != "" && index < 2 {
			cell = style.Paint(row.color, strings.TrimRight(cell, " ")) + cell[len(strings.TrimRight(cell, " ")):]
		}
		line += cell
	}
	b.WriteString(style.Paint(color, strings.TrimRight(line, " ")) + "\n")
}
