package feed

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// ParseSince is the moment that a text names: an age (30m, 2h, 3d), a time of today,
// a day, or a time in full. An empty text names the beginning.
func ParseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		return now.Add(-age), nil
	}
	here := now.Local()
	for _, layout := range []string{"15:04", time.TimeOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			year, month, day := here.Date()
			return time.Date(year, month, day, at.Hour(), at.Minute(), at.Second(), 0, here.Location()), nil
		}
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.DateTime, time.RFC3339} {
		if at, err := time.ParseInLocation(layout, text, here.Location()); err == nil {
			return at, nil
		}
	}
	return time.Time{}, company.E(company.EUsage, fmt.Sprintf("%q is no time", safetext.EscapeLine(text, 60))).Fix("--since 30m, --since 14:30 or --since 2026-03-01")
}
