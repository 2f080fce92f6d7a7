// Package gateway serves the host's services into one run's container over package mux: git smart HTTP for the
// run's own quarantine repository, at /git/<run>.git. Everything a container sends is attacker input.
//
// It owns the HTTP side and the rule for references that a run may push. Package gitops owns the pack processes
// and the checks of objects. Package gateway promises that
//
//   - exactly one repository name answers, compared byte for byte with the
//     request line, so no encoding, dot segment or sibling gets through;
//   - a connection carries one request, whose header was read whole and
//     judged before net/http saw it: there is no second request to smuggle;
//   - bodies, inflated bodies, headers, times and processes are bounded;
//   - after Close no process of the run's git is alive and nothing is being
//     written to its repository.
//
// If the run may have them, the mirrors of package registries are served beside it, at the root. Their handler
// decides which packages may be fetched. A run whose agent is another program asks its model below ModelPath. Other
// paths answer 404.
package gateway
