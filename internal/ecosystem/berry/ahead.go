package berry

import (
	"company/internal/company"
	"company/internal/ecosystem/yarn"
)

// ListForAnySystem lists the packages of a lock file that yarn requests on every system.
func (Ecosystem) ListForAnySystem(lock []byte) []company.Dependency {
	return yarn.ListForAnySystem(lock)
}
