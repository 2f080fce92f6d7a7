package company

import (
	"cmp"
	"slices"
	"strings"
)

// Limits of the notes of one run.
const (
	maxNotes = 10
	maxNote  = 500 // bytes of one
)

// boundNotes returns the notes of a run in the form that the ledger stores: the newest ones, without blank ones and
// repeats. They never cause a run's end to be refused.
func boundNotes(list []string) (out []string) {
	for _, text := range slices.Backward(list) {
		text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
		if len(text) > maxNote {
			text = cutWords(text, maxNote)
		}
		if text != "" && len(out) < maxNotes && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	slices.Reverse(out)
	return out
}

// A Note is a fact, a trap or a working command that an agent leaves to later agents of its task. It is not verified.
type Note struct {
	Run  RunID
	Text string
}

// Notes returns the notes of a task's ended runs, the newest run first and without repeats.
func (t *Task) Notes() (out []Note) {
	var runs []*Run
	for _, run := range t.Runs {
		if run.Ended && len(run.Notes) > 0 {
			runs = append(runs, run)
		}
	}
	slices.SortFunc(runs, func(a, b *Run) int {
		return cmp.Or(b.EndedAt.Compare(a.EndedAt), strings.Compare(string(a.ID), string(b.ID)))
	})
	seen := map[string]bool{}
	for _, run := range runs {
		for _, text := range run.Notes {
			if !seen[text] {
				seen[text] = true
				out = append(out, Note{run.ID, text})
			}
		}
	}
	return out
}
