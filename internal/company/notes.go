package company

import (
	"cmp"
	"slices"
	"strings"
)

// Bounds of the notes of one run.
const (
	maxNotes = 10
	maxNote  = 500 // bytes of one
)

// boundNotes are the notes of a run as the ledger keeps them: the newest ones, without blank ones, each
// text once. An end of a run is not refused for them.
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

// A Note is a fact, a trap or a working command that an agent leaves to later agents of its task. It is
// unchecked.
type Note struct {
	Run  RunID
	Text string
}

// Notes are those of a task's ended runs, the newest run first, each text once.
func (t *Task) Notes() (out []Note) {
	var runs []*Run
	for _, r := range t.Runs {
		if r.Ended && len(r.Notes) > 0 {
			runs = append(runs, r)
		}
	}
	slices.SortFunc(runs, func(a, b *Run) int {
		return cmp.Or(b.EndedAt.Compare(a.EndedAt), strings.Compare(string(a.ID), string(b.ID)))
	})
	seen := map[string]bool{}
	for _, r := range runs {
		for _, text := range r.Notes {
			if !seen[text] {
				seen[text] = true
				out = append(out, Note{r.ID, text})
			}
		}
	}
	return out
}
