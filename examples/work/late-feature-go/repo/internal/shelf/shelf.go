// Package shelf has the things of a club, and the rules of lending them.
package shelf

import (
	"fmt"
	"slices"

	"example.com/shelf/internal/day"
)

// Shelf holds the items of a club.
type Shelf struct {
	items []Item // ordered by number
}

// New makes a shelf of items, which are checked.
func New(items []Item) (*Shelf, error) {
	s := &Shelf{items: slices.Clone(items)}
	slices.SortFunc(s.items, func(a, b Item) int { return a.ID - b.ID })
	for n, item := range s.items {
		if err := item.check(); err != nil {
			return nil, err
		}
		if n > 0 && s.items[n-1].ID == item.ID {
			return nil, fmt.Errorf("two items have the number %d", item.ID)
		}
	}
	return s, nil
}

// Items lists the items by number.
func (s *Shelf) Items() []Item { return slices.Clone(s.items) }

// Item gives the item of a number.
func (s *Shelf) Item(id int) (Item, error) {
	i, err := s.find(id)
	if err != nil {
		return Item{}, err
	}
	return *i, nil
}

// Add adds an item, and gives its number.
func (s *Shelf) Add(owner, title string) (int, error) {
	item := Item{ID: 1, Owner: owner, Title: title}
	if n := len(s.items); n > 0 {
		item.ID = s.items[n-1].ID + 1
	}
	if err := item.check(); err != nil {
		return 0, err
	}
	s.items = append(s.items, item)
	return item.ID, nil
}

// Remove removes an item that nobody has.
func (s *Shelf) Remove(id int) error {
	item, err := s.find(id)
	if err != nil {
		return err
	}
	if item.Out() {
		return fmt.Errorf("%s has item %d", item.LentTo, id)
	}
	s.items = slices.DeleteFunc(s.items, func(i Item) bool { return i.ID == id })
	return nil
}

// Lend notes that somebody takes an item on a day, for so many weeks.
func (s *Shelf) Lend(id int, to string, on day.Day, weeks int) error {
	item, err := s.find(id)
	if err != nil {
		return err
	}
	if err := CheckName(to); err != nil {
		return err
	}
	if item.Out() {
		return fmt.Errorf("%s has item %d", item.LentTo, id)
	}
	if weeks < 1 {
		return fmt.Errorf("nothing is lent for %d weeks", weeks)
	}
	item.LentTo, item.Since, item.Due = to, on, on.Add(7*weeks)
	return nil
}

// Return notes that an item is back on a day.
func (s *Shelf) Return(id int, on day.Day) error {
	item, err := s.find(id)
	if err != nil {
		return err
	}
	if !item.Out() {
		return fmt.Errorf("nobody has item %d", id)
	}
	if on < item.Since {
		return fmt.Errorf("item %d was lent on %s", id, item.Since)
	}
	item.LentTo, item.Since, item.Due = "", day.None, day.None
	return nil
}

func (s *Shelf) find(id int) (*Item, error) {
	for n := range s.items {
		if s.items[n].ID == id {
			return &s.items[n], nil
		}
	}
	return nil, fmt.Errorf("there is no item %d", id)
}
