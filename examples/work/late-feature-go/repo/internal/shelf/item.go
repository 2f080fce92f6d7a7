package shelf

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"example.com/shelf/internal/day"
)

// Item is a thing that can be lent.
type Item struct {
	ID    int
	Title string
	Owner string

	LentTo string  // who has it; empty where nobody has
	Since  day.Day // None where it is not known
	Due    day.Day // None where it is not known
}

// Out tells if somebody has the item.
func (i Item) Out() bool { return i.LentTo != "" }

// Late counts the days that an item should have been back before a day.
func (i Item) Late(on day.Day) int {
	if !i.Out() || i.Due == day.None || i.Due >= on {
		return 0
	}
	return on.Since(i.Due)
}

// check reports what is wrong with an item.
func (i Item) check() error {
	if i.ID < 1 {
		return fmt.Errorf("no number of an item: %d", i.ID)
	}
	if err := checkTitle(i.Title); err != nil {
		return err
	}
	if err := CheckName(i.Owner); err != nil {
		return err
	}
	if !i.Out() {
		if i.Since != day.None || i.Due != day.None {
			return fmt.Errorf("item %d has days, and nobody has it", i.ID)
		}
		return nil
	}
	if err := CheckName(i.LentTo); err != nil {
		return err
	}
	if (i.Since == day.None) != (i.Due == day.None) || i.Due < i.Since {
		return fmt.Errorf("item %d has days that do not fit", i.ID)
	}
	return errors.Join(i.Since.Check(), i.Due.Check())
}

func checkTitle(title string) error {
	if title == "" || strings.TrimSpace(title) != title || strings.ContainsAny(title, "\t\r\n") {
		return fmt.Errorf("no title: %q", title)
	}
	return nil
}

var name = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// CheckName reports a name of a person that is not one.
func CheckName(text string) error {
	if !name.MatchString(text) {
		return fmt.Errorf("no name: %q", text)
	}
	return nil
}
