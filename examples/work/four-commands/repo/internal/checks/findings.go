package checks

import (
	"fmt"
	"io"
	"slices"

	"example.com/hours/internal/clock"
)

// finding is something that is wrong on a day.
type finding struct {
	day  clock.Day
	what string
}

// tell prints findings by day, those of a day as they come, and fails where there are some. Where there are none
// it prints ok.
func tell(out io.Writer, list []finding) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "ok")
		return err
	}
	slices.SortStableFunc(list, func(a, b finding) int { return int(a.day - b.day) })
	for _, f := range list {
		if _, err := fmt.Fprintln(out, f.day, f.what); err != nil {
			return err
		}
	}
	return fmt.Errorf("findings: %d", len(list))
}
