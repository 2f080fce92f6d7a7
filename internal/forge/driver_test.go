package forge_test

import (
	"errors"
	"testing"

	"company/internal/forge"
)

// A write without an answer may have arrived: it is looked for, and made again
// only where it is missing. A look that fails has been tried often enough.
func TestCommentOnce(t *testing.T) {
	t.Parallel()
	errUnclear := errors.New("no answer")
	unclear := func(err error) bool { return errors.Is(err, errUnclear) }
	for name, c := range map[string]struct {
		looks         []error // what each look fails with
		there         int     // the look that finds the comment, from 1; 0: none does
		writes        []error
		looked, wrote int
		fails         bool
	}{
		"written at once":    {looks: []error{nil}, writes: []error{nil}, looked: 1, wrote: 1},
		"there already":      {looks: []error{nil}, there: 1, looked: 1},
		"the look fails":     {looks: []error{errUnclear}, looked: 1, fails: true},
		"the write arrived":  {looks: []error{nil, nil}, there: 2, writes: []error{errUnclear}, looked: 2, wrote: 1},
		"the write got lost": {looks: []error{nil, nil}, writes: []error{errUnclear, nil}, looked: 2, wrote: 2},
		"the second look fails": {looks: []error{nil, errUnclear}, writes: []error{errUnclear}, looked: 2, wrote: 1,
			fails: true},
		"the forge does not want": {looks: []error{nil}, writes: []error{errors.New("forbidden")}, looked: 1, wrote: 1,
			fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var looked, wrote int
			err := forge.Ref{}.CommentOnce(t.Context(), "key", "text", unclear,
				func() (bool, error) { looked++; return looked == c.there, c.looks[looked-1] },
				func(string) error { wrote++; return c.writes[wrote-1] })
			if looked != c.looked || wrote != c.wrote || (err != nil) != c.fails {
				t.Errorf("%d looks and %d writes, and %v; %d and %d", looked, wrote, err, c.looked, c.wrote)
			}
		})
	}
}
