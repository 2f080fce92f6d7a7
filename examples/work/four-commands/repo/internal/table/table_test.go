package table

import (
	"strings"
	"testing"
)

func TestPrint(t *testing.T) {
	table := New("name", "n").Right(1)
	table.Add("Müller", "7")
	table.Add("a", "1200")
	table.Add("b")
	var b strings.Builder
	if err := table.Print(&b); err != nil {
		t.Fatal(err)
	}
	if want := "name       n\nMüller     7\na       1200\nb\n"; b.String() != want {
		t.Errorf("%s", b.String())
	}
}
