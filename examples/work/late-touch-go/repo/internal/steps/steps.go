// Package steps has the steps that sieve a table.
package steps

import (
	"fmt"
	"slices"
	"strconv"

	"example.com/sieve/internal/table"
)

// Step makes a table of another, which stays as it is. String writes the step as Parse reads it.
type Step interface {
	Apply(t table.Table) (table.Table, error)
	String() string
}

// Apply does steps one after the other.
func Apply(steps []Step, t table.Table) (table.Table, error) {
	for _, step := range steps {
		var err error
		if t, err = step.Apply(t); err != nil {
			return table.Table{}, fmt.Errorf("%v: %w", step, err)
		}
	}
	return t, nil
}

// Where keeps the rows whose field is a value, or over or under it: where price over 10.
type Where struct {
	Field, Sign, Value string
}

// Apply keeps the rows.
func (w Where) Apply(t table.Table) (table.Table, error) {
	at, err := t.Column(w.Field)
	if err != nil {
		return t, err
	}
	out := table.Table{Fields: t.Fields}
	for _, row := range t.Rows {
		if w.holds(row[at]) {
			out.Rows = append(out.Rows, row)
		}
	}
	return out, nil
}

// holds tells whether a row with this value in the field is kept.
func (w Where) holds(value string) bool {
	compared := table.Compare(value, w.Value)
	switch w.Sign {
	case "over":
		return compared > 0
	case "under":
		return compared < 0
	default:
		return compared == 0
	}
}

func (w Where) String() string {
	return "where " + quote(w.Field) + " " + w.Sign + " " + quote(w.Value)
}

// Keep keeps some fields, in the order in which it names them: keep name, price.
type Keep struct {
	Fields []string
}

// Apply keeps the fields.
func (k Keep) Apply(t table.Table) (table.Table, error) {
	var columns []int
	for _, field := range k.Fields {
		at, err := t.Column(field)
		if err != nil {
			return t, err
		}
		columns = append(columns, at)
	}
	out := table.Table{Fields: k.Fields}
	for _, row := range t.Rows {
		var kept []string
		for _, at := range columns {
			kept = append(kept, row[at])
		}
		out.Rows = append(out.Rows, kept)
	}
	return out, nil
}

func (k Keep) String() string { return "keep " + quoteAll(k.Fields) }

// Sort sorts the rows by a field, up or down: sort price down. Rows that are the same there keep
// their order.
type Sort struct {
	Field string
	Down  bool
}

// Apply sorts the rows.
func (s Sort) Apply(t table.Table) (table.Table, error) {
	at, err := t.Column(s.Field)
	if err != nil {
		return t, err
	}
	out := table.Table{Fields: t.Fields, Rows: slices.Clone(t.Rows)}
	slices.SortStableFunc(out.Rows, func(a, b []string) int {
		if s.Down {
			a, b = b, a
		}
		return table.Compare(a[at], b[at])
	})
	return out, nil
}

func (s Sort) String() string {
	if s.Down {
		return "sort " + quote(s.Field) + " down"
	}
	return "sort " + quote(s.Field)
}

// Count counts the rows of each value of a field, in the order in which the values come: count
// city. Numbers that are equal are one value, whatever their digits.
type Count struct {
	Field string
}

// Apply counts the rows.
func (c Count) Apply(t table.Table) (table.Table, error) {
	at, err := t.Column(c.Field)
	if err != nil {
		return t, err
	}
	out := table.Table{Fields: []string{c.Field, "count"}}
	counts, places := []int{}, map[string]int{}
	for _, row := range t.Rows {
		key := table.Key(row[at])
		place, known := places[key]
		if !known {
			place = len(counts)
			places[key] = place
			counts = append(counts, 0)
			out.Rows = append(out.Rows, []string{row[at], ""})
		}
		counts[place]++
	}
	for i, count := range counts {
		out.Rows[i][1] = strconv.Itoa(count)
	}
	return out, nil
}

func (c Count) String() string { return "count " + quote(c.Field) }

// First keeps the first rows, so many of them: first 3.
type First struct {
	Number int
}

// Apply keeps the rows.
func (f First) Apply(t table.Table) (table.Table, error) {
	number := min(f.Number, len(t.Rows))
	return table.Table{Fields: t.Fields, Rows: t.Rows[:number]}, nil
}

func (f First) String() string { return "first " + strconv.Itoa(f.Number) }
