package company

import "testing"

// A write set is held against the files that were changed: which of its globs were
// needed, and which of the files it speaks of (SUB-18).
func TestWriteSetFit(t *testing.T) {
	for _, c := range []struct {
		name              string
		planned, changed  []string
		want              Fit
		precision, recall float64
	}{
		{"exact", []string{"a.go", "docs/*.md"}, []string{"a.go", "docs/x.md", "docs/y.md"}, Fit{2, 2, 3, 3}, 1, 1},
		{"too wide", []string{"a.go", "b.go", "internal/**", "docs/**"}, []string{"a.go"}, Fit{4, 1, 1, 1}, 0.25, 1},
		{"too narrow", []string{"a.go"}, []string{"a.go", "b.go"}, Fit{1, 1, 2, 1}, 1, 0.5},
		{"beside it", []string{"a.go"}, []string{"b.go"}, Fit{1, 0, 1, 0}, 0, 0},
		{"two globs for one file", []string{"**/*.go", "a.go"}, []string{"a.go"}, Fit{2, 2, 1, 1}, 1, 1},
		{"a glob that cannot be read", []string{"[", "a.go"}, []string{"a.go"}, Fit{2, 1, 1, 1}, 0.5, 1},
	} {
		f := WriteSetFit(c.planned, c.changed)
		p, pok := f.Precision()
		r, rok := f.Recall()
		if f != c.want || p != c.precision || r != c.recall || !pok || !rok {
			t.Errorf("%s: %+v, precision %v %v, recall %v %v", c.name, f, p, pok, r, rok)
		}
	}
	if _, ok := WriteSetFit(nil, []string{"a"}).Precision(); ok {
		t.Error("nothing was planned, and there is a precision")
	}
	if _, ok := WriteSetFit([]string{"a"}, nil).Recall(); ok {
		t.Error("nothing was changed, and there is a recall")
	}
	if got := WriteSetFit([]string{"a"}, []string{"a"}).Add(WriteSetFit([]string{"b"}, []string{"c"})); got != (Fit{2, 1, 2, 1}) {
		t.Errorf("sum: %+v", got)
	}
}
