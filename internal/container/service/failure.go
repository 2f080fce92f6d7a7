package service

import (
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/toolbox/toolproto"
)

// shownLines is the number of lines of a service's log that an error shows.
const shownLines = 4

// Ended returns the name of a service that ended before the check did, according to the check's
// output. It returns "" if all services still run.
func Ended(output string) string {
	for _, server := range servers {
		if strings.Contains(output, toolproto.ServiceEnded+server.name+"]") {
			return server.name
		}
	}
	return ""
}

// EndedError returns the error of a check that failed after its service had ended. It replaces a
// verdict, because such a failure of the base, for example, would excuse the failures of all later
// work. cause may be nil.
func EndedError(check, name, output string, cause error) error {
	fault := company.E(company.EGates,
		"the service "+name+" ended while the gate "+safetext.EscapeLine(check, 100)+" ran").
		Because("failures without it say nothing about the tree").
		Fix("see what its log says (workers.memory, workers.disk), or have the gate leave it running or start it again").Wrap(
		cause).NeedsPerson()
	fault.Details = safetext.Strip(output)
	return fault
}

// StartError returns the error of a service that did not start in a container. The set-up is at fault,
// not the work, and every attempt fails alike. text is the toolbox's message with the end of the
// service's log.
func StartError(text string) error {
	first, log, _ := strings.Cut(strings.TrimPrefix(text, toolproto.ServiceFailed), "\n")
	lines := strings.Split(strings.TrimSpace(log), "\n")
	reason := strings.Join(lines[max(0, len(lines)-shownLines):], " | ")
	fault := company.E(company.EGates, "the service "+safetext.EscapeLine(first, 200)).
		Because(safetext.EscapeLine(reason, 600)).
		Fix("give it what its log requires (workers.memory, workers.disk, container.setup), or remove it from " +
			"gates.services").NeedsPerson()
	fault.Details = safetext.Strip(text)
	return fault
}
