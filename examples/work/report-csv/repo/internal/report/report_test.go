package report

import (
	"strings"
	"testing"
)

func TestTableAlignsColumns(t *testing.T) {
	s := Sheet{Header: []string{"what", "n"}, Rows: [][]string{{"böden", "1"}, {"a", "12"}}}
	var b strings.Builder
	if err := s.Table(&b); err != nil {
		t.Fatal(err)
	}
	if want := "what   n\nböden  1\na      12\n"; b.String() != want {
		t.Errorf("Table:\n%swant:\n%s", b.String(), want)
	}
}

func TestTableRefusesARaggedSheet(t *testing.T) {
	s := Sheet{Header: []string{"what", "n"}, Rows: [][]string{{"a"}}}
	if err := s.Table(&strings.Builder{}); err == nil {
		t.Error("a short row was accepted")
	}
}
