package strangers

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

const (
	// mostCandidates bounds how many repositories are tried for one case.
	mostCandidates = 12
	// mostMissing bounds those that the archive does not give: some archives have only a
	// part of Debian's sources.
	mostMissing = 25
)

// errNotPrepared says that the case of a place has not been looked for yet.
var errNotPrepared = errors.New("not prepared")

// A preparedCase is what was found for one place of a draw.
type preparedCase struct {
	Number     int      // of the place
	Case       *lotCase // nil: no candidate can be one
	PassedOver []string // candidates before it, with the reason
}

// findCase takes the first candidate of a place that can be a case. Without away it passes
// over those whose packages cannot be had here.
func findCase(ctx context.Context, place drawnPlace, away bool) (found preparedCase, err error) {
	found.Number = place.Number
	tried, missing := 0, 0
	for _, l := range place.Candidates {
		if tried == mostCandidates || missing == mostMissing {
			break
		}
		c, err := prepareCase(ctx, place, l)
		if errors.Is(err, errNotHad) {
			missing++
		} else {
			tried++
		}
		if err == nil && c.Away != "" && !away {
			err = passOver("its packages cannot be had here, and the draw has enough of these")
		}
		if errors.Is(err, errPassedOver) {
			found.PassedOver = append(found.PassedOver,
				l.String()+": "+strings.TrimPrefix(err.Error(), errPassedOver.Error()+": "))
			continue
		}
		if err != nil {
			return found, fmt.Errorf("%s: %w", l, err)
		}
		found.Case = &c
		return found, nil
	}
	return found, nil
}

// preparedFile is where the cases that were found for a draw are kept, one line of JSON
// each. They are kept with the rows: finding them takes most of a draw's time, and a walk
// that is made again on another machine has the same changes.
func preparedFile(root, commit string, draw int) string {
	return filepath.Join(root, "test", "strangers", "draws", "prepared",
		fmt.Sprintf("%s-%d.jsonl", shortCommit(commit), draw))
}

// readPrepared reads what was found for a place of a draw, and fetches its repository if it
// is not here.
func readPrepared(ctx context.Context, file string, number int) (found preparedCase, err error) {
	all, err := readLines[preparedCase](file)
	if err != nil {
		return found, err
	}
	for _, found := range all {
		if found.Number != number {
			continue
		}
		if found.Case != nil {
			found.Case.From, err = fetchListed(ctx, found.Case.Listed)
		}
		return found, err
	}
	return found, errNotPrepared
}
