package main

import (
	"slices"

	"company/internal/company/glob"
	"company/internal/present/view"
)

// Fit compares planned write sets with the files that were changed.
type Fit struct {
	Planned   int      `json:"planned"`   // globs of the write sets
	Used      int      `json:"used"`      // globs that match a changed file
	Changed   int      `json:"changed"`   // files
	Covered   int      `json:"covered"`   // changed files that a glob matches
	Precision *float64 `json:"precision"` // Used/Planned; null if no paths were planned
	Recall    *float64 `json:"recall"`    // Covered/Changed; null if no paths were changed
}

// fitOf compares the write sets of a plan with the changes of its subtasks. It returns nil if none of them has changes.
// A write set of all files was not planned, so it does not count. An invalid glob matches no file.
func fitOf(plan []view.Subtask) *Fit {
	var fit Fit
	for _, sub := range plan {
		if len(sub.Changes) == 0 || slices.Equal(sub.WriteSet, []string{"**"}) {
			continue
		}
		fit.Planned, fit.Changed = fit.Planned+len(sub.WriteSet), fit.Changed+len(sub.Changes)
		covered := make([]bool, len(sub.Changes))
		for _, text := range sub.WriteSet {
			planned, _ := glob.Parse(text)
			used := false
			for i, change := range sub.Changes {
				if planned.Match(change.Path) {
					used, covered[i] = true, true
				}
			}
			if used {
				fit.Used++
			}
		}
		for _, is := range covered {
			if is {
				fit.Covered++
			}
		}
	}
	if fit.Changed == 0 {
		return nil
	}
	fit.Precision, fit.Recall = shareOf(fit.Used, fit.Planned), shareOf(fit.Covered, fit.Changed)
	return &fit
}

// shareOf returns a part of a whole, from 0 to 1. It returns nil if the whole is 0.
func shareOf(part, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	share := float64(part) / float64(whole)
	return &share
}
