package service

import (
	"strings"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/toolproto"
)

// shownLines is how much of a service's log an error shows by itself.
const shownLines = 4

// Ended is the service that a failed check tells of as one that did not last as long as it
// did, or "".
func Ended(output string) string {
	for _, s := range servers {
		if strings.Contains(output, toolproto.ServiceEnded+s.name+"]") {
			return s.name
		}
	}
	return ""
}

// EndedError explains a check whose service ended, and whose failure would be held to show
// something: failures of the base for want of it would excuse those of all work to come.
func EndedError(check, name, output string) error {
	e := company.E(company.EGates, "the service "+name+" ended while the gate "+safetext.EscapeLine(check, 100)+" ran").
		Because("what failed for want of it tells nothing about the tree").
		Fix("see what its log says (workers.memory, workers.disk), or have the gate leave it running or start it again").NeedsPerson()
	e.Details = safetext.Strip(output)
	return e
}

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
