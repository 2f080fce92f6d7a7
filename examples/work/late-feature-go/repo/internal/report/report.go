// Package report writes what a person reads.
package report

import (
	"slices"
	"strconv"

	"example.com/shelf/internal/day"
	"example.com/shelf/internal/shelf"
	"example.com/shelf/internal/table"
)

// List lists all items, with who has them.
func List(s *shelf.Shelf) string {
	t := table.New(">id", "title", "owner", "lent to", "since", "due")
	for _, i := range s.Items() {
		if i.Out() {
			t.Add(strconv.Itoa(i.ID), i.Title, i.Owner, i.LentTo, i.Since.Or("?"), i.Due.Or("?"))
		} else {
			t.Add(strconv.Itoa(i.ID), i.Title, i.Owner, "", "", "")
		}
	}
	return orNothing(t)
}

// Late lists the items that should be back on a day, the longest ago first.
func Late(s *shelf.Shelf, on day.Day) string {
	items := slices.DeleteFunc(s.Items(), func(i shelf.Item) bool { return i.Late(on) == 0 })
	slices.SortStableFunc(items, func(a, b shelf.Item) int { return b.Late(on) - a.Late(on) })
	t := table.New(">id", "title", "lent to", "due", ">days")
	for _, i := range items {
		t.Add(strconv.Itoa(i.ID), i.Title, i.LentTo, i.Due.Or("?"), strconv.Itoa(i.Late(on)))
	}
	return orNothing(t)
}

func orNothing(t *table.Table) string {
	if t.Len() == 0 {
		return "nothing\n"
	}
	return t.String()
}
