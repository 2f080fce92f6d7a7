// Package journal has the entries of the journal, and the file that they stand in.
package journal

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/hours/internal/clock"
)

// Entry is work on one project without a break, on one day.
type Entry struct {
	Day        clock.Day
	Start, End clock.Minute
	Project    string // without white space
	Note       string // one line; may be empty
}

// Minutes is how long the work took.
func (e Entry) Minutes() clock.Minute { return e.End - e.Start }

// Same reports whether two entries are of the same work, whatever their notes say.
func (e Entry) Same(o Entry) bool {
	e.Note, o.Note = "", ""
	return e == o
}

// Check reports what keeps an entry from the journal.
func (e Entry) Check() error {
	switch {
	case e.Project == "":
		return errors.New("an entry needs a project")
	case len(strings.Fields(e.Project)) != 1 || strings.HasPrefix(e.Project, "#"):
		return fmt.Errorf("%q is no project", e.Project)
	case e.Start < 0 || e.End > clock.Midnight || e.Start >= e.End:
		return fmt.Errorf("%s-%s is no time to work", e.Start, e.End)
	case strings.ContainsAny(e.Note, "\r\n"):
		return errors.New("a note is one line")
	}
	return nil
}

// String is the line of an entry.
func (e Entry) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s-%s %s %s", e.Day, e.Start, e.End, e.Project, e.Note))
}

// Parse reads the line of an entry.
func Parse(line string) (e Entry, err error) {
	day, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	span, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
	project, note, _ := strings.Cut(strings.TrimSpace(rest), " ")
	start, end, _ := strings.Cut(span, "-")
	if e.Day, err = clock.ParseDay(day); err != nil {
		return e, err
	}
	if e.Start, err = clock.ParseMinute(start); err != nil {
		return e, err
	}
	if e.End, err = clock.ParseMinute(end); err != nil {
		return e, err
	}
	e.Project, e.Note = project, strings.TrimSpace(note)
	return e, e.Check()
}

// Sort orders entries by day, start, end and project.
func Sort(list []Entry) {
	slices.SortStableFunc(list, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Project, b.Project))
	})
}

// Read reads entries. Empty lines and those that begin with # are left out.
func Read(r io.Reader) (list []Entry, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		e, err := Parse(line)
		if err != nil {
			return nil, fmt.Errorf("journal: line %d: %w", n, err)
		}
		list = append(list, e)
	}
	return list, lines.Err()
}

// Write writes entries, one a line.
func Write(w io.Writer, list []Entry) error {
	for _, e := range list {
		if _, err := fmt.Fprintln(w, e); err != nil {
			return err
		}
	}
	return nil
}
