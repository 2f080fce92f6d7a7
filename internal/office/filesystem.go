package office

import "company/internal/company"

// checkLocks refuses a state folder on a file system of the network. Its locks may not exclude processes on other
// machines, and two companies would write one ledger. A type that cannot be determined is accepted.
func (p Paths) checkLocks() error {
	return refuseNetwork("the state of the office", p.State, fileSystemType(p.State),
		"set XDG_STATE_HOME to a folder on a disk of this machine")
}

func refuseNetwork(what, dir, kind, fix string) error {
	if kind == "" {
		return nil
	}
	return company.E(company.EConfig, what+" is on a file system of the network: "+dir).
		Because("it is of type " + kind + ", whose locks do not exclude other machines").
		Fix(fix)
}
