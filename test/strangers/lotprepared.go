package strangers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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

// A preparedCase is what was found for one place of a draw.
type preparedCase struct {
	Case       *lotCase // nil: no candidate can be one
	PassedOver []string // candidates before it, with the reason
}

// findCase takes the first candidate of a place that can be a case. Without away it passes
// over those whose packages cannot be had here.
func findCase(ctx context.Context, place drawnPlace, away bool) (found preparedCase, err error) {
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
			found.PassedOver = append(found.PassedOver, l.String()+": "+strings.TrimPrefix(err.Error(), errPassedOver.Error()+": "))
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

func preparedFile(dir string, number int) string {
	return filepath.Join(dir, fmt.Sprintf("%02d.json", number))
}

// readPrepared reads what was found for a place of the draw that a folder keeps.
func readPrepared(dir string, number int) (found preparedCase, err error) {
	text, err := os.ReadFile(preparedFile(dir, number))
	if err != nil {
		return found, err
	}
	return found, json.Unmarshal(text, &found)
}

// keep writes what was found for a place.
func (p preparedCase) keep(dir string, number int) error {
	text, err := json.MarshalIndent(p, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(preparedFile(dir, number), text, 0o644)
}
