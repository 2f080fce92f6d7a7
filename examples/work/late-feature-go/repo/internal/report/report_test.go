package report

import (
	"testing"

	"example.com/shelf/internal/day"
	"example.com/shelf/internal/shelf"
)

// newShelf makes a shelf of a ladder, a tent and a drill.
func newShelf(t *testing.T) *shelf.Shelf {
	t.Helper()
	s, err := shelf.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"Long ladder", "Tent", "Drill"} {
		if _, err := s.Add("ann", title); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func lend(t *testing.T, s *shelf.Shelf, id int, to string, on day.Day, weeks int) {
	t.Helper()
	if err := s.Lend(id, to, on, weeks); err != nil {
		t.Fatal(err)
	}
}

func TestList(t *testing.T) {
	s := newShelf(t)
	lend(t, s, 2, "bob", "2026-03-02", 1)
	want := `id  title        owner  lent to  since       due
 1  Long ladder  ann
 2  Tent         ann    bob      2026-03-02  2026-03-09
 3  Drill        ann
`
	if got := List(s); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	empty, _ := shelf.New(nil)
	if got := List(empty); got != "nothing\n" {
		t.Errorf("got %s", got)
	}
}

func TestLate(t *testing.T) {
	s := newShelf(t)
	lend(t, s, 1, "bob", "2026-03-02", 1)
	lend(t, s, 2, "cat", "2026-02-02", 2)
	lend(t, s, 3, "bob", "2026-03-09", 1)
	want := `id  title        lent to  due         days
 2  Tent         cat      2026-02-16    22
 1  Long ladder  bob      2026-03-09     1
`
	if got := Late(s, "2026-03-10"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := Late(s, "2026-02-16"); got != "nothing\n" {
		t.Errorf("got %s", got)
	}
}
