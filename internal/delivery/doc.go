// Package delivery brings a finished task to its president: it pushes the
// integration branch, opens or updates the pull request, and polls what became
// of the branch and of the pull request since.
//
// It promises that a delivery which is repeated pushes nothing new and finds
// the same pull request, that nothing which looks like a secret is pushed
// unasked, and that a branch on which people committed is never overwritten. It
// does not merge pull requests.
package delivery
