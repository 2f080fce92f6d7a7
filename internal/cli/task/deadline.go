package task

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// parseDeadline is the moment that a text names: a day, whose end it is, a time of a
// day, or how long from now (36h, 3d). An empty text names none.
func parseDeadline(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n < 100_000 {
			return now.AddDate(0, 0, n).Truncate(time.Second), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d).Truncate(time.Second), nil
	}
	here := now.Local().Location()
	if day, err := time.ParseInLocation(time.DateOnly, text, here); err == nil {
		return time.Date(day.Year(), day.Month(), day.Day(), 23, 59, 59, 0, here), nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05", time.DateTime, time.RFC3339} {
		if at, err := time.ParseInLocation(layout, text, here); err == nil {
			return at, nil
		}
	}
	return time.Time{}, company.E(company.EUsage, fmt.Sprintf("%q is no deadline", safetext.EscapeLine(text, 60))).Fix("--deadline 2026-12-01, --deadline 2026-12-01T17:00 or --deadline 36h")
}
