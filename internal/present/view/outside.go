package view

import (
	"fmt"
	"strings"

	"company/internal/lib/safetext"
)

// mostOutside limits the files beyond a write set that are shown for a subtask. JSON has all.
const mostOutside = 5

// outsideText lists files that the subtask changed beyond its write set, with the open subtasks that also plan them.
func (v Subtask) outsideText() string {
	var parts []string
	for i, outsideFile := range v.OutsideWriteSet {
		if i == mostOutside {
			parts = append(parts, fmt.Sprintf("and %d more", len(v.OutsideWriteSet)-i))
			break
		}
		parts = append(parts, safetext.EscapeLine(outsideFile.Describe(), 200))
	}
	return strings.Join(parts, ", ")
}
