package table

import (
	"reflect"
	"strings"
	"testing"
)

func TestReadAndWrite(t *testing.T) {
	text := "name,price\n\"rope, blue\",4.50\nsaw,20\n"
	got, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := Table{Fields: []string{"name", "price"}, Rows: [][]string{{"rope, blue", "4.50"}, {"saw", "20"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	var out strings.Builder
	if err := got.Write(&out); err != nil || out.String() != text {
		t.Errorf("%v, %s", err, out.String())
	}
}

func TestTablesThatAreRefused(t *testing.T) {
	for _, text := range []string{"", "a,a\n", "a,\n1,2\n", "a,b\n1\n"} {
		if got, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestColumn(t *testing.T) {
	table := Table{Fields: []string{"name", "price"}}
	if at, err := table.Column("price"); err != nil || at != 1 {
		t.Errorf("%d, %v", at, err)
	}
	if _, err := table.Column("Price"); err == nil {
		t.Error("a field that the table has not is found")
	}
}

func TestCompare(t *testing.T) {
	// Each value is less than the next one.
	values := []string{"-3", "0", "2.5", "10", "", "1e3", "Bonn", "bonn"}
	for i, a := range values {
		for j, b := range values {
			got := Compare(a, b)
			if (i < j) != (got < 0) || (i > j) != (got > 0) || (i == j) != (Key(a) == Key(b)) {
				t.Errorf("%q and %q: %d, keys %q and %q", a, b, got, Key(a), Key(b))
			}
		}
	}
	for _, pair := range [][2]string{{"1", "1.0"}, {"007", "7"}, {"0", "-0.0"}} {
		if Compare(pair[0], pair[1]) != 0 || Key(pair[0]) != Key(pair[1]) {
			t.Errorf("%q are not the same", pair)
		}
	}
}
