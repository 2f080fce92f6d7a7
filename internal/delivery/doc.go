// Package delivery delivers a finished task: it pushes the integration branch, opens or updates the pull request, and
// polls the later state of both.
//
// A repeated delivery pushes no new commits and finds the same pull request. Content that looks like a secret is not
// pushed without asking. A branch on which people committed is never overwritten. The package does not merge pull
// requests.
//
// Before a task is complete, it has package evidence compare each claim with what shows it, and has the documents of
// package report written. A task without evidence, or without its report, is not complete.
package delivery
