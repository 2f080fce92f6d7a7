package table

import "testing"

func TestTable(t *testing.T) {
	table := New(">id", "title", "owner")
	table.Add("1", "Äxte", "ann")
	table.Add("12", "Tent", "")
	want := "id  title  owner\n 1  Äxte   ann\n12  Tent\n"
	if got := table.String(); got != want || table.Len() != 2 {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
