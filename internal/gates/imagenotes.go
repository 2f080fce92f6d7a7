package gates

import (
	"errors"
	"strings"

	"company/internal/company"
)

// maxShownNotes limits how many notes of an image are shown with a failure.
const maxShownNotes = 3

// addImageNotes adds the image's notes to the failure of a gate on the base. A requirement of the project's files
// that the image does not meet is the usual cause, and meeting it is better than installing a program.
func addImageNotes(err error, notes []string) error {
	var fault *company.Error
	if len(notes) == 0 || !errors.As(err, &fault) || fault.Code != company.EGates || !company.NeedsPerson(fault) {
		return err
	}
	said := strings.Join(notes[:min(len(notes), maxShownNotes)], "; ")
	reason := "the image lacks what the project asks for: " + said
	if fault.Why != "" {
		reason += "; " + fault.Why // lines for people are cut at their end
	}
	fault = fault.Because(reason)
	if fault.Hint != "" {
		fault = fault.Fix("add what the image lacks; or " + fault.Hint)
	}
	return fault
}
