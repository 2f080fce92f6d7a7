package gates

import (
	"errors"
	"strings"

	"company/internal/company"
)

// maxShownNotes is how many notes of an image stand beside a failure.
const maxShownNotes = 3

// addImageNotes adds the image's notes to the failure of a gate on the base: a
// wish of the project's files that the image does not meet is the usual cause,
// and its remedy is better than to install a program.
func addImageNotes(err error, notes []string) error {
	var e *company.Error
	if len(notes) == 0 || !errors.As(err, &e) || e.Code != company.EGates || !company.NeedsPerson(e) {
		return err
	}
	said := strings.Join(notes[:min(len(notes), maxShownNotes)], "; ")
	why := "the image lacks what the project asks for: " + said
	if e.Why != "" {
		why += "; " + e.Why // lines for people are cut at their end
	}
	e = e.Because(why)
	if e.Hint != "" {
		e = e.Fix("mend what the image lacks; or " + e.Hint)
	}
	return e
}
