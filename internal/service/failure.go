package service

import (
	"strings"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/toolproto"
)

// shownLines is how much of a service's log an error shows by itself.
const shownLines = 4

// StartError explains a service that did not start in a container: the set-up is at
// fault, not the work, and every try ends alike. text is the toolbox's message with
// the end of the service's log.
func StartError(text string) error {
	first, log, _ := strings.Cut(strings.TrimPrefix(text, toolproto.ServiceFailed), "\n")
	lines := strings.Split(strings.TrimSpace(log), "\n")
	why := strings.Join(lines[max(0, len(lines)-shownLines):], " | ")
	e := company.E(company.EGates, "the service "+safetext.EscapeLine(first, 200)).Because(safetext.EscapeLine(why, 600)).
		Fix("give it what its log asks for (workers.memory, workers.disk, container.setup), or take it out of gates.services").NeedsPerson()
	e.Details = safetext.Strip(text)
	return e
}
