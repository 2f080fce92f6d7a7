package testreport

import (
	"strconv"
	"strings"
	"time"

	"company/internal/lib/lazyregexp"
)

// Patterns for parts of a name that differ between two runs of the same test.
var (
	// dateAndTime matches a time in the formats of RFC 3339, Go's Time.String, date(1) and mail. Blanks may be
	// underscores, as in names of Go's subtests.
	dateAndTime = lazyregexp.New(
		`\b[0-9]{4}-[0-9]{2}-[0-9]{2}[T _][0-9]{2}:?[0-9]{2}:?[0-9]{2}(?:[.,][0-9]+)?(?:Z|[ _]?[+-][0-9]{2}:?[0-9]{2})?(?:[ _][A-Z]{3,4})?(?:[ _]m=[+-][0-9.]+)?` +
			`|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[ _]+` + monthName +
			`[ _]+[0-9]{1,2}[ _][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?[ _](?:[A-Z]{3,4}[ _])?[0-9]{4}` +
			`|(?:\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?[ _]+)?\b[0-9]{1,2}[ _-]` + monthName +
			`[ _-][0-9]{4}[ _][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[ _](?:[A-Z]{3,4}|[+-][0-9]{4}))?`)
	yearRE    = lazyregexp.New(`[0-9]{4}`)
	unixTime  = lazyregexp.New(`\b1[0-9]{9}(?:[0-9]{3}){0,3}\b`)
	processID = lazyregexp.New(`(?i)\bpid([ _=:#-]?)[0-9]+`)
	tempPath  = lazyregexp.New(
		`/(?:tmp|var/tmp|dev/shm)/[^\s/:,;()\[\]"']+(?:/[^\s/:,;()\[\]"']*[0-9][^\s/:,;()\[\]"']*)*`)
	anyAddress = lazyregexp.New(`\b0x(?:c0[0-9a-f]{8}|7[ef][0-9a-f]{10}|5[56][0-9a-f]{10})\b`)
)

const monthName = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)`

// nearTime is the longest distance from now at which a Unix time counts as made by the run itself.
const nearTime = 400 * 24 * time.Hour

// stableName returns a name with its moving parts replaced: times near now, process ids, paths of temporary
// files and memory addresses.
func stableName(name string, now time.Time) string {
	if !strings.ContainsAny(name, "0123456789") {
		return name
	}
	name = dateAndTime.ReplaceAllStringFunc(name, func(text string) string {
		for _, y := range yearRE.FindAllString(text, -1) {
			if year, _ := strconv.Atoi(y); year >= now.Year()-1 && year <= now.Year()+1 {
				return "<time>"
			}
		}
		return text // a fixed time that is part of the test
	})
	name = unixTime.ReplaceAllStringFunc(name, func(text string) string {
		seconds, _ := strconv.ParseInt(text[:10], 10, 64)
		if d := now.Sub(time.Unix(seconds, 0)); d < nearTime && d > -nearTime {
			return "<time>"
		}
		return text
	})
	name = processID.ReplaceAllString(name, "pid$1<pid>")
	name = tempPath.ReplaceAllString(name, "<temp>")
	return anyAddress.ReplaceAllString(name, "<address>")
}

// StabilizeNames removes from the names of tests the parts that differ in every run, such as the time.
// Otherwise a test with such a name would count as removed and as new. now is the time of the run. Names
// that would become equal are not changed, since a failure of one must not excuse another.
func (r *Results) StabilizeNames(now time.Time) {
	names := make([]*string, 0, len(r.Passed)+len(r.Failed)+len(r.Unsure))
	for i := range r.Passed {
		names = append(names, &r.Passed[i])
	}
	for i := range r.Failed {
		names = append(names, &r.Failed[i].Name)
	}
	for i := range r.Unsure {
		names = append(names, &r.Unsure[i])
	}
	users := map[string]string{} // stable name → the only name that becomes it, or empty if several do
	for _, name := range names {
		stable := stableName(*name, now)
		if other, has := users[stable]; has && other != *name {
			users[stable] = ""
		} else if !has {
			users[stable] = *name
		}
	}
	for _, name := range names {
		if stable := stableName(*name, now); users[stable] != "" {
			*name = stable
		}
	}
}
