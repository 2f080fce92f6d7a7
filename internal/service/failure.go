package service

import (
	"strings"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/toolproto"
)

// shownLines is how much of a service's log an error shows by itself.
const shownLines = 4

// Ended finds in the output of a failed check the name of a service that ended before the
// check did. It returns "" where all still serve.
func Ended(output string) string {
	for _, s := range servers {
		if strings.Contains(output, toolproto.ServiceEnded+s.name+"]") {
			return s.name
		}
	}
	return ""
}

// EndedError says that a check failed after its service had ended. It stands in the place of a
// verdict: on the base, for example, such failures would excuse those of all later work. cause may be nil.
func EndedError(check, name, output string, cause error) error {
	e := company.E(company.EGates, "the service "+name+" ended while the gate "+safetext.EscapeLine(check, 100)+" ran").
		Because("what failed for want of it tells nothing about the tree").
		Fix("see what its log says (workers.memory, workers.disk), or have the gate leave it running or start it again").Wrap(cause).NeedsPerson()
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
