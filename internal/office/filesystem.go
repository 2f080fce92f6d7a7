package office

import "company/internal/company"

// checkLocks refuses a state folder on a file system of the network. Its locks may not exclude processes on other
// machines, and two companies would write one ledger. A type that cannot be determined is accepted.
func (p Paths) checkLocks() error {
	return refuseNetwork(p.State, fileSystemType(p.State))
}

func refuseNetwork(dir, kind string) error {
	if kind == "" {
		return nil
	}
	return company.E(company.EConfig, "the state of the office is on a file system of the network: "+dir).
		Because("it is of type " + kind + ", whose locks do not exclude other machines").
		Fix("set XDG_STATE_HOME to a folder on a disk of this machine")
}
