package ledger_test

import (
	"errors"
	"fmt"
	"testing"

	"company/internal/company"
)

// The first Read of a handle gives what every later one gives, from any event on, with
// what another handle appended after it was opened; and an error ends it.
func TestFirstRead(t *testing.T) {
	b := setup(t)
	writer := b.open(t)
	var model []company.Event
	for i := range 4 {
		model = append(model, mustAppend(t, b, writer, fmt.Sprint("c", i), draft("x", i), draft("y", i))...)
	}
	for from := range uint64(len(model) + 3) {
		reader := b.open(t)
		model = append(model, mustAppend(t, b, writer, fmt.Sprint("later", from), draft("z", from))...)
		want := model[min(max(from, 1)-1, uint64(len(model))):]
		for n := range 2 {
			if got := readAll(t, b, reader, from); !same(got, want) {
				t.Errorf("read %d from %d:\n got %v\nwant %v", n, from, got, want)
			}
		}
	}
	reader, seen := b.open(t), 0
	err := reader.Read(b.ctx, 2, func(company.Event) error {
		if seen++; seen == 2 {
			return errStop
		}
		return nil
	})
	if !errors.Is(err, errStop) || seen != 2 {
		t.Errorf("%d, %v", seen, err)
	}
	if got := readAll(t, b, reader, 2); !same(got, model[1:]) {
		t.Errorf("after an error: %v", got)
	}
}

// More events than Open keeps are read as before.
func TestFirstReadOfMany(t *testing.T) {
	b := setup(t)
	writer := b.open(t)
	var model []company.Event
	for i := range 6 {
		drafts := make([]company.Event, 1000)
		for n := range drafts {
			drafts[n] = draft("x", n)
		}
		model = append(model, mustAppend(t, b, writer, fmt.Sprint("c", i), drafts...)...)
	}
	reader := b.open(t)
	if got := readAll(t, b, reader, 1); !same(got, model) {
		t.Errorf("%d events, want %d", len(got), len(model))
	}
}
