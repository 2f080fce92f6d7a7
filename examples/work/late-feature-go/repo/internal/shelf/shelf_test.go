package shelf

import "testing"

// newShelf makes a shelf with two items.
func newShelf(t *testing.T) *Shelf {
	t.Helper()
	s, err := New([]Item{{ID: 7, Title: "Tent", Owner: "cat"}, {ID: 2, Title: "Long ladder", Owner: "ann"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNewOrdersAndChecks(t *testing.T) {
	if items := newShelf(t).Items(); len(items) != 2 || items[0].ID != 2 {
		t.Errorf("got %v", items)
	}
	for _, item := range []Item{{Title: "Tent", Owner: "cat"}, {ID: 1, Owner: "cat"}, {ID: 1, Title: "Tent", Owner: "Cat"}, {ID: 1, Title: " Tent", Owner: "cat"}} {
		if _, err := New([]Item{item}); err == nil {
			t.Errorf("%v is fine", item)
		}
	}
	tent := Item{ID: 7, Title: "Tent", Owner: "cat"}
	if _, err := New([]Item{tent, tent}); err == nil {
		t.Error("a number can be used twice")
	}
}

func TestAddAndRemove(t *testing.T) {
	s := newShelf(t)
	if id, err := s.Add("bob", "Drill"); err != nil || id != 8 {
		t.Errorf("got %d, %v", id, err)
	}
	if _, err := s.Add("bob", ""); err == nil {
		t.Error("an item needs no title")
	}
	if err := s.Remove(2); err != nil {
		t.Error(err)
	}
	if err := s.Remove(2); err == nil {
		t.Error("an item is removed twice")
	}
}

func TestLendAndReturn(t *testing.T) {
	s := newShelf(t)
	if err := s.Lend(7, "bob", "2026-03-02", 2); err != nil {
		t.Fatal(err)
	}
	tent, err := s.Item(7)
	if err != nil || !tent.Out() {
		t.Errorf("got %v, %v", tent, err)
	}
	if err := s.Lend(7, "ann", "2026-03-03", 2); err == nil {
		t.Error("an item is lent twice")
	}
	if err := s.Remove(7); err == nil {
		t.Error("an item is removed that somebody has")
	}
	if err := s.Return(7, "2026-03-01"); err == nil {
		t.Error("an item is back before it is lent")
	}
	if err := s.Return(7, "2026-03-02"); err != nil {
		t.Error(err)
	}
	if err := s.Return(7, "2026-03-03"); err == nil {
		t.Error("an item is back twice")
	}
	if err := s.Lend(7, "ann", "2026-03-03", 0); err == nil {
		t.Error("an item is lent for no time")
	}
}

func TestLate(t *testing.T) {
	s := newShelf(t)
	if err := s.Lend(7, "bob", "2026-03-02", 2); err != nil {
		t.Fatal(err)
	}
	tent, _ := s.Item(7)
	if got := tent.Late("2026-03-16"); got != 0 {
		t.Errorf("on the day it is late by %d", got)
	}
	if got := tent.Late("2026-03-19"); got != 3 {
		t.Errorf("it is late by %d", got)
	}
}
